/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which servers of the list are there. A job that has lost some makes new groups with the others: what some rank has lost,
 * none of them uses, as their records tell. Of servers after the first 64 of a list nobody keeps account. Callers hold the
 * lock of the client.
 */
#ifndef OC_CLIENT_SERVERS_PRESENCE_H
#define OC_CLIENT_SERVERS_PRESENCE_H

#include "client/state/types.h"

/* The server of a connection is lost, or has welcomed this process. */
void oc_presence_lost(oc_connection_t *connection);
void oc_presence_back(oc_connection_t *connection);

/* How many servers a group has, their numbers in the list, ascending, and how much they weigh. */
unsigned oc_presence_count(const oc_group_t *group);
unsigned oc_presence_number(const oc_group_t *group, unsigned i);
void oc_presence_weigh(const oc_group_t *group, uint64_t *weights, uint64_t *heaviest);

/* What the list weighs without those that this process has lost. */
uint64_t oc_presence_weights(const oc_client_t *client);

/*
 * The server of this connection cannot be had: the ranks of a group that is being set up begin again without it, if they can, and
 * otherwise leave the group to others. It is looked for like one that was lost.
 */
void oc_presence_do_without(oc_group_t *group, oc_connection_t *connection, const char *reason);

/* Those that were told to stop take no new groups. */
void oc_presence_note_drains(oc_client_t *client);

#endif
