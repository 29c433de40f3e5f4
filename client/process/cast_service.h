/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress of multicast in a client. Callers hold the lock of the client. */
#ifndef OC_CLIENT_PROCESS_CAST_SERVICE_H
#define OC_CLIENT_PROCESS_CAST_SERVICE_H

#include <poll.h>

#include "client/state/types.h"

/*
 * Makes progress. Groups whose collectives have failed are failed, too, and those that multicast does not
 * serve any more are declined.
 */
void oc_client_cast_progress(oc_client_t *client);
/* As oc_multicast_sleep. */
int oc_client_cast_sleep(oc_client_t *client, struct pollfd *fds, uint64_t *timeout);

#endif
