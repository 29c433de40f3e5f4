/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What makes a group fail whose leaders multicast for their hosts, beside the network: devices,
 * processes that have ended, ranks that do something else. Whatever is found fails the group
 * (oc_relay_fail). Callers hold the lock of the client.
 */
#ifndef OC_CLIENT_GROUP_RELAY_WATCH_H
#define OC_CLIENT_GROUP_RELAY_WATCH_H

#include "client/state/types.h"

/* Whether devices could read and write until now. */
void oc_relay_look_at_stages(const oc_relay_t *relay);

/*
 * Whether those ranks of the host live that are waited for; it looks if nothing has moved for a
 * while.
 */
void oc_relay_look_for_death(oc_relay_t *relay);

/* false: another rank of the host does something else in a step. */
bool oc_relay_agrees(const oc_relay_t *relay, uint32_t member, uint64_t step);

#endif
