/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers that were told to stop, and say so: the job moves off as soon as it can. Under the lock of the client. */
#ifndef OC_CLIENT_RECOVERY_DRAINING_H
#define OC_CLIENT_RECOVERY_DRAINING_H

#include "client/state/types.h"

/* If all groups of this process can go on without one, it counts as lost. Not called by UCX. */
void oc_draining_look(oc_client_t *client);

#endif
