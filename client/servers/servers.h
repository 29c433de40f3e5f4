/* SPDX-License-Identifier: BSD-3-Clause */
/* What coll_optcast_servers means. Pure functions of settings. */
#ifndef OC_CLIENT_SERVERS_SERVERS_H
#define OC_CLIENT_SERVERS_SERVERS_H

#include "client/state/types.h"

/*
 * "embedded", which means on_hosts, or "embedded:N", which means count; OC_DECLINED: neither.
 * OC_ERR_INVALID: error says what is wrong.
 */
oc_status_t oc_embedded_parse(const char *text, bool *on_hosts, unsigned *count, char *error,
                              size_t error_size);

/*
 * Fills in what a new client knows about its servers. What is wrong is reported at set-up, where
 * all ranks can agree what to do about it.
 */
void oc_client_find_servers(oc_client_t *client);

#endif
