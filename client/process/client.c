/* SPDX-License-Identifier: BSD-3-Clause */
/* Life, progress and collapse of a client. */
#include "client/client.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "base/output.h"
#include "client/collective/collective.h"
#include "client/collective/leftovers.h"
#include "client/collective/node.h"
#include "client/group/group.h"
#include "client/group/relay.h"
#include "client/process/cast_service.h"
#include "client/process/client_inside.h"
#include "client/servers/connection.h"
#include "client/servers/network.h"
#include "client/servers/servers.h"
#include "client/setup/setup.h"

/* How often the control connections are looked at while something is pending. */
#define POLL_INTERVAL OC_MILLISECOND

/* How often those that are under way are looked through for messages that nobody has taken. */
#define SWEEP_INTERVAL OC_SECOND

/* Collectives whose ends a look hands out at most; others wait for the next one. */
#define ENDINGS 16

static void client_open_timeline(oc_client_t *client)
{
    char name[32];

    snprintf(name, sizeof(name), "rank-%u", client->config.process);
    client->timeline = oc_timeline_open(client->config.settings->timeline, name,
                                        OC_TIMELINE_CLIENT);
}

oc_status_t oc_client_create(const oc_client_config_t *config, oc_client_t **result)
{
    oc_client_t *client = calloc(1, sizeof(*client));

    if (NULL == client) {
        return OC_ERR_NO_MEMORY;
    }
    oc_fd_guard();
    client->handles = oc_handles_new();
    if (NULL == client->handles) {
        free(client);
        return OC_ERR_NO_MEMORY;
    }
    client->config = *config;
    oc_stock_open(&client->stock, OC_CLIENT_STOCK);
    pthread_mutex_init(&client->lock, NULL);
    oc_client_find_servers(client);
    client_open_timeline(client);
    *result = client;
    return OC_OK;
}

bool oc_client_embeds(const oc_client_t *client)
{
    return atomic_load_explicit(&client->embeds, memory_order_relaxed);
}

static void close_connections(oc_client_t *client, const oc_control_t *last_words)
{
    while (NULL != client->connections) {
        oc_connection_close(client->connections, last_words);
    }
}

/* They are in the hands of nobody any more: a communicator that was never freed, for example. */
static void destroy_groups(oc_client_t *client)
{
    oc_collective_t *collective, *next;

    while (NULL != client->groups) {
        oc_group_end(client->groups);
    }
    DL_FOREACH_SAFE (client->finished, collective, next) {
        oc_collective_free(client, collective);
    }
    oc_stock_trim(&client->stock);
}

void oc_client_destroy(oc_client_t *client)
{
    oc_control_t bye = {.type = OC_CONTROL_BYE};
    oc_group_t *group;

    if (NULL == client) {
        return;
    }
    DL_FOREACH (client->groups, group) {
        oc_group_abandon(group);
    }
    close_connections(client, &bye);
    oc_client_close_worker(client);
    destroy_groups(client);
    oc_multicast_destroy(client->multicast);
    oc_arena_close(client->arena);
    oc_resolver_end(client->resolver);
    oc_embedded_close(client->embedded);
    oc_doorbell_close(client->bell);
    oc_server_list_free(&client->servers);
    oc_timeline_close(client->timeline);
    oc_handles_free(client->handles);
    oc_mac_free(client->codes);
    pthread_mutex_destroy(&client->lock);
    free(client);
}

/*
 * A receive that has begun to match cannot be taken back one by one, and user buffers must be
 * given back: the worker goes as a whole, and with it whatever every group had in flight.
 */
static void carry_out_collapse(oc_client_t *client)
{
    oc_control_t cause = {.type = OC_CONTROL_JOB_ERROR};
    oc_group_t *group;

    DL_FOREACH (client->groups, group) {
        if (OC_SERVICE_AGGREGATION == group->params.service) {
            oc_group_fail(group, client->collapse, client->collapse_reason);
        }
    }
    /* servers that are well tell the others what began it */
    cause.notice.status = client->collapse;
    cause.notice.text = (oc_bytes_t) {
        .data = (const uint8_t *) client->collapse_reason,
        .length = (uint32_t) strnlen(client->collapse_reason, OC_MAX_TEXT)};
    close_connections(client, &cause);
    oc_client_close_worker(client);
    /* a name may lead elsewhere when the server is back */
    if (NULL != client->resolver && oc_resolver_done(client->resolver)) {
        oc_resolver_end(client->resolver);
        client->resolver = NULL;
    }
    client->tree = 0;
    client->collapse = OC_OK;
    client->collapsed = oc_clock_ns();
}

