/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large vectors wait a moment for multicast: an operation of it begins with messages between its ranks, and these and
 * its first datagrams would wait behind what a vector puts into the queue of this host. Callers hold the lock of the
 * client.
 */
#ifndef OC_CLIENT_GROUP_QUIET_H
#define OC_CLIENT_GROUP_QUIET_H

#include "client/state/types.h"

/* An operation of multicast was started. */
void oc_quiet_begin(oc_client_t *client);
/* Multicast has made progress, or ended: begins what has waited, unless it still has to. */
void oc_quiet_look(oc_client_t *client);
/* Makes timeout, of a sleep, no longer than that takes. */
void oc_quiet_limit(const oc_client_t *client, uint64_t *timeout);

#endif
