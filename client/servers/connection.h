/* SPDX-License-Identifier: BSD-3-Clause */
/* The control connection to one server. Under the lock of the client. */
#ifndef OC_CLIENT_SERVERS_CONNECTION_H
#define OC_CLIENT_SERVERS_CONNECTION_H

#include "client/state/types.h"

/*
 * Silence only counts while somebody is there to hear: an application that computes for a minute
 * without calling us must not take its own absence for the server's. So much of it, at most, counts
 * between two looks.
 */
#define OC_MAX_QUIET_STEP (100 * OC_MILLISECOND)

oc_connection_t *oc_connection_find(oc_client_t *client, const char *name);
/* number: in the list of servers; UINT_MAX: it is embedded in another process. Takes the candidates (malloc'ed) over. */
oc_connection_t *oc_connection_open(oc_client_t *client, const char *name, unsigned number,
                                    oc_sockaddr_t *candidates, unsigned num_candidates);
/* Makes the client's control_fd, if the system has one; the client closes it. */
void oc_connections_watch(oc_client_t *client);
void oc_connection_progress(oc_connection_t *connection);
/* ns until a PING is due, or has been open for longer; UINT64_MAX: none will be. */
uint64_t oc_connections_due(const oc_client_t *client, uint64_t now);
/* Of all connections, also of those that were left for a new epoch; and closes these, whatever they have said. */
void oc_connections_progress(oc_client_t *client);
void oc_connections_forget(oc_client_t *client);
void oc_connection_send(oc_connection_t *connection, const oc_control_t *message);
/* Leaves the server in order, saying what is lost. The connection opens again when it is looked at, if somebody uses it. */
void oc_connection_pause(oc_connection_t *connection);
/* last_words may be NULL; they are only said where somebody would understand them. */
void oc_connection_close(oc_connection_t *connection, const oc_control_t *last_words);

#endif