void oc_client_settle(oc_client_t *client)
{
    if (OC_OK != client->collapse) {
        carry_out_collapse(client);
    }
}

static void look_around(oc_client_t *client)
{
    oc_connection_t *connection, *next;
    oc_group_t *group, *next_group;
    uint64_t elapsed = client->now - client->polled;

    if (elapsed < POLL_INTERVAL) {
        return;
    }
    client->polled = client->now;
    oc_output_catch_up();
    client->elapsed = elapsed < OC_MAX_QUIET_STEP ? elapsed : OC_MAX_QUIET_STEP;
    DL_FOREACH_SAFE (client->connections, connection, next) {
        oc_connection_progress(connection);
    }
    DL_FOREACH_SAFE2 (client->setups, group, next_group, setup_next) {
        oc_setup_progress(group);
    }
    if (NULL != client->worker && client->now - client->swept > SWEEP_INTERVAL) {
        client->swept = client->now;
        oc_leftovers_look(client);
    }
}

static void progress_locked(oc_client_t *client)
{
    client->now = oc_clock_ns();
    if (NULL != client->worker) {
        (void) oc_worker_progress(client->worker);
    }
    (void) oc_client_nodes_progress(client);
    oc_client_cast_progress(client);
    look_around(client);
    oc_client_settle(client);
}

/* Who is to be called back when the lock is given back; the collectives are gone then. */
typedef struct {
    void (*callback)(void *arg, oc_status_t status);
    void *arg;
    oc_status_t status;
} ending_t;

static unsigned take_finished(oc_client_t *client, ending_t endings[ENDINGS])
{
    oc_collective_t *collective;
    unsigned count = 0;

    while (count < ENDINGS && NULL != (collective = client->finished)) {
        DL_DELETE(client->finished, collective);
        endings[count++] = (ending_t) {.callback = collective->finished, .arg = collective->arg,
                                       .status = collective->status};
        oc_collective_free(client, collective);
    }
    return count;
}

unsigned oc_client_progress(oc_client_t *client)
{
    ending_t endings[ENDINGS];
    unsigned count;

    if (0 == atomic_load(&client->pending) || 0 != pthread_mutex_trylock(&client->lock)) {
        return 0;
    }
    progress_locked(client);
    count = take_finished(client, endings);
    pthread_mutex_unlock(&client->lock);
    for (unsigned i = 0; i < count; i++) {
        atomic_fetch_sub(&client->pending, 1);
        endings[i].callback(endings[i].arg, endings[i].status);
    }
    return count;
}

unsigned oc_client_pending(const oc_client_t *client)
{
    return atomic_load(&client->pending);
}

/* How many descriptors there are to sleep on; -1: there is something to do at once. */
static int get_ready(oc_client_t *client, struct pollfd *fds, uint64_t *timeout)
{
    int count = 0, more;

    if (NULL != client->finished) {
        return -1;
    }
    client->now = oc_clock_ns();
    if (NULL != client->nodes || NULL != client->relays) {
        (void) oc_doorbell_listen(client->bell);
        oc_client_nodes_arm(client);
        oc_client_relays_arm(client);
        if (oc_client_nodes_progress(client) || oc_client_relays_progress(client)) {
            return -1;
        }
        fds[count++] = (struct pollfd) {.fd = oc_doorbell_fd(client->bell), .events = POLLIN};
    }
    if (NULL != client->worker) {
        fds[count] = (struct pollfd) {.events = POLLIN};
        if (OC_OK != oc_worker_arm(client->worker, &fds[count++].fd)) {
            return -1;
        }
    }
    more = oc_client_cast_sleep(client, fds + count, timeout);
    return more < 0 ? -1 : count + more;
}

void oc_client_wait(oc_client_t *client, unsigned timeout_us)
{
    struct pollfd fds[2 + OC_MULTICAST_MAX_FDS];
    uint64_t timeout = timeout_us * 1000ull;
    struct timespec limit;
    int count;

    if (0 != pthread_mutex_trylock(&client->lock)) {
        return;
    }
    count = get_ready(client, fds, &timeout);
    pthread_mutex_unlock(&client->lock);
    if (count >= 0) {
        limit = (struct timespec) {.tv_sec = (time_t) (timeout / OC_SECOND),
                                   .tv_nsec = (long) (timeout % OC_SECOND)};
        (void) ppoll(fds, (nfds_t) count, &limit, NULL);
    }
}
