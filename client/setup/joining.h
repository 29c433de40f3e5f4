/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connects a group to its servers: addresses, connections, JOIN, READY. Callers hold the lock of
 * the client.
 */
#ifndef OC_CLIENT_SETUP_JOINING_H
#define OC_CLIENT_SETUP_JOINING_H

#include <stdbool.h>

#include "client/state/types.h"

/*
 * Makes progress in the steps OC_SETUP_RESOLVE to OC_SETUP_JOIN; does not block. true: this rank
 * has to vote now. That happens after connect_timeout at the latest, of which only time between
 * calls in quick succession counts.
 */
bool oc_joining_progress(oc_group_t *group);

#endif
