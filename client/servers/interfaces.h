/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the network devices that UCX uses in a rank, as a list for oc_worker_open. */
#ifndef OC_CLIENT_SERVERS_INTERFACES_H
#define OC_CLIENT_SERVERS_INTERFACES_H

#include <stddef.h>

#include "client/state/types.h"

/* Room for a list; a longer one counts as all devices. */
#define OC_DEVICES_SIZE 1024

/*
 * Returns the devices that lead to the servers and to other ranks of the job, as far as that is
 * known once the servers' names have been resolved. RDMA ports are always among them, because
 * nobody connects to those by TCP. NULL: any device may be needed.
 */
const char *oc_client_devices(const oc_client_t *client, char *list, size_t size);

/* Returns the devices for a job with all ranks on this host. NULL: any device may be needed. */
const char *oc_loopback_devices(char *list, size_t size);

#endif
