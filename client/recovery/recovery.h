/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process does when its job has lost a server, or one is back: its transfers end, all of them, with the worker that they are of; it
 * tells the servers that there are, comes back to them with a new worker, and joins its groups there anew. Then the ranks
 * of each group settle what has become of its collectives, and go on (settling.h). doc/protocol.md has the protocol.
 * Callers hold the lock of the client, and are not called by UCX.
 */
#ifndef OC_CLIENT_RECOVERY_RECOVERY_H
#define OC_CLIENT_RECOVERY_RECOVERY_H

#include "client/state/types.h"

/* Whether all live groups can go on after the loss that was noted (state/loss.h). */
bool oc_recovery_can_begin(const oc_client_t *client);

/* Whether they could after the loss of this server, too. */
bool oc_recovery_can_spare(const oc_connection_t *connection);

/* Then it is carried out. No group is being set up, but those for which this rank has voted. */
void oc_recovery_begin(oc_client_t *client);

/*
 * A group is live, whose servers were joined before the last loss: it goes into the epoch of the others. false: it cannot,
 * and all service is given up.
 */
bool oc_recovery_enter(oc_group_t *group);

/* Moves groups on that are not settled. */
void oc_recovery_progress(oc_client_t *client);

#endif
