/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What any thread may do to move a client on: neither the bootstrap nor finished callbacks are called.
 * Callers hold the lock of the client.
 */
#ifndef OC_CLIENT_PROCESS_MOVING_H
#define OC_CLIENT_PROCESS_MOVING_H

#include <poll.h>

#include "base/clock.h"
#include "client/state/types.h"

/* Descriptors that there are to sleep on. */
#define OC_CLIENT_MAX_FDS (2 + OC_MULTICAST_MAX_FDS)

/* How often connections and set-ups are looked at while something is pending. */
#define OC_CLIENT_LOOK OC_MILLISECOND

/* Carries out a collapse (collapse.h) now. Must not be called from a callback of UCX. */
void oc_client_settle(oc_client_t *client);

/* NULL: nothing is said to servers. */
void oc_client_close_connections(oc_client_t *client, const oc_control_t *last_words);
/* Moves on all that can be. */
void oc_client_move(oc_client_t *client);
/*
 * Prepares for a sleep on what the network wakes sleepers with: OC_CLIENT_MAX_FDS at most. Returns how
 * many there are; -1: there is something to do at once. timeout: ns, may become less.
 */
int oc_client_arm(oc_client_t *client, struct pollfd *fds, uint64_t *timeout);

#endif
