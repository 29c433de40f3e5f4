/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives up all service of a client after one failure, because all its groups depend on the one
 * worker. Callers hold the lock of the client; callbacks of UCX may call this, too.
 */
#ifndef OC_CLIENT_STATE_COLLAPSE_H
#define OC_CLIENT_STATE_COLLAPSE_H

#include "client/state/types.h"

/*
 * Notes the reason; client.c carries it out at the end of progress. Of several reasons the first
 * counts. A status that is no error, as one from the wire may be, becomes OC_ERR_REFUSED.
 */
void oc_client_collapse(oc_client_t *client, oc_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
