/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How ranks are reached that are no neighbours in the tree. Few ever have to be: who lacks
 * fragments asks their owner or another rank, and ranks of a chain take turns. Whoever wants to
 * reach a rank lets a FIND go along the tree, with its own contact; that rank lets it connect from
 * then on, and its FOUND comes back the same way, with its own. So nobody connects before he is let
 * in: what the kernel drops is only tried again after a second. For the same reason the rank that
 * was sought is shy: it does not connect itself before it knows that the other has its FOUND, by a
 * message of it.
 *
 * Nobody relies on a rank that need not be there: as long as anything is missing anywhere, no rank
 * can leave the operation, and all are members of the tree that says so.
 *
 * What is about an operation is held until the rank is known. Answers never are: whoever asks is
 * known by that. What is about probing is not held either, but said again, later.
 */
#include "multicast/core/route.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "multicast/core/deliver.h"
#include "multicast/core/fail.h"
#include "multicast/wire/contact.h"

/* Until what is held is looked at again, the first time; then twice as long, and so on. */
#define FIRST_PAUSE (100 * OC_MILLISECOND)

struct oc_cast_held {
    uint32_t rank;
    oc_cast_held_t *prev, *next;
    size_t length;
    uint8_t bytes[];
};

static void route_drop(oc_cast_route_t *route, oc_cast_held_t *held)
{
    DL_DELETE(route->held, held);
    free(held);
}

void oc_cast_route_end(oc_cast_group_t *group)
{
    while (NULL != group->route.held) {
        route_drop(&group->route, group->route.held);
    }
}

static uint32_t parent_of(uint32_t rank)
{
    return (rank - 1) / OC_CAST_RADIX;
}

uint32_t oc_cast_route_next(uint32_t rank, uint32_t target)
{
    uint32_t above = target;

    assert(target != rank);
    while (above > rank) {
        target = above;
        above = parent_of(above);
    }
    return above == rank ? target : parent_of(rank);
}

/*
 * Who has not joined would only find it when it does, with all others that were sent meanwhile. Nor
 * may they pile up for one that is elsewhere. Whoever still needs it sends it again.
 */
static void send_on(oc_cast_group_t *group, oc_cast_message_t *message)
{
    const oc_cast_net_t *net = &group->config.net;
    uint32_t next = oc_cast_route_next(group->config.rank, message->target);

    if (oc_cast_has_heard(group, next) && net->room(net->context, next) >= OC_CONTACT_MAX) {
        oc_cast_deliver(group, next, message);
    }
}

static void send_own(oc_cast_group_t *group, oc_cast_kind_t kind, uint32_t target)
{
    uint8_t contact[OC_CONTACT_MAX];
    oc_cast_message_t message = {.kind = kind, .origin = group->config.rank, .target = target,
                                 .data = contact};

    message.data_length = group->config.net.contact(group->config.net.context, contact);
    send_on(group, &message);
}

void oc_cast_route_find(oc_cast_group_t *group, uint32_t rank)
{
    send_own(group, OC_CAST_FIND, rank);
}

static bool is_held_for(const oc_cast_route_t *route, uint32_t rank)
{
    const oc_cast_held_t *held;

    DL_FOREACH (route->held, held) {
        if (held->rank == rank) {
            return true;
        }
    }
    return false;
}

void oc_cast_route_hold(oc_cast_group_t *group, uint32_t rank, const void *bytes, size_t length)
{
    oc_cast_route_t *route = &group->route;
    oc_cast_held_t *held = malloc(sizeof(*held) + length);

    if (NULL == held) {
        route->starved = true; /* whoever posts is not ready for the end of the group */
        return;
    }
    if (!is_held_for(route, rank)) {
        oc_cast_route_find(group, rank);
        route->pause = FIRST_PAUSE;
        route->next = 0;
    }
    held->rank = rank;
    held->length = length;
    memcpy(held->bytes, bytes, length);
    DL_APPEND(route->held, held);
}

static void send_held(oc_cast_group_t *group, uint32_t rank)
{
    const oc_cast_net_t *net = &group->config.net;
    oc_cast_held_t *held, *next;

    DL_FOREACH_SAFE (group->route.held, held, next) {
        if (held->rank == rank) {
            net->post(net->context, rank, held->bytes, held->length, NULL, 0);
            route_drop(&group->route, held);
        }
    }
}

/* Of several messages for one rank the first one counts; a rank may be known by another group. */
static void find_again(oc_cast_group_t *group)
{
    oc_cast_held_t *held = group->route.held;

    while (NULL != held) {
        uint32_t rank = held->rank;
        const oc_cast_held_t *first = group->route.held;

        if (oc_cast_knows(group, rank)) {
            send_held(group, rank);
            held = group->route.held;
            continue;
        }
        while (first->rank != rank) {
            first = first->next;
        }
        if (first == held) {
            oc_cast_route_find(group, rank);
        }
        held = held->next;
    }
}

uint64_t oc_cast_route_progress(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_route_t *route = &group->route;

    if (route->starved) {
        oc_cast_group_fail(group, OC_ERR_NO_MEMORY, "out of memory");
        return UINT64_MAX;
    }
    if (NULL == route->held) {
        return UINT64_MAX;
    }
    if (0 == route->next) {
        route->next = now + route->pause;
    } else if (now >= route->next) {
        find_again(group);
        route->pause *= 2;
        route->next = now + route->pause;
    }
    return NULL != route->held ? route->next : UINT64_MAX;
}

void oc_cast_route_heard(oc_cast_group_t *group, uint32_t rank)
{
    const oc_cast_net_t *net = &group->config.net;

    net->heard(net->context, rank);
    if (NULL != group->route.held && oc_cast_knows(group, rank)) {
        send_held(group, rank);
    }
}

void oc_cast_route_message(oc_cast_group_t *group, const oc_cast_message_t *message)
{
    const oc_cast_net_t *net = &group->config.net;
    oc_cast_message_t copy = *message;

    if (message->origin >= group->config.num_ranks || message->target >= group->config.num_ranks
        || message->origin == group->config.rank) {
        group->config.counters->fragments_foreign++;
        return;
    }
    if (message->target != group->config.rank) {
        send_on(group, &copy);
        return;
    }
    net->learn(net->context, message->origin, message->data, message->data_length,
               OC_CAST_FIND == message->kind);
    if (OC_CAST_FIND == message->kind) {
        send_own(group, OC_CAST_FOUND, message->origin);
    } else {
        oc_cast_route_heard(group, message->origin);
    }
}
