/* SPDX-License-Identifier: BSD-3-Clause */
/* What coll_optcast_servers means. */
#include "client/servers/servers.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

oc_status_t oc_embedded_parse(const char *text, bool *on_hosts, unsigned *count, char *error,
                              size_t error_size)
{
    uint64_t number = 0;

    *on_hosts = false;
    *count = 0;
    if (0 != strncmp(text, "embedded", 8) || ('\0' != text[8] && ':' != text[8])) {
        return OC_DECLINED;
    }
    if (':' == text[8]
        && (OC_OK != oc_parse_size(text + 9, &number) || 0 == number
            || number > OC_MAX_GROUP_AGGREGATORS)) {
        snprintf(error, error_size, "\"%s\": embedded[:N] with 1 to %d aggregators is needed", text,
                 OC_MAX_GROUP_AGGREGATORS);
        return OC_ERR_INVALID;
    }
    *count = (unsigned) number;
    *on_hosts = '\0' == text[8];
    return OC_OK;
}

void oc_client_find_servers(oc_client_t *client)
{
    const char *text = client->config.settings->servers;

    text = NULL != text ? text : "";
    client->servers_status =
        oc_embedded_parse(text, &client->on_hosts, &client->num_embedded, client->servers_error,
                          sizeof(client->servers_error));
    if (OC_DECLINED == client->servers_status) {
        client->servers_status =
            oc_server_list_parse(text, &client->servers, client->servers_error,
                                 sizeof(client->servers_error));
    }
}
