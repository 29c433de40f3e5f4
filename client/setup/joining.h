/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a group to its servers: addresses, connections, JOIN, READY. */
#ifndef OC_CLIENT_SETUP_JOINING_H
#define OC_CLIENT_SETUP_JOINING_H

#include <stdbool.h>

#include "client/state/types.h"

/*
 * One look at a group at the steps OC_SETUP_RESOLVE to OC_SETUP_JOIN. true: it is time for this
 * rank's vote. That takes no longer than connect_timeout, of which only looks count.
 */
bool oc_joining_progress(oc_group_t *group);

#endif
