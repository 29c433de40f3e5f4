/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One test at a time, of all servers that there are and were not tested. Each step has its time: a
 * server that does not answer is left out, and nobody waits for it but the test.
 */
#include "client/servers/exposure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/log.h"

/*
 * From when the last group has become live: others of the job may be tested for floods, which what
 * this one sends could blind.
 */
#define REST      (1 * OC_SECOND)
#define MOST_REST (10 * OC_SECOND)

/* For an answer, and until all is sent: servers watch for ten seconds. */
#define PATIENCE (1 * OC_SECOND)
#define LONGEST  (8 * OC_SECOND)

/* A server that could not tell is asked again after a while, which is as long as it rests itself and more. */
#define MOST_TRIES 3u
#define AGAIN      (10 * OC_SECOND)

#define NAMES_SIZE 448
#define MOST_NAMED 4u

typedef enum {
    RESTING,                   /* until it is due */
    GATHERING,                 /* servers that watch */
    SHOWING,
    ASKING,                    /* what they have seen */
} stage_t;

struct oc_exposure {
    stage_t stage;
    uint64_t due;              /* the end of the stage */
    uint64_t latest;           /* when it is due, whatever comes meanwhile */
    uint64_t end;              /* of what is sent, once it has begun */
    uint64_t token;
    const oc_cast_group_t *cast; /* by which, for comparison only … */
    uint32_t hosts;            /* … which goes to so many */
    unsigned flooded;          /* servers … */
    char names[NAMES_SIZE];    /* … of which these are the first */
};

/* A server that was asked, also if its connection ends and there is another one. */
struct oc_exposed_name {
    char name[OC_NAME_SIZE];
    unsigned tries;
    uint32_t known;            /* it is not flooded by what goes to so many hosts; or … */
    struct oc_exposed_name *next;
};

/* … it is flooded. */
#define FLOODED UINT32_MAX

/* NULL: it was not asked. */
static oc_exposed_name_t *find_asked(const oc_connection_t *connection)
{
    oc_exposed_name_t *asked;

    LL_FOREACH (connection->client->exposed, asked) {
        if (0 == strcmp(asked->name, connection->name)) {
            break;
        }
    }
    return asked;
}

/* Without memory it may be asked any number of times. */
static void note_asked(oc_connection_t *connection)
{
    oc_exposed_name_t *asked = find_asked(connection);

    connection->exposed = OC_EXPOSURE_ASKED;
    if (NULL == asked) {
        asked = calloc(1, sizeof(*asked));
        if (NULL == asked) {
            return;
        }
        memcpy(asked->name, connection->name, sizeof(asked->name));
        LL_PREPEND(connection->client->exposed, asked);
    }
    asked->tries++;
}

static bool is_done_with(const oc_connection_t *connection)
{
    const oc_exposed_name_t *asked = find_asked(connection);

    return NULL != asked && (asked->known >= connection->client->exposes || asked->tries >= MOST_TRIES);
}

/* Its test is over, and it may have another one. */
static void release_server(oc_connection_t *connection, uint32_t known)
{
    oc_exposed_name_t *asked = find_asked(connection);

    if (NULL != asked && known > asked->known) {
        asked->known = known;
    }
    connection->exposed = is_done_with(connection) ? OC_EXPOSURE_OVER : OC_EXPOSURE_NEW;
}

/* Not on this host, whose addresses this process may have joined. */
static bool is_on_other_host(const oc_connection_t *connection)
{
    oc_sockaddr_t own = {.length = sizeof(own.address)}, other = {.length = sizeof(other.address)};
    int fd = oc_uplink_fd(&connection->uplink);
    struct in6_addr here, there;

    return 0 == getsockname(fd, (struct sockaddr *) &own.address, &own.length)
           && 0 == getpeername(fd, (struct sockaddr *) &other.address, &other.length)
           && oc_sockaddr_mapped(&own, &here) && oc_sockaddr_mapped(&other, &there)
           && !IN6_ARE_ADDR_EQUAL(&here, &there);
}

