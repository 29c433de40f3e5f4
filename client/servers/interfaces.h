/* SPDX-License-Identifier: BSD-3-Clause */
/* Which network devices UCX uses in a rank, as oc_worker_open wants them. */
#ifndef OC_CLIENT_SERVERS_INTERFACES_H
#define OC_CLIENT_SERVERS_INTERFACES_H

#include <stddef.h>

#include "client/state/types.h"

/* Room for a list; a longer one counts as all devices. */
#define OC_DEVICES_SIZE 1024

/*
 * Those through which servers, and other ranks of the job, are reached; as far as that is known
 * once the servers' names are looked up. RDMA ports are always among them: nobody connects to those
 * by TCP. NULL: any may be needed.
 */
const char *oc_client_devices(const oc_client_t *client, char *list, size_t size);

/* For a job that is on this host alone. NULL: any. */
const char *oc_loopback_devices(char *list, size_t size);

#endif
