/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * That all service of a client is given up, because of one failure: all its groups depend on the
 * one worker. Under the lock of the client; from anywhere, callbacks of UCX included.
 */
#ifndef OC_CLIENT_STATE_COLLAPSE_H
#define OC_CLIENT_STATE_COLLAPSE_H

#include "client/state/types.h"

/*
 * Notes it; client.c carries it out at the end of progress. Of several reasons the first one
 * counts. status: an error; what is none, as from the wire, becomes OC_ERR_REFUSED.
 */
void oc_client_collapse(oc_client_t *client, oc_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