/* One that is on this host, or embedded in a rank, or done with, is left out for good. */
static bool awaits_test(oc_connection_t *connection)
{
    if (OC_EXPOSURE_NEW != connection->exposed || 0 == connection->users
        || OC_UPLINK_READY != connection->uplink.state) {
        return false;
    }
    if (connection->of_rank || is_done_with(connection) || !is_on_other_host(connection)) {
        connection->exposed = OC_EXPOSURE_OVER;
    }
    return OC_EXPOSURE_NEW == connection->exposed;
}

static bool any_awaits_test(const oc_client_t *client)
{
    oc_connection_t *connection;

    DL_FOREACH (client->connections, connection) {
        if (awaits_test(connection)) {
            return true;
        }
    }
    return false;
}

/*
 * If this is the one process of the job that tests, and the group's datagrams may reach servers: to how many hosts they
 * go. A switch passes them on to where these are, and what goes to more may reach more servers.
 */
static uint32_t hosts_of(const oc_group_t *group)
{
    if (OC_GROUP_LIVE != group->state || 0 != group->client->config.process) {
        return 0;
    }
    return oc_multicast_flood_hosts(group->client->multicast, group->cast);
}

/* Of the group that goes to most hosts; NULL: there is none any more. */
static const oc_cast_group_t *find_widest(const oc_client_t *client, uint32_t *hosts)
{
    const oc_cast_group_t *widest = NULL;
    const oc_group_t *group;

    *hosts = 0;
    DL_FOREACH (client->groups, group) {
        if (hosts_of(group) > *hosts) {
            *hosts = hosts_of(group);
            widest = group->cast;
        }
    }
    return widest;
}

/* Else hosts may have left the address, and what servers do not see is no proof. */
static bool has_group(const oc_client_t *client)
{
    const oc_group_t *group;

    DL_FOREACH (client->groups, group) {
        if (group->cast == client->exposure->cast) {
            return hosts_of(group) == client->exposure->hosts;
        }
    }
    return false;
}

bool oc_exposure_is_tested(const oc_client_t *client)
{
    return NULL != client->exposure && RESTING != client->exposure->stage;
}

/* Not earlier than so. */
static void exposure_plan(oc_client_t *client, uint64_t wait)
{
    uint64_t due = client->now + wait;

    if (!client->exposes || oc_exposure_is_tested(client) || !any_awaits_test(client)) {
        return;
    }
    if (NULL == client->exposure) {
        client->exposure = calloc(1, sizeof(*client->exposure));
        if (NULL == client->exposure) {
            return;
        }
        client->exposure->latest = due + MOST_REST;
    }
    due = due > client->exposure->due ? due : client->exposure->due;
    client->exposure->due = due < client->exposure->latest ? due : client->exposure->latest;
}

/* Those that have seen nothing of what goes to fewer hosts. */
static void renew_servers(oc_client_t *client)
{
    oc_connection_t *connection;

    DL_FOREACH (client->connections, connection) {
        if (OC_EXPOSURE_OVER == connection->exposed) {
            connection->exposed = OC_EXPOSURE_NEW;
        }
    }
}

/* There may be many thousand groups: none is looked for. */
void oc_exposure_consider(const oc_group_t *group)
{
    oc_client_t *client = group->client;
    uint32_t hosts = hosts_of(group);

    if (hosts > client->exposes) {
        client->exposes = hosts;
        renew_servers(client);
    }
    exposure_plan(client, REST);
}

static void exposure_end(oc_client_t *client)
{
    if (oc_exposure_is_tested(client)) {
        oc_multicast_show_end(client->multicast);
        atomic_fetch_sub(&client->pending, 1);
    }
    free(client->exposure);
    client->exposure = NULL;
}

