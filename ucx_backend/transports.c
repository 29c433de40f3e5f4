/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX 1.13 has no call that names the transports of an endpoint, but prints them for people, a line
 * for each lane: "#   lane[0]:  1:tcp/eth0.0 md[0]  -> …".
 */
#include "ucx_backend/transports.h"

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

static bool is_tcp(const char *lane)
{
    unsigned resource;
    char transport[32];

    return 2 == sscanf(lane, " %u:%31[^/]", &resource, transport) && 0 == strcmp(transport, "tcp");
}

bool oc_transports_tcp_in(char *text)
{
    unsigned lanes = 0, tcp = 0;
    char *rest, *line;

    for (line = strtok_r(text, "\n", &rest); NULL != line; line = strtok_r(NULL, "\n", &rest)) {
        const char *lane = after_lane(line);

        lanes += NULL != lane;
        tcp += NULL != lane && is_tcp(lane);
    }
    return lanes > 0 && lanes == tcp;
}

bool oc_transports_are_tcp(ucp_ep_h ep)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    bool tcp = false;

    if (NULL != stream) {
        ucp_ep_print_info(ep, stream);
        tcp = 0 == fclose(stream) && oc_transports_tcp_in(text);
    }
    free(text);
    return tcp;
}
