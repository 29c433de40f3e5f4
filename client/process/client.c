/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a client, and its progress on behalf of the application. */
#include "client/client.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "client/collective/collective.h"
#include "client/group/group.h"
#include "client/process/helper.h"
#include "client/process/moving.h"
#include "client/servers/connection.h"
#include "client/servers/exposure.h"
#include "client/servers/network.h"
#include "client/servers/resort.h"
#include "client/servers/servers.h"
#include "client/setup/setup.h"

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
    client->control_fd = -1;
    client->listening.fd = -1;
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
    oc_helper_end(client);
    oc_exposure_drop(client);
    DL_FOREACH (client->groups, group) {
        oc_group_abandon(group);
    }
    oc_client_close_connections(client, &bye);
    oc_connections_forget(client);
    oc_client_close_worker(client);
    destroy_groups(client);
    oc_fd_close(client->control_fd);
    oc_multicast_destroy(client->multicast);
    oc_arena_close(client->arena);
    oc_resolver_end(client->resolver);
    oc_embedded_close(client->embedded);
    oc_fd_close(client->listening.fd);
    oc_resort_free(client);
    oc_doorbell_close(client->bell);
    oc_server_list_free(&client->servers);
    oc_timeline_close(client->timeline);
    oc_handles_free(client->handles);
    oc_mac_free(client->codes);
    pthread_mutex_destroy(&client->lock);
    free(client);
}

static void look_at_setups(oc_client_t *client)
{
    uint64_t elapsed = client->now - client->setups_polled;
    oc_group_t *group, *next;

    if (elapsed < OC_CLIENT_LOOK) {
        return;
    }
    client->setups_polled = client->now;
    client->elapsed = elapsed < OC_MAX_QUIET_STEP ? elapsed : OC_MAX_QUIET_STEP;
    DL_FOREACH_SAFE2 (client->setups, group, next, setup_next) {
        oc_setup_progress(group);
    }
    oc_client_settle(client);
    oc_helper_watch(client);
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

    if (0 == atomic_load(&client->pending)) {
        return 0;
    }
    if (0 != pthread_mutex_trylock(&client->lock)) {
        atomic_store_explicit(&client->knocked, true, memory_order_relaxed);
        return 0;
    }
    oc_client_move(client);
    look_at_setups(client);
    oc_helper_give_way(client);
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

void oc_client_wait(oc_client_t *client, unsigned timeout_us)
{
    struct pollfd fds[OC_CLIENT_MAX_FDS];
    uint64_t timeout = timeout_us * 1000ull;
    struct timespec limit;
    int count;

    if (0 != pthread_mutex_trylock(&client->lock)) {
        return;
    }
    count = NULL != client->finished ? -1 : oc_client_arm(client, fds, &timeout);
    atomic_fetch_add_explicit(&client->sleepers, 1, memory_order_relaxed);
    pthread_mutex_unlock(&client->lock);
    if (count >= 0) {
        limit = (struct timespec) {.tv_sec = (time_t) (timeout / OC_SECOND),
                                   .tv_nsec = (long) (timeout % OC_SECOND)};
        (void) ppoll(fds, (nfds_t) count, &limit, NULL);
    }
    atomic_fetch_sub_explicit(&client->sleepers, 1, memory_order_relaxed);
}
