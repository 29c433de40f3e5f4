/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The set-up of a group, step by step (setup_state.h). A rank that cannot take part still goes
 * through the exchanges, so that all ranks come to the same outcome. Under the lock of the client.
 */
#ifndef OC_CLIENT_SETUP_SETUP_H
#define OC_CLIENT_SETUP_SETUP_H

#include "client/state/types.h"

/* On an error the group has failed. */
oc_status_t oc_setup_begin(oc_group_t *group);

/* One look. The group may be live, declined or failed afterwards, and its set-up gone. */
void oc_setup_progress(oc_group_t *group);

#endif
