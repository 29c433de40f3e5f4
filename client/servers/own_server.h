/* SPDX-License-Identifier: BSD-3-Clause */
/* The server that is embedded in this process. Under the lock of the client. */
#ifndef OC_CLIENT_SERVERS_OWN_SERVER_H
#define OC_CLIENT_SERVERS_OWN_SERVER_H

#include "client/state/types.h"

/* Starts it if there is none, or none that is any good. An error sets a sentence in error. */
oc_status_t oc_own_server_start(oc_client_t *client, char *error, size_t error_size);

/*
 * Where it can be reached if it is started later: its port is open from now on, and costs nothing else. An error sets a
 * sentence in error.
 */
oc_status_t oc_own_server_offer(oc_client_t *client, uint16_t *port, char *error, size_t error_size);

/* Whether the client's control_fd is to tell that somebody calls at that port; there may be neither. */
void oc_own_server_watch(const oc_client_t *client, bool watch);

/* Whether somebody does, or uses the server that runs already. */
bool oc_own_server_is_called(const oc_client_t *client);

#endif
