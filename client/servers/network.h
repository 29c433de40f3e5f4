/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UCX worker of a client, which all its groups use, and who may connect to it. Under the lock
 * of the client.
 */
#ifndef OC_CLIENT_SERVERS_NETWORK_H
#define OC_CLIENT_SERVERS_NETWORK_H

#include "client/state/types.h"

/*
 * Makes the worker if there is none. Not before the servers' names were looked up: it uses the
 * interfaces that lead to them. On an error, one sentence.
 */
oc_status_t oc_client_worker(oc_client_t *client, char *error, size_t error_size);
/* All transfers end with OC_ERR_CANCELED, and are called back. */
void oc_client_close_worker(oc_client_t *client);

#endif
