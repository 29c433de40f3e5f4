/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flood tests of a process's groups, and what it knows from them. Under the lock of the
 * multicast's user; nothing here blocks.
 */
#ifndef OC_MULTICAST_SERVICE_FLOOD_SERVICE_H
#define OC_MULTICAST_SERVICE_FLOOD_SERVICE_H

#include "multicast/service/flood_plan.h"
#include "multicast/service/service.h"

/* Begins this rank's part, which is this, before it is heard. false: no memory. */
bool oc_flood_begin(oc_cast_member_t *member, oc_flood_role_t role);
/* Nothing happens if it has none. */
void oc_flood_drop(oc_cast_member_t *member);

void oc_floods_progress(oc_multicast_t *multicast);
/* Fills in at most OC_MULTICAST_FLOOD_FDS descriptors; returns how many. */
int oc_floods_sleep(oc_multicast_t *multicast, struct pollfd *fds, uint64_t now,
                    uint64_t *timeout);

#endif