void oc_exposure_drop(oc_client_t *client)
{
    oc_exposed_name_t *asked, *next;

    exposure_end(client);
    LL_FOREACH_SAFE (client->exposed, asked, next) {
        LL_DELETE(client->exposed, asked);
        free(asked);
    }
}

/* ---- with servers ---- */

static void ask_to_watch(oc_client_t *client, const oc_flood_call_t *call)
{
    oc_control_t message = {.type = OC_CONTROL_WATCH};
    oc_connection_t *connection;

    message.lookout = (oc_lookout_t) {.token = call->token, .probes = call->probes,
                                      .marks = call->marks, .port = call->port};
    memcpy(message.lookout.key, call->key, OC_JOB_KEY_SIZE);
    DL_FOREACH (client->connections, connection) {
        if (awaits_test(connection)) {
            note_asked(connection);
            oc_uplink_send(&connection->uplink, &message);
        }
    }
    explicit_bzero(&message, sizeof(message));
}

static void say_look(oc_connection_t *connection)
{
    oc_control_t message = {.type = OC_CONTROL_LOOK,
                            .look = connection->client->exposure->token};

    oc_uplink_send(&connection->uplink, &message);
}

/* Those that watch. */
static void ask_what_they_saw(oc_client_t *client)
{
    oc_connection_t *connection;

    DL_FOREACH (client->connections, connection) {
        if (OC_EXPOSURE_WATCHED == connection->exposed) {
            connection->exposed = OC_EXPOSURE_LOOKED;
            say_look(connection);
        }
    }
}

/* Those whose connections have ended meanwhile. */
static void drop_lost(oc_client_t *client)
{
    oc_connection_t *connection;

    DL_FOREACH (client->connections, connection) {
        if (OC_UPLINK_READY != connection->uplink.state && OC_EXPOSURE_NEW != connection->exposed) {
            connection->exposed = OC_EXPOSURE_OVER;
        }
    }
}

/* Whether a server is that far. */
static bool any_is(const oc_client_t *client, oc_exposed_t exposed)
{
    const oc_connection_t *connection;

    DL_FOREACH (client->connections, connection) {
        if (exposed == connection->exposed) {
            return true;
        }
    }
    return false;
}

/* Those that are that far. One that watches, or may do so, does not have to any more. */
static void leave_out(oc_client_t *client, oc_exposed_t exposed)
{
    oc_connection_t *connection;

    DL_FOREACH (client->connections, connection) {
        if (exposed == connection->exposed) {
            oc_debug("server %s does not say whether it sees multicast", connection->name);
            release_server(connection, 0);
            if (OC_EXPOSURE_LOOKED != exposed && OC_UPLINK_READY == connection->uplink.state) {
                say_look(connection);
            }
        }
    }
}

/* "h5:8918 sees it on eth0, h6:8918 on eth0 and 3 others" */
static void note_flooded(const oc_connection_t *connection, const char *interface)
{
    oc_client_t *client = connection->client;
    oc_exposure_t *exposure = client->exposure;
    size_t used = strlen(exposure->names);

    client->config.counters->servers_flooded++;
    if (exposure->flooded++ < MOST_NAMED) {
        snprintf(exposure->names + used, sizeof(exposure->names) - used, "%s%.80s %son %.15s",
                 used > 0 ? ", " : "", connection->name, used > 0 ? "" : "sees it ", interface);
    }
}

void oc_exposure_sight(oc_connection_t *connection, const oc_sight_t *sight)
{
    oc_client_t *client = connection->client;
    char text[OC_MAX_TEXT + 1];

    if (!oc_exposure_is_tested(client) || sight->token != client->exposure->token) {
        return;
    }
    oc_control_text(&sight->text, text, sizeof(text));
    oc_debug("flood test: server %s says %u: %s", connection->name, sight->view, text);
    if (OC_EXPOSURE_ASKED == connection->exposed && OC_VIEW_OPEN == sight->view) {
        connection->exposed = OC_EXPOSURE_WATCHED;
        return;
    }
    if (OC_EXPOSURE_LOOKED == connection->exposed && OC_VIEW_FLOODED == sight->view) {
        note_flooded(connection, text);
        release_server(connection, FLOODED);
    } else if (OC_EXPOSURE_LOOKED == connection->exposed && OC_VIEW_GUARDED == sight->view && has_group(client)) {
        release_server(connection, client->exposure->hosts);
    } else {
        release_server(connection, 0);
    }
}

