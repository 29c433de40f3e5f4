/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What other files of this folder need of a client, beside its door. Callers hold the lock of the
 * client.
 */
#ifndef OC_CLIENT_PROCESS_CLIENT_INSIDE_H
#define OC_CLIENT_PROCESS_CLIENT_INSIDE_H

#include "client/state/types.h"

/* Carries out a collapse (collapse.h) now. Must not be called from a callback of UCX. */
void oc_client_settle(oc_client_t *client);

#endif
