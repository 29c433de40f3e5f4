/* SPDX-License-Identifier: BSD-3-Clause */
/* What processes may send without having been asked. On the control thread. */
#ifndef OC_SERVER_JOB_EAGER_H
#define OC_SERVER_JOB_EAGER_H

#include "server/job/job_types.h"

/* To each aggregator, in bytes, now that it joins a group of so many ranks. */
uint64_t oc_eager_offer(oc_session_t *session, uint32_t num_ranks);
/* The session ends. */
void oc_eager_forget(oc_session_t *session);

#endif
