/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather and Bcast in groups of which several ranks are on a host and share memory. The lowest
 * rank of each host, its leader, is in multicast, with one block for all ranks of its host; the
 * others, if there are any, give it theirs and get all blocks from it, through the ring that they
 * share (node/ring.h). doc/multicast.md has the steps.
 *
 * The steps of a second one begin in the middle of the first one's, as soon as all ranks of the host have begun it.
 * Callers hold the lock of the client.
 */
#ifndef OC_CLIENT_GROUP_RELAY_H
#define OC_CLIENT_GROUP_RELAY_H

#include "client/state/types.h"

/* Most that a group has under way. */
#define OC_RELAYS 2u

/*
 * Begins an operation of the group. args: the caller's, by rank, with stages for memory of devices;
 * they stay his, and finished, which is for collective, is not called: it is finished by
 * oc_client_relays_progress. An error: nothing was begun.
 */
oc_status_t oc_relay_begin(oc_collective_t *collective, const oc_cast_args_t *args);

/* Whether anything was done. */
bool oc_client_relays_progress(oc_client_t *client);
/* Asks to be rung by the ranks of the host for what is waited for. */
void oc_client_relays_arm(oc_client_t *client);

#endif
