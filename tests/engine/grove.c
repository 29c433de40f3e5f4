/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the start and the end of trees of servers. */
#include "tests/engine/grove.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

void grove_start_with(grove_t *grove, unsigned num_leaves, const char *aggregators,
                      const char *memory, const char *parent_memory)
{
    const char *drain_timeout = NULL != grove->drain_timeout ? grove->drain_timeout : "30";
    const char *options[] = {"--aggregators", aggregators, "--memory-limit", memory,
                             "--drain-timeout", drain_timeout, "--parent", grove->parent.address,
                             NULL};
    const char *parent_options[] = {"--aggregators", aggregators, "--memory-limit", parent_memory,
                                    "--drain-timeout", drain_timeout, NULL};
    size_t length = 0;

    server_start(&grove->parent, parent_options);
    grove->list[0] = '\0';
    grove->num_leaves = num_leaves;
    for (unsigned i = 0; i < num_leaves; i++) {
        server_start(&grove->leaves[i], options);
        length += (size_t) snprintf(grove->list + length, sizeof(grove->list) - length, "%s%s",
                                    i > 0 ? "," : "", grove->leaves[i].address);
    }
}

void grove_start(grove_t *grove, unsigned num_leaves, const char *aggregators)
{
    grove_start_with(grove, num_leaves, aggregators, "64M", "64M");
}

void grove_stop(grove_t *grove)
{
    for (unsigned i = 0; i < grove->num_leaves; i++) {
        assert_int_equal(server_stop(&grove->leaves[i]), 0);
    }
    assert_int_equal(server_stop(&grove->parent), 0);
}

oc_job_settings_t grove_settings(const grove_t *grove)
{
    oc_job_settings_t settings = test_settings(grove->list);

    settings.small_size = 1024;
    settings.chunk_size = 8192;
    return settings;
}

bool is_connected(const test_server_t *server)
{
    for (int fd = 0; fd < 1024; fd++) {
        struct sockaddr_in address;
        socklen_t length = sizeof(address);

        if (0 == getpeername(fd, (struct sockaddr *) &address, &length)
            && AF_INET == address.sin_family && ntohs(address.sin_port) == server->port) {
            return true;
        }
    }
    return false;
}
