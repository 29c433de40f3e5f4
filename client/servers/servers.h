/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the setting coll_optcast_servers. */
#ifndef OC_CLIENT_SERVERS_SERVERS_H
#define OC_CLIENT_SERVERS_SERVERS_H

#include "client/state/types.h"

/*
 * Sets *on_hosts for "embedded", and *count for "embedded:N". Returns OC_DECLINED if text is
 * neither, and OC_ERR_INVALID, with a sentence in error, if it is wrong.
 */
oc_status_t oc_embedded_parse(const char *text, bool *on_hosts, unsigned *count, char *error,
                              size_t error_size);

/*
 * Sets the servers of a new client. Mistakes are reported at the set-up of a group, where all
 * ranks can agree on the outcome.
 */
void oc_client_find_servers(oc_client_t *client);

#endif
