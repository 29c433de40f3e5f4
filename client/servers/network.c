/* SPDX-License-Identifier: BSD-3-Clause */
/* The UCX worker of a client. */
#include "client/servers/network.h"

#include <stdio.h>

#include "client/servers/interfaces.h"

void oc_client_close_worker(oc_client_t *client)
{
    oc_worker_close(client->worker);
    client->worker = NULL;
    oc_admission_close(client->admission);
    client->admission = NULL;
}

oc_status_t oc_client_worker(oc_client_t *client, char *error, size_t error_size)
{
    char list[OC_DEVICES_SIZE];
    oc_status_t status;

    if (NULL != client->worker) {
        return OC_OK;
    }
    client->admission = oc_admission_open();
    if (NULL == client->admission) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    status = oc_worker_open(oc_client_devices(client, list, sizeof(list)), &client->worker, error,
                            error_size);
    if (OC_OK != status) {
        oc_client_close_worker(client);
        return status;
    }
    oc_worker_guard(client->worker, client->admission);
    client->config.counters->open_sockets += oc_admission_open_sockets(client->admission);
    client->origins.count =
        (uint8_t) oc_origin_addresses(NULL, client->origins.addresses, OC_MAX_ORIGINS);
    return OC_OK;
}
