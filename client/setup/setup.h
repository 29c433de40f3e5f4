/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The set-up of a group, step by step (setup_state.h). A rank that cannot take part still goes
 * through the exchanges, so that all ranks come to the same outcome. Under the lock of the client.
 */
#ifndef OC_CLIENT_SETUP_SETUP_H
#define OC_CLIENT_SETUP_SETUP_H

#include "client/state/types.h"

/* Begins the set-up. If it returns an error, the group has failed. */
oc_status_t oc_setup_begin(oc_group_t *group);

/*
 * Makes progress; does not block. Afterwards the group may be live, declined or failed, and its
 * set-up freed.
 */
void oc_setup_progress(oc_group_t *group);

#endif
