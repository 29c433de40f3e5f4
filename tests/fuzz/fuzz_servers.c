/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: any text as HOST:PORT and as a list of servers; what was read is written back. */
/* Test: default 5; all 60 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const oc_host_port_t *server)
{
    char text[OC_HOST_SIZE + 16], error[128];
    oc_host_port_t again;

    if ('\0' == server->host[0] || NULL == memchr(server->host, '\0', OC_HOST_SIZE)) {
        abort();
    }
    snprintf(text, sizeof(text), "[%s]:%u", server->host, server->port);
    if (OC_OK != oc_host_port_parse(text, &again, error, sizeof(error))
        || 0 != strcmp(again.host, server->host) || again.port != server->port) {
        abort();
    }
}

static void check_list(const char *text)
{
    oc_server_list_t list;
    char error[128] = "";

    if (OC_OK == oc_server_list_parse(text, &list, error, sizeof(error))) {
        if (0 == list.count || list.count > OC_MAX_SERVERS) {
            abort();
        }
        for (unsigned i = 0; i < list.count; i++) {
            check_again(&list.servers[i].name);
        }
    } else if ('\0' == error[0] || 0 != list.count || NULL != list.servers) {
        abort();
    }
    oc_server_list_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), error[128] = "";
    oc_host_port_t server;

    memcpy(text, data, size);
    text[size] = '\0';
    if (OC_OK == oc_host_port_parse(text, &server, error, sizeof(error))) {
        check_again(&server);
    } else if ('\0' == error[0]) {
        abort();
    }
    /* files are somebody else's */
    if (0 != strncmp(text, "file:", 5)) {
        check_list(text);
    }
    free(text);
    return 0;
}
