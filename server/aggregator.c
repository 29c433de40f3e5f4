/* SPDX-License-Identifier: BSD-3-Clause */
/* The aggregator's thread: its loop, its commands, its clients and groups. */
#include <assert.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "protocol/tag.h"
#include "server/aggregator_types.h"
#include "server/budget.h"
#include "server/threads.h"

/* How long an aggregator with nothing to do looks around before it sleeps. */
#define SPIN_NS (50 * 1000ull)

static void drain_inbox(oc_aggregator_t *aggregator);

static oc_server_group_t *find_member(oc_aggregator_t *aggregator, uint32_t handle, uint32_t rank)
{
    oc_server_group_t *group;

    HASH_FIND(hh, aggregator->groups, &handle, sizeof(handle), group);
    return NULL != group && rank < group->num_ranks && group->members[rank].joined ? group : NULL;
}

oc_server_group_t *oc_aggregator_group(oc_aggregator_t *aggregator, uint32_t handle, uint32_t rank)
{
    oc_server_group_t *group = find_member(aggregator, handle, rank);

    if (NULL == group || group->num_joined < group->num_ranks) {
        /* the command was posted before any rank learnt the handle: it must be in the inbox */
        drain_inbox(aggregator);
        group = find_member(aggregator, handle, rank);
    }
    return group;
}

void oc_aggregator_group_failed(oc_server_group_t *group, oc_status_t status, const char *format,
                                ...)
{
    oc_command_t *command;
    va_list args;

    if (group->failed) {
        return;
    }
    group->failed = true;
    command = oc_command_new(OC_COMMAND_GROUP_ERROR, NULL, 0);
    if (NULL == command) {
        return;
    }
    command->handle = group->handle;
    command->status = status;
    va_start(args, format);
    vsnprintf(command->text, sizeof(command->text), format, args);
    va_end(args);
    oc_mailbox_post(group->aggregator->config.control, command);
}

const char *oc_group_member_name(const oc_server_group_t *group, uint32_t rank,
                                 char name[OC_MEMBER_NAME_SIZE])
{
    if (NULL != group->above) {
        snprintf(name, OC_MEMBER_NAME_SIZE, "member %u of leaf %u", rank, group->above->leaf);
    } else {
        snprintf(name, OC_MEMBER_NAME_SIZE, "%s %u", group->tree ? "leaf" : "rank", rank);
    }
    return name;
}

void oc_group_hold(oc_server_group_t *group)
{
    group->references++;
}

/* Of a client that is gone, the last one ends this. */
static void peer_release(oc_peer_t *peer)
{
    if (NULL == peer->endpoint && 0 == peer->members) {
        free(peer);
    }
}

static void members_free(oc_server_group_t *group)
{
    for (uint32_t rank = 0; NULL != group->members && rank < group->num_ranks; rank++) {
        oc_peer_t *peer = group->members[rank].peer;

        if (NULL != peer) {
            peer->members--;
            peer_release(peer);
        }
    }
    free(group->members);
}

static void group_free(oc_server_group_t *group)
{
    oc_reductions_free(group);
    oc_reserve_give(group);
    free(group->above);
    members_free(group);
    free(group->sources);
    free(group);
}

void oc_group_release(oc_server_group_t *group)
{
    if (0 == --group->references && group->dropped) {
        group_free(group);
    }
}

void oc_aggregator_send(oc_server_group_t *group, uint32_t rank, oc_transfer_t *transfer,
                        const void *data, size_t length, uint64_t tag)
{
    const oc_peer_t *peer = group->members[rank].peer;

    if (NULL == peer || NULL == peer->endpoint) {
        oc_transfer_fail(group->aggregator->worker, transfer, OC_ERR_UNREACHABLE);
    } else {
        /* whoever gets it has posted the receive before this could be sent */
        oc_send_eager(peer->endpoint, transfer, data, length, tag);
    }
}

static void on_header_sent(oc_transfer_t *transfer)
{
    oc_server_group_t *group = ((oc_header_message_t *) transfer)->group;

    oc_aggregator_check_sent(group, transfer);
    free(transfer);
    oc_group_release(group);
}

oc_header_message_t *oc_header_message_new(oc_server_group_t *group, const oc_header_t *header)
{
    oc_header_message_t *message = calloc(1, sizeof(*message));

    if (NULL == message) {
        oc_aggregator_group_failed(group, OC_ERR_NO_MEMORY, "the server is out of memory");
        return NULL;
    }
    message->group = group;
    message->transfer.done = on_header_sent;
    oc_header_encode(header, message->bytes);
    oc_group_hold(group);
    return message;
}

