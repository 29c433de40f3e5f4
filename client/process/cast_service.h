/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress of multicast in a client. Under its lock. */
#ifndef OC_CLIENT_PROCESS_CAST_SERVICE_H
#define OC_CLIENT_PROCESS_CAST_SERVICE_H

#include <poll.h>

#include "client/state/types.h"

/* Groups whose collectives have failed fail, too. */
void oc_client_cast_progress(oc_client_t *client);
/* As oc_multicast_sleep. */
int oc_client_cast_sleep(oc_client_t *client, struct pollfd *fds, uint64_t *timeout);

#endif
