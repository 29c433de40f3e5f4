/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How ranks are reached that are no neighbours in the tree. Few ever have to be: who lacks fragments
 * asks their owner or another rank, and ranks of a chain take turns. Whoever wants to reach a rank
 * lets a FIND go along the tree, with its own contact; that rank lets it connect from then on, and
 * its FOUND comes back the same way, with its own. So nobody connects before he is let in: what the
 * kernel drops is only tried again after a second. Nobody relies on a rank that need not be there:
 * as long as anything is missing anywhere, no rank can leave the operation, and all are
 * members of the tree that says so.
 *
 * A rank that has not joined yet drops what comes. So FINDs are repeated while this rank probes, as
 * often as it asks for probes. Once it has heard all ranks, all have joined, and one FIND is enough.
 */
#include "multicast/cast_types.h"

#include <stdlib.h>

#include "multicast/contact.h"

oc_status_t oc_route_begin(oc_cast_group_t *group)
{
    group->route.sought = calloc(group->config.num_ranks, sizeof(*group->route.sought));
    return NULL != group->route.sought ? OC_OK : OC_ERR_NO_MEMORY;
}

void oc_route_end(oc_cast_group_t *group)
{
    free(group->route.sought);
    group->route.sought = NULL;
}

static uint32_t parent_of(uint32_t rank)
{
    return (rank - 1) / OC_CAST_RADIX;
}

/* The neighbour that is nearer to a rank than this one. */
static uint32_t next_hop(const oc_cast_group_t *group, uint32_t target)
{
    uint32_t rank = group->config.rank;

    while (target > rank) {
        uint32_t above = parent_of(target);

        if (above == rank) {
            return target;
        }
        target = above;
    }
    return parent_of(rank);
}

static bool knows(const oc_cast_group_t *group, uint32_t rank)
{
    return group->config.net.knows(group->config.net.context, rank);
}

static void send_on(oc_cast_group_t *group, oc_cast_message_t *message)
{
    oc_cast_post(group, next_hop(group, message->target), message);
}

static void send_own(oc_cast_group_t *group, oc_cast_kind_t kind, uint32_t target)
{
    uint8_t contact[OC_CONTACT_MAX];
    oc_cast_message_t message = {.kind = kind, .origin = group->config.rank, .target = target,
                                 .data = contact};

    message.data_length = group->config.net.contact(group->config.net.context, contact);
    send_on(group, &message);
}

void oc_route_seek(oc_cast_group_t *group, uint32_t rank)
{
    oc_route_t *route = &group->route;

    if (OC_NOT_SOUGHT == route->sought[rank]) {
        route->sought[rank] = OC_TO_BE_SOUGHT;
        route->seeking++;
        route->next = 0;
    }
}

bool oc_route_holds(const oc_cast_group_t *group, uint32_t rank)
{
    return OC_NOT_SOUGHT != group->route.sought[rank] && !knows(group, rank);
}

/* One that may have been dropped is worth nothing. */
static void forget_sent(oc_cast_group_t *group)
{
    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        if (OC_SOUGHT == group->route.sought[rank]) {
            group->route.sought[rank] = OC_TO_BE_SOUGHT;
        }
    }
}

static void seek(oc_cast_group_t *group)
{
    oc_route_t *route = &group->route;

    for (uint32_t rank = 0; route->seeking > 0 && rank < group->config.num_ranks; rank++) {
        if (OC_NOT_SOUGHT == route->sought[rank]) {
            continue;
        }
        if (knows(group, rank)) {
            route->sought[rank] = OC_NOT_SOUGHT;
            route->seeking--;
        } else if (OC_TO_BE_SOUGHT == route->sought[rank]) {
            send_own(group, OC_CAST_FIND, rank);
            route->sought[rank] = OC_SOUGHT;
        }
    }
}

uint64_t oc_route_progress(oc_cast_group_t *group, uint64_t now)
{
    oc_route_t *route = &group->route;
    bool probing = group->probe.missing > 0;

    if (0 == route->seeking) {
        return UINT64_MAX;
    }
    if (route->probed && (!probing || now >= route->again)) {
        forget_sent(group);
        route->probed = false;
        route->next = 0;
    }
    if (now >= route->next) {
        seek(group);
        route->next = UINT64_MAX;
        route->probed = probing;
        route->again = now + group->probe.pause;
    }
    if (!route->probed || 0 == route->seeking) {
        return UINT64_MAX;
    }
    /* news make it shorter */
    if (route->again > now + group->probe.pause) {
        route->again = now + group->probe.pause;
    }
    return route->again;
}

void oc_route_message(oc_cast_group_t *group, const oc_cast_message_t *message)
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
    if (OC_CAST_FIND == message->kind) {
        net->admit(net->context, message->origin, message->data, message->data_length);
        send_own(group, OC_CAST_FOUND, message->origin);
    } else {
        net->learn(net->context, message->origin, message->data, message->data_length);
    }
}
