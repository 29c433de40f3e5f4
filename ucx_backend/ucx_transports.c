/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX 1.13 has no call that names the transports of an endpoint, but prints them for people, a line
 * for each lane: "#   lane[0]:  1:tcp/eth0.0 md[0]  -> …".
 */
#include "ucx_backend/ucx_transports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What follows "lane[N]:" in a line, or NULL if the line is about something else. */
static const char *after_lane(const char *line)
{
    const char *colon;

    line += strspn(line, "# ");
    colon = strstr(line, "]:");
    return 0 == strncmp(line, "lane[", strlen("lane[")) && NULL != colon ? colon + strlen("]:")
                                                                         : NULL;
}

static bool begins_with(const char *name, const char *word)
{
    return 0 == strncmp(name, word, strlen(word));
}

/* InfiniBand and RoCE, whatever drives them: rc_mlx5, rc_verbs, … */
static bool ucx_transports_is_rdma(const char *transport)
{
    return begins_with(transport, "rc_") || begins_with(transport, "dc_")
           || begins_with(transport, "ud_");
}

oc_ucx_transports_t oc_ucx_transports_in(char *text)
{
    unsigned lanes = 0, tcp = 0, rdma = 0, resource;
    char *rest, *line, transport[32];

    for (line = strtok_r(text, "\n", &rest); NULL != line; line = strtok_r(NULL, "\n", &rest)) {
        const char *lane = after_lane(line);

        lanes += NULL != lane;
        if (NULL != lane && 2 == sscanf(lane, " %u:%31[^/]", &resource, transport)) {
            tcp += 0 == strcmp(transport, "tcp");
            rdma += ucx_transports_is_rdma(transport);
        }
    }
    return (oc_ucx_transports_t) {.tcp = lanes > 0 && lanes == tcp, .rdma = rdma > 0};
}

oc_ucx_transports_t oc_ucx_transports_of(ucp_ep_h ep)
{
    oc_ucx_transports_t transports = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    if (NULL != stream) {
        ucp_ep_print_info(ep, stream);
        if (0 == fclose(stream)) {
            transports = oc_ucx_transports_in(text);
        }
    }
    free(text);
    return transports;
}
