/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UCX worker of a client, which all its groups use, and who may connect to it. Under the lock
 * of the client.
 */
#ifndef OC_CLIENT_SERVERS_NETWORK_H
#define OC_CLIENT_SERVERS_NETWORK_H

#include "client/state/types.h"

/*
 * Makes the worker if there is none. The servers' names must have been resolved, since the worker
 * uses the interfaces that lead to them. An error sets one sentence in error.
 */
oc_status_t oc_client_worker(oc_client_t *client, char *error, size_t error_size);
/*
 * Closes the worker. All transfers complete with OC_ERR_CANCELED, and their callbacks are called.
 */
void oc_client_close_worker(oc_client_t *client);

#endif