void oc_aggregator_send_header(oc_server_group_t *group, uint32_t rank, const oc_header_t *header,
                               uint64_t slot)
{
    oc_header_message_t *message = oc_header_message_new(group, header);

    if (NULL != message) {
        oc_aggregator_send(group, rank, &message->transfer, message->bytes, OC_HEADER_SIZE,
                           oc_tag(OC_KIND_REPLY, group->members[rank].reply_handle, group->index,
                                  header->sequence, slot));
    }
}

void oc_aggregator_check_sent(oc_server_group_t *group, const oc_transfer_t *transfer)
{
    if (OC_OK != transfer->status && OC_ERR_UNREACHABLE != transfer->status
        && OC_ERR_CANCELED != transfer->status) {
        oc_aggregator_group_failed(group, transfer->status, "a result could not be sent: %s",
                                   oc_status_string(transfer->status));
    }
}

static void client_lost(oc_aggregator_t *aggregator, uint32_t client)
{
    oc_command_t *command = oc_command_new(OC_COMMAND_CLIENT_LOST, NULL, 0);

    if (NULL != command) {
        command->client = client;
        oc_mailbox_post(aggregator->config.control, command);
    }
}

static void on_peer_failed(void *arg)
{
    oc_peer_t *peer = arg;

    client_lost(peer->aggregator, peer->client);
}

static void client_add(oc_aggregator_t *aggregator, const oc_command_t *command)
{
    oc_peer_t *peer = calloc(1, sizeof(*peer));

    if (NULL == peer) {
        client_lost(aggregator, command->client);
        return;
    }
    peer->client = command->client;
    peer->aggregator = aggregator;
    if (OC_OK != oc_endpoint_open(aggregator->worker, command->data, on_peer_failed, peer,
                                  &peer->endpoint)) {
        client_lost(aggregator, command->client);
        free(peer);
        return;
    }
    HASH_ADD(hh, aggregator->peers, client, sizeof(uint32_t), peer);
    aggregator->served_clients++;
}

static void client_drop(oc_aggregator_t *aggregator, uint32_t client)
{
    oc_peer_t *peer;

    HASH_FIND(hh, aggregator->peers, &client, sizeof(client), peer);
    if (NULL != peer) {
        HASH_DEL(aggregator->peers, peer);
        oc_endpoint_close(peer->endpoint);
        peer->endpoint = NULL;
        peer_release(peer);
    }
}

_Static_assert(sizeof(oc_server_group_t) <= OC_GROUP_COST / 2,
               "a group costs more than is counted");
_Static_assert(sizeof(oc_group_member_t) + sizeof(void *) <= OC_GROUP_RANK_COST / 2,
               "a member costs more than is counted");

static oc_server_group_t *group_new(oc_aggregator_t *aggregator, const oc_member_t *member)
{
    oc_server_group_t *group = calloc(1, sizeof(*group));

    if (NULL == group) {
        return NULL;
    }
    group->aggregator = aggregator;
    group->handle = member->handle;
    group->num_ranks = member->num_ranks;
    group->index = member->aggregator;
    group->chunk_bytes = member->chunk_bytes;
    group->window = member->window;
    group->small_bytes = member->small_bytes;
    group->reserves = member->reserves;
    group->tree = member->tree;
    oc_reserve_take(group);
    group->members = calloc(member->num_ranks, sizeof(*group->members));
    group->sources = calloc(member->num_ranks, sizeof(*group->sources));
    if (NULL == group->members || NULL == group->sources
        || (0 != member->leaves && !oc_above_new(group, member->leaf))) {
        group_free(group);
        return NULL;
    }
    HASH_ADD(hh, aggregator->groups, handle, sizeof(uint32_t), group);
    aggregator->served_groups++;
    return group;
}

/*
 * UCX connects when the first message goes. With this one that happens during the set-up, where a
 * data path that does not work still leads to the previous module.
 */
static void send_ready(oc_server_group_t *group, uint32_t rank)
{
    oc_header_t header = {.message = OC_MESSAGE_READY, .handle = group->handle,
                          .rank = group->index, .chunks = 1};

    group->members[rank].told = true;
    oc_aggregator_send_header(group, rank, &header, OC_READY_SLOT);
}

/* It has the reserve that it needs, and if there is a server above, that is ready too. */
static bool is_ready(const oc_server_group_t *group)
{
    return !group->owed && (NULL == group->above || (group->above->joined && group->above->ready));
}

void oc_aggregator_group_ready(oc_server_group_t *group)
{
    for (uint32_t rank = 0; is_ready(group) && rank < group->num_ranks; rank++) {
        if (group->members[rank].joined && !group->members[rank].told) {
            send_ready(group, rank);
        }
    }
}

