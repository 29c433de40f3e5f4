/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides how much clients may send eagerly, without announcing it. On the control thread. */
#ifndef OC_SERVER_JOB_EAGER_H
#define OC_SERVER_JOB_EAGER_H

#include "server/job/job_types.h"

/*
 * Returns the bytes that the client may send eagerly to each aggregator, now that it joins a group
 * of num_ranks.
 */
uint64_t oc_eager_offer(oc_session_t *session, uint32_t num_ranks);
/* To be called when the session ends. */
void oc_eager_forget(oc_session_t *session);

#endif
