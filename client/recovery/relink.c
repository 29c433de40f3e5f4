/* SPDX-License-Identifier: BSD-3-Clause */
/* Links to servers that are back. */
#include "client/recovery/relink.h"

#include <stdlib.h>
#include <string.h>

#include "client/servers/targets.h"

bool oc_relink_has(const oc_group_t *group, unsigned number)
{
    unsigned count = group->servers->num_links - group->servers->num_peers;

    for (unsigned i = 0; i < count; i++) {
        if (number == group->servers->links[i].server) {
            return true;
        }
    }
    return false;
}

/* Behind those with smaller numbers. false: out of memory. */
static bool insert_link(oc_group_t *group, const oc_link_t *link)
{
    oc_group_servers_t *servers = group->servers;
    unsigned at = 0, count = servers->num_links - servers->num_peers;
    oc_link_t *links = realloc(servers->links, (servers->num_links + 1) * sizeof(*links));

    if (NULL == links) {
        return false;
    }
    servers->links = links;
    while (at < count && links[at].server < link->server) {
        at++;
    }
    memmove(&links[at + 1], &links[at], (servers->num_links - at) * sizeof(*links));
    links[at] = *link;
    servers->num_links++;
    link->connection->users++;
    return true;
}

/* Of two of one number nobody knows which is the later one: all ranks take the same, and find out. */
static const oc_returned_t *find_returned(const oc_group_t *group)
{
    const oc_client_t *client = group->client;

    for (unsigned i = client->lost.num_returned; i > 0; i--) {
        const oc_returned_t *returned = &client->lost.returned[i - 1];

        if (returned->number < client->servers.count && !oc_lost_has(&client->lost, returned->incarnation)
            && !oc_relink_has(group, returned->number)) {
            return returned;
        }
    }
    return NULL;
}

oc_status_t oc_relink(oc_group_t *group, uint64_t *lost, char *reason, size_t size)
{
    const oc_returned_t *returned;

    while (NULL != (returned = find_returned(group))) {
        oc_link_t link = {.server = returned->number, .incarnation = returned->incarnation, .fresh = true};
        oc_status_t status = oc_targets_find(group->client, returned->number, &link.connection, reason, size);

        *lost = returned->incarnation;
        if (OC_OK != status) {
            return status;
        }
        if (!insert_link(group, &link)) {
            return OC_ERR_NO_MEMORY;
        }
    }
    return OC_OK;
}