static void member_add(oc_aggregator_t *aggregator, const oc_command_t *command)
{
    const oc_member_t *member = &command->member;
    oc_server_group_t *group;
    oc_peer_t *peer;

    HASH_FIND(hh, aggregator->groups, &member->handle, sizeof(uint32_t), group);
    if (NULL == group) {
        group = group_new(aggregator, member);
    }
    if (NULL == group) {
        client_lost(aggregator, command->client);
        return;
    }
    HASH_FIND(hh, aggregator->peers, &command->client, sizeof(uint32_t), peer);
    if (NULL != peer) {
        peer->members++;
    }
    /* the registry takes no rank twice: others would be served before all have come */
    assert(member->rank < group->num_ranks && !group->members[member->rank].joined);
    group->num_joined++;
    group->members[member->rank] = (oc_group_member_t) {
        .peer = peer, .reply_handle = member->reply_handle, .joined = true};
    if (is_ready(group)) {
        send_ready(group, member->rank);
    }
}

static void group_drop(oc_aggregator_t *aggregator, uint32_t handle)
{
    oc_server_group_t *group;

    HASH_FIND(hh, aggregator->groups, &handle, sizeof(handle), group);
    if (NULL == group) {
        return;
    }
    HASH_DEL(aggregator->groups, group);
    group->failed = true;
    group->dropped = true;
    oc_group_hold(group);
    oc_reductions_abandon(group);
    oc_above_cancel(group);
    oc_group_release(group);
    if (NULL == aggregator->groups) {
        oc_pool_trim(&aggregator->pool);
        oc_stock_trim(&aggregator->stock);
    }
}

static void group_above(oc_aggregator_t *aggregator, uint32_t handle, uint32_t above)
{
    oc_server_group_t *group;

    HASH_FIND(hh, aggregator->groups, &handle, sizeof(handle), group);
    if (NULL != group) {
        oc_above_joined(group, above);
    }
}

static void carry_out(oc_aggregator_t *aggregator, oc_command_t *command)
{
    switch (command->type) {
    case OC_COMMAND_CLIENT_ADD:
        client_add(aggregator, command);
        break;
    case OC_COMMAND_CLIENT_DROP:
        client_drop(aggregator, command->client);
        break;
    case OC_COMMAND_MEMBER_ADD:
        member_add(aggregator, command);
        break;
    case OC_COMMAND_GROUP_DROP:
        group_drop(aggregator, command->handle);
        break;
    case OC_COMMAND_PARENT_ADD:
        oc_above_connect(aggregator, command->data);
        break;
    case OC_COMMAND_GROUP_ABOVE:
        group_above(aggregator, command->handle, command->token);
        break;
    case OC_COMMAND_PING:
        command->type = OC_COMMAND_PONG;
        oc_mailbox_post(aggregator->config.control, command);
        return;
    case OC_COMMAND_STOP:
        aggregator->stop = true;
        break;
    default:
        break;
    }
    free(command);
}

static void drain_inbox(oc_aggregator_t *aggregator)
{
    oc_command_t *command;

    while (NULL != (command = oc_mailbox_take(&aggregator->inbox))) {
        carry_out(aggregator, command);
    }
}

/* Nothing is lost before the wait: mail, and messages after arm, make descriptors readable. */
static void sleep_until_event(oc_aggregator_t *aggregator)
{
    struct epoll_event event;

    if (!aggregator->stop && OC_OK == oc_worker_arm(aggregator->worker)) {
        (void) epoll_wait(aggregator->epoll_fd, &event, 1, -1);
    }
}

static void *aggregator_run(void *arg)
{
    oc_aggregator_t *aggregator = arg;
    uint64_t idle_since = 0, now;
    bool moved;

    oc_thread_default_arithmetic();
    oc_binding_enter(aggregator->config.binding, aggregator->config.index);
    while (!aggregator->stop) {
        /* also in the middle of work: heartbeats are among the commands */
        if (oc_mailbox_has_mail(&aggregator->inbox)) {
            drain_inbox(aggregator);
        }
        moved = 0 != oc_worker_progress(aggregator->worker);
        if (oc_reduction_feed(aggregator) || moved) {
            idle_since = 0;
            continue;
        }
        if (aggregator->config.busy && NULL != aggregator->groups) {
            continue;
        }
        now = oc_clock_ns();
        if (0 == idle_since) {
            idle_since = now;
        }
        if (now - idle_since < SPIN_NS) {
            sched_yield();
            continue;
        }
        sleep_until_event(aggregator);
        idle_since = 0;
    }
    return NULL;
}

