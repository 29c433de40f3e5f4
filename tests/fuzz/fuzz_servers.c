/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: any text as HOST:PORT, as a list of servers and as a file of them; what was read is read again. */
/* Test: default 5; all 60 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "net/address.h"
#include "tests/fuzz/input.h"

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
            check(list.servers[i].weight > 0 && list.servers[i].weight <= 1000 * OC_WEIGHT_ONE);
        }
    } else if ('\0' == error[0] || 0 != list.count || NULL != list.servers) {
        abort();
    }
    oc_server_list_free(&list);
}

static void check_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char text[40];

    if (fd < 0) {
        fd = memfd_create("servers", MFD_CLOEXEC);
    }
    check(fd >= 0 && 0 == ftruncate(fd, 0) && (ssize_t) size == pwrite(fd, data, size, 0));
    snprintf(text, sizeof(text), "file:/proc/self/fd/%d", fd);
    check_list(text);
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
    /* other files are somebody else's */
    if (0 != strncmp(text, "file:", 5)) {
        check_list(text);
    }
    check_file(data, size);
    free(text);
    return 0;
}
