/* SPDX-License-Identifier: BSD-3-Clause */
/* What those above a client need of it, beside its door. Under the lock of the client. */
#ifndef OC_CLIENT_PROCESS_CLIENT_INSIDE_H
#define OC_CLIENT_PROCESS_CLIENT_INSIDE_H

#include "client/state/types.h"

/* Carries a collapse (collapse.h) out now. Not from within a callback of UCX. */
void oc_client_settle(oc_client_t *client);

#endif