static oc_status_t watch_descriptors(oc_aggregator_t *aggregator)
{
    struct epoll_event event = {.events = EPOLLIN};

    aggregator->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (aggregator->epoll_fd < 0
        || 0 != epoll_ctl(aggregator->epoll_fd, EPOLL_CTL_ADD,
                          oc_worker_event_fd(aggregator->worker), &event)
        || 0 != epoll_ctl(aggregator->epoll_fd, EPOLL_CTL_ADD, aggregator->inbox.event_fd,
                          &event)) {
        return OC_ERR_SYSTEM;
    }
    return OC_OK;
}

static void open_timeline(oc_aggregator_t *aggregator)
{
    char host[64] = "", name[128];

    (void) gethostname(host, sizeof(host) - 1);
    snprintf(name, sizeof(name), "server-%s-%d-%u", host, (int) getpid(),
             aggregator->config.index);
    aggregator->timeline = oc_timeline_open(aggregator->config.timeline, name,
                                            OC_TIMELINE_SERVER);
}

/* Everything but the thread, in the reverse order of oc_aggregator_open. */
static void aggregator_free(oc_aggregator_t *aggregator)
{
    oc_server_group_t *group, *next_group;
    oc_peer_t *peer, *next_peer;

    aggregator->stop = true;
    HASH_ITER (hh, aggregator->groups, group, next_group) {
        group_drop(aggregator, group->handle);
    }
    HASH_ITER (hh, aggregator->peers, peer, next_peer) {
        client_drop(aggregator, peer->client);
    }
    oc_endpoint_close(aggregator->parent);
    oc_worker_close(aggregator->worker);
    oc_timeline_close(aggregator->timeline);
    oc_requests_free(aggregator);
    oc_pool_close(&aggregator->pool);
    oc_stock_trim(&aggregator->stock);
    oc_mailbox_close(&aggregator->inbox);
    if (aggregator->epoll_fd >= 0) {
        close(aggregator->epoll_fd);
    }
    free(aggregator);
}

oc_status_t oc_aggregator_open(const oc_aggregator_config_t *config, oc_aggregator_t **result,
                               char *error, size_t error_size)
{
    oc_aggregator_t *aggregator = calloc(1, sizeof(*aggregator));
    oc_status_t status;
    char name[16];

    if (NULL == aggregator) {
        return OC_ERR_NO_MEMORY;
    }
    aggregator->config = *config;
    aggregator->epoll_fd = -1;
    aggregator->inbox.event_fd = -1;
    oc_pool_open(&aggregator->pool, config->memory_limit);
    oc_stock_open(&aggregator->stock, OC_AGGREGATOR_STOCK);
    aggregator->pool.huge_pages = config->huge_pages;
    open_timeline(aggregator);
    snprintf(error, error_size, "cannot start an aggregator");
    status = oc_worker_open(config->net_devices, &aggregator->worker, error, error_size);
    if (OC_OK == status) {
        status = oc_mailbox_open(&aggregator->inbox);
    }
    if (OC_OK == status) {
        status = watch_descriptors(aggregator);
    }
    if (OC_OK == status) {
        status = oc_requests_post(aggregator);
    }
    if (OC_OK == status) {
        snprintf(name, sizeof(name), "optcast-agg%u", config->index);
        status = oc_thread_start(&aggregator->thread, name, aggregator_run, aggregator);
    }
    if (OC_OK != status) {
        aggregator_free(aggregator);
        return status;
    }
    *result = aggregator;
    return OC_OK;
}

static void report(const oc_aggregator_t *aggregator)
{
    if (aggregator->served_groups > 0) {
        oc_info("aggregator %u served %u groups of %u clients, with at most %zu of %zu bytes",
                aggregator->config.index, aggregator->served_groups, aggregator->served_clients,
                aggregator->pool.peak, aggregator->pool.limit);
    }
    if (aggregator->waited > 0 || aggregator->asked > 0) {
        oc_info("aggregator %u was short of memory: %llu collectives waited for it, %llu "
                "contributions were asked for again, at most %zu of %zu bytes were in use",
                aggregator->config.index, aggregator->waited, aggregator->asked,
                aggregator->pool.peak, aggregator->pool.limit);
    }
}

void oc_aggregator_close(oc_aggregator_t *aggregator)
{
    oc_command_t *command;

    if (NULL == aggregator) {
        return;
    }
    command = oc_command_new(OC_COMMAND_STOP, NULL, 0);
    if (NULL == command) {
        abort();
    }
    oc_aggregator_post(aggregator, command);
    pthread_join(aggregator->thread, NULL);
    report(aggregator);
    aggregator_free(aggregator);
}

const void *oc_aggregator_address(const oc_aggregator_t *aggregator, size_t *length)
{
    return oc_worker_address(aggregator->worker, length);
}

void oc_aggregator_post(oc_aggregator_t *aggregator, oc_command_t *command)
{
    oc_mailbox_post(&aggregator->inbox, command);
}