/* ---- step by step ---- */

static void become(oc_client_t *client, stage_t stage, uint64_t time)
{
    client->exposure->stage = stage;
    client->exposure->due = client->now + time;
}

/* One line of the job, even if servers that come later are flooded, too. */
static void tell_exposed(oc_client_t *client)
{
    const oc_exposure_t *exposure = client->exposure;
    char others[32] = "";

    if (0 == exposure->flooded || client->told_exposed) {
        return;
    }
    client->told_exposed = true;
    if (exposure->flooded > MOST_NAMED) {
        snprintf(others, sizeof(others), " and %u others", exposure->flooded - MOST_NAMED);
    }
    oc_warn("the network delivers multicast to servers, which have not joined it: %s%s; IGMP "
            "snooping is off or has no querier (doc/multicast.md, \"What the network has to "
            "offer\"), and an Allgather beside a Reduce_scatter can take twice as long",
            exposure->names, others);
}

/* Servers that have come meanwhile have a test of their own, and so have those that could not tell. */
static void conclude_exposure(oc_client_t *client)
{
    for (oc_exposed_t exposed = OC_EXPOSURE_ASKED; exposed < OC_EXPOSURE_OVER; exposed++) {
        leave_out(client, exposed);
    }
    tell_exposed(client);
    exposure_end(client);
    exposure_plan(client, AGAIN);
}

static void begin_to_gather(oc_client_t *client)
{
    const oc_cast_group_t *cast = find_widest(client, &client->exposes);
    oc_flood_call_t call;

    if (NULL == cast || !any_awaits_test(client)
        || !oc_multicast_show_begin(client->multicast, cast, &call)) {
        exposure_end(client);
        return;
    }
    atomic_fetch_add(&client->pending, 1);
    client->exposure->token = call.token;
    client->exposure->cast = cast;
    client->exposure->hosts = client->exposes;
    client->exposure->end = client->now + LONGEST;
    become(client, GATHERING, PATIENCE);
    ask_to_watch(client, &call);
    explicit_bzero(&call, sizeof(call));
}

static void exposure_gather(oc_client_t *client)
{
    bool waits = any_is(client, OC_EXPOSURE_ASKED);

    if (waits && client->now < client->exposure->due) {
        return;
    }
    leave_out(client, OC_EXPOSURE_ASKED);
    if (any_is(client, OC_EXPOSURE_WATCHED)) {
        become(client, SHOWING, LONGEST);
    } else {
        conclude_exposure(client);
    }
}

static void exposure_show(oc_client_t *client)
{
    if (!oc_multicast_show_is_over(client->multicast, client->now)) {
        if (client->now >= client->exposure->end) {
            conclude_exposure(client);
        }
        return;
    }
    oc_multicast_show_end(client->multicast);
    become(client, ASKING, PATIENCE);
    ask_what_they_saw(client);
}

void oc_exposure_progress(oc_client_t *client)
{
    const oc_exposure_t *exposure = client->exposure;

    if (NULL == exposure) {
        return;
    }
    if (RESTING == exposure->stage) {
        if (client->now >= exposure->due && 0 == client->cast_setups) {
            begin_to_gather(client);
        }
        return;
    }
    drop_lost(client);
    if (GATHERING == exposure->stage) {
        exposure_gather(client);
    } else if (SHOWING == exposure->stage) {
        exposure_show(client);
    } else if (!any_is(client, OC_EXPOSURE_LOOKED) || client->now >= exposure->due) {
        conclude_exposure(client);
    }
}
