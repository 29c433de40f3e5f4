/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last resort of a group: if all its servers are lost, the lowest ranks of its hosts aggregate, as with
 * coll_optcast_servers=embedded, until a server is back. Until then they cost a listening socket each. Under the lock of the
 * client.
 */
#ifndef OC_CLIENT_SERVERS_RESORT_H
#define OC_CLIENT_SERVERS_RESORT_H

#include "client/state/types.h"

/* Whether this rank is to offer itself for that. */
bool oc_resort_offers(const oc_group_t *group);

/* All records are there, and it is known which servers and peers the group has. false: out of memory. */
bool oc_resort_note(oc_group_t *group);

/* Whether there is one, in use or not. */
bool oc_resort_is_there(const oc_group_t *group);

/*
 * In a new epoch, when all links to servers have been made: adds links to the reserve if there are none, and drops them if there
 * are. The same on all ranks. An error sets a sentence in error.
 */
oc_status_t oc_resort_settle(oc_group_t *group, char *error, size_t error_size);

/*
 * Connects to the reserve of a group, beside its servers: whoever is in it hears what this process has lost, and tells it what others
 * have. Nothing happens where they are connected.
 */
void oc_resort_call(oc_group_t *group);

/*
 * Starts the server of this process if somebody calls at its port, and connects to it, if this process has not: who calls knows of
 * losses that this process may not hear of otherwise, as no server is left to those two.
 */
void oc_resort_look(oc_client_t *client);

/* Frees what a group, or the client, knows of it. */
void oc_resort_forget(oc_group_t *group);
void oc_resort_free(oc_client_t *client);

#endif
