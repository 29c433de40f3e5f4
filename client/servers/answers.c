/* SPDX-License-Identifier: BSD-3-Clause */
/* What servers say about groups. */
#include "client/servers/answers.h"

#include <stdio.h>
#include <utlist.h>

#include "client/servers/presence.h"
#include "client/state/collapse.h"
#include "client/state/loss.h"
#include "client/state/setup_state.h"

/* Which of this rank's teams has this number; teams.own: none. */
static unsigned find_team(const oc_group_t *group, uint64_t id)
{
    unsigned t = 0;

    while (t < group->servers->teams.own && oc_team_id(group, t) != id) {
        t++;
    }
    return t;
}

static bool is_team(const oc_group_t *group, uint64_t id)
{
    return NULL != group->servers && find_team(group, id) < group->servers->teams.own;
}

static void take_joined(oc_group_t *group, const oc_connection_t *connection,
                        const oc_joined_t *joined)
{
    unsigned t = find_team(group, joined->group);

    for (unsigned i = 0; t < group->servers->teams.own && i < group->servers->num_links; i++) {
        oc_link_t *link = &group->servers->links[i];

        if (link->connection == connection && NULL != link->teams) {
            link->teams[t].handle = joined->handle;
            link->teams[t].joined = true;
        }
    }
}

void oc_answers_joined(oc_connection_t *connection, const oc_joined_t *joined)
{
    oc_client_t *client = connection->client;
    oc_group_t *group;

    if (joined->eager_window < connection->eager_window) {
        connection->eager_window = joined->eager_window;
    }
    DL_FOREACH2 (client->setups, group, setup_next) {
        if (OC_SETUP_JOIN == group->setup->step && NULL != group->servers) {
            take_joined(group, connection, joined);
        }
    }
    if (0 == client->renewals) {
        return;
    }
    DL_FOREACH (client->groups, group) {
        if (NULL != group->servers && NULL != group->servers->renewal) {
            take_joined(group, connection, joined);
        }
    }
}

static bool has_asked(const oc_group_t *group, const oc_link_t *link)
{
    for (unsigned t = 0; NULL != link->teams && t < group->servers->teams.own; t++) {
        if (link->teams[t].asked) {
            return true;
        }
    }
    return false;
}

static bool awaits(const oc_group_t *group, const oc_connection_t *connection)
{
    for (unsigned i = 0; i < group->servers->num_links; i++) {
        if (group->servers->links[i].connection == connection
            && has_asked(group, &group->servers->links[i])) {
            return true;
        }
    }
    return false;
}

bool oc_answers_awaited(const oc_connection_t *connection)
{
    const oc_group_t *group;

    DL_FOREACH (connection->client->groups, group) {
        if (NULL != group->servers && awaits(group, connection)) {
            return true;
        }
    }
    return false;
}

/*
 * On the way into an epoch it cannot take the group, as it has come back and has no room, or is about to stop: that goes
 * on without it.
 */
static bool refuses_return(const oc_group_t *group, const oc_connection_t *connection)
{
    for (unsigned i = 0; NULL != group->servers->renewal && i < group->servers->num_links; i++) {
        const oc_link_t *link = &group->servers->links[i];

        if (connection == link->connection && (link->fresh || connection->drains)) {
            return true;
        }
    }
    return false;
}

/* A group that was declined or destroyed may have left before the server's words came. */
static bool counts_on_service(const oc_group_t *group)
{
    return OC_GROUP_LIVE == group->state
           || (NULL != group->setup && OC_SETUP_VOTE == group->setup->step
               && group->setup->vote[OC_WORD_VOTE] > OC_VOTE_LEAVE);
}

static void refused_setup(oc_group_t *group, oc_connection_t *connection, const char *text)
{
    char reason[OC_MAX_TEXT + OC_NAME_SIZE];

    snprintf(reason, sizeof(reason), "server %.200s refused: %.*s", connection->name, OC_MAX_TEXT, text);
    if (connection->drains) {
        oc_presence_do_without(group, connection, reason);
    } else {
        oc_setup_give_up(group, "%s", reason);
    }
}

void oc_answers_refused(oc_connection_t *connection, const oc_notice_t *notice, const char *text)
{
    oc_client_t *client = connection->client;
    char reason[OC_MAX_TEXT + OC_NAME_SIZE];
    oc_group_t *group;

    DL_FOREACH2 (client->setups, group, setup_next) {
        if (is_team(group, notice->group) && OC_SETUP_JOIN == group->setup->step) {
            refused_setup(group, connection, text);
        }
    }
    DL_FOREACH (client->groups, group) {
        if (!is_team(group, notice->group) || !counts_on_service(group)) {
            continue;
        }
        if (OC_PARTING_NOT != group->parting && NULL != group->servers->renewal) {
            /* the others have left it, or given up */
            group->parting = OC_PARTING_ALONE;
            continue;
        }
        snprintf(reason, sizeof(reason), "server %.200s ended a group: %.*s", connection->name, OC_MAX_TEXT, text);
        if (NULL != group->setup) {
            /* what all have voted for may be to begin again */
            group->setup->broken = (oc_status_t) notice->status;
            oc_setup_give_up(group, "%s", reason);
        } else if (refuses_return(group, connection)) {
            oc_loss_of(client, connection->incarnation, reason);
        } else {
            oc_client_collapse(client, (oc_status_t) notice->status, "%s", reason);
        }
    }
}
