/* SPDX-License-Identifier: BSD-3-Clause */
/* JOIN, and who has answered it. */
#include "client/servers/membership.h"

#include <stdlib.h>

#include "base/text.h"
#include "client/servers/connection.h"

uint32_t oc_membership_aggregators(const oc_group_t *group)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < group->servers->num_links; i++) {
        count += group->servers->links[i].connection->num_aggregators;
    }
    return count;
}

uint32_t oc_membership_most(const oc_group_t *group)
{
    uint32_t most = OC_MAX_LANES / group->servers->teams.count;

    return most < OC_MAX_GROUP_AGGREGATORS ? most : OC_MAX_GROUP_AGGREGATORS;
}

static void send_join(oc_group_t *group, oc_link_t *link, unsigned own, uint32_t first)
{
    const oc_job_settings_t *settings = group->client->config.settings;
    oc_control_t message = {.type = OC_CONTROL_JOIN};

    message.join = (oc_join_t) {.group = oc_team_id(group, own),
                                .num_ranks = group->servers->teams.num_ranks,
                                .rank = group->servers->teams.rank,
                                .reply_handle = group->servers->reply_handle,
                                .first_aggregator = first,
                                .chunk_bytes = (uint32_t) oc_settings_largest_chunk(settings),
                                .window = group->servers->teams.window,
                                .small_bytes = (uint32_t) settings->small_size,
                                .reserves = NULL != group->node
                                            || 0 != group->servers->branch.parent
                                            || oc_membership_aggregators(group) > 1,
                                .epoch = NULL != group->servers->renewal
                                             ? oc_lost_epoch(&group->client->lost)
                                             : 0,
                                .leaves = group->servers->branch.leaves,
                                .leaf = group->servers->branch.leaf};
    link->incarnation = link->connection->incarnation;
    link->teams[own] = (oc_membership_t) {.asked = true};
    oc_connection_send(link->connection, &message);
}

/* There from an earlier epoch, or made here. false: out of memory. */
static bool has_teams(const oc_group_t *group, oc_link_t *link)
{
    if (NULL == link->teams) {
        link->teams = calloc(group->servers->teams.own, sizeof(*link->teams));
    }
    return NULL != link->teams;
}

oc_readiness_t *oc_membership_join(oc_group_t *group)
{
    uint32_t first = 0, count = oc_membership_aggregators(group);
    oc_readiness_t *readiness = oc_readiness_begin(group, count);

    group->servers->epoch = oc_lost_epoch(&group->client->lost);
    for (unsigned i = 0; NULL != readiness && i < group->servers->num_links; i++) {
        oc_link_t *link = &group->servers->links[i];

        if (!has_teams(group, link)) {
            oc_readiness_end(readiness);
            return NULL;
        }
        for (unsigned t = 0; t < group->servers->teams.own; t++) {
            send_join(group, link, t, oc_team_number(group, t) * count + first);
        }
        first += link->connection->num_aggregators;
    }
    return readiness;
}

bool oc_membership_joined(const oc_group_t *group, const oc_link_t *link)
{
    for (unsigned t = 0; t < group->servers->teams.own; t++) {
        if (NULL == link->teams || !link->teams[t].joined) {
            return false;
        }
    }
    return true;
}

uint64_t oc_membership_mark(const oc_group_t *group)
{
    uint64_t mark = OC_HASH_START;

    for (unsigned i = 0; i < group->servers->num_links; i++) {
        mark = oc_hash(mark, &group->servers->links[i].incarnation, sizeof(group->servers->links[i].incarnation));
    }
    return mark;
}

static bool all_ready(const oc_group_t *group, const oc_readiness_t *joining, unsigned first,
                      const oc_connection_t *connection)
{
    unsigned aggregators = oc_membership_aggregators(group);

    for (unsigned t = 0; t < group->servers->teams.own; t++) {
        for (unsigned i = first; i < first + connection->num_aggregators; i++) {
            if (!joining->lanes[t * aggregators + i].arrived) {
                return false;
            }
        }
    }
    return true;
}

static bool is_slow(const oc_group_t *group, const oc_readiness_t *joining, const oc_link_t *link, unsigned first)
{
    return OC_UPLINK_READY != link->connection->uplink.state
           || (NULL != joining && (!oc_membership_joined(group, link)
                                   || !all_ready(group, joining, first, link->connection)));
}

/* The first one but this. */
static const oc_link_t *find_slow_but(const oc_group_t *group, const oc_readiness_t *joining, const oc_link_t *but)
{
    unsigned first = 0;

    for (unsigned i = 0; i < group->servers->num_links; i++) {
        const oc_link_t *link = &group->servers->links[i];

        if (but != link && is_slow(group, joining, link, first)) {
            return link;
        }
        first += link->connection->num_aggregators;
    }
    return NULL;
}

const oc_link_t *oc_membership_slow(const oc_group_t *group, const oc_readiness_t *joining)
{
    return find_slow_but(group, joining, NULL);
}

bool oc_membership_others_ready(const oc_group_t *group, const oc_readiness_t *joining, const oc_link_t *but)
{
    return NULL != joining && NULL == find_slow_but(group, joining, but);
}
