/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of a client need of the client itself. Under the lock of the client. */
#ifndef OC_CLIENT_CLIENT_INSIDE_H
#define OC_CLIENT_CLIENT_INSIDE_H

#include "client/types.h"

void oc_client_collapse(oc_client_t *client, oc_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Carries a collapse out now. Not from within a callback of UCX. */
void oc_client_settle(oc_client_t *client);
/* Not before the servers' names were looked up: it uses the interfaces that lead to them. */
oc_status_t oc_client_worker(oc_client_t *client, char *error, size_t error_size);
/*
 * "embedded", which means on_hosts, or "embedded:N", which means count; OC_DECLINED: neither.
 * OC_ERR_INVALID: error says what is wrong.
 */
oc_status_t oc_embedded_parse(const char *text, bool *on_hosts, unsigned *count, char *error,
                              size_t error_size);

#endif
