/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives peers the fragments that they lack, as fast as they can take them. */
#include "multicast/core/serve.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "multicast/core/cast_memory.h"
#include "multicast/core/fragment.h"
#include "multicast/core/pace.h"
#include "multicast/core/partners.h"
#include "multicast/core/post.h"
#include "multicast/core/recast.h"

static bool ranges_fit(const oc_cast_message_t *message, uint32_t fragments)
{
    for (uint32_t i = 0; i < message->num_ranges; i++) {
        const oc_cast_range_t *range = &message->ranges[i];

        if (range->first >= fragments || range->count > fragments - range->first) {
            return false;
        }
    }
    return message->num_ranges > 0;
}

static void serve_begin(oc_cast_operation_t *operation, oc_cast_service_t *service)
{
    DL_APPEND(operation->services, service);
    DL_APPEND2(operation->blocks[service->block].services, service, prev_of_block, next_of_block);
    operation->served[service->requester]++;
}

static void serve_end(oc_cast_operation_t *operation, oc_cast_service_t *service)
{
    assert(operation->served[service->requester] > 0);
    operation->served[service->requester]--;
    DL_DELETE2(operation->blocks[service->block].services, service, prev_of_block, next_of_block);
    DL_DELETE(operation->services, service);
    free(service);
}

/* The last answer, after so many fragments; to nothing: somebody else has to help. */
static void serve_decline(oc_cast_group_t *group, const oc_cast_message_t *request, uint32_t given)
{
    oc_cast_message_t answer = {
        .kind = OC_CAST_REPAIR,
        .generation = request->generation,
        .block = request->block,
        .number = request->number,
        .given = given,
        .last = true,
    };

    oc_cast_post(group, request->rank, &answer);
}

/* Who asks knows that it was sent; that this rank has not heard of it means that it missed it. */
static void learn(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now)
{
    const oc_cast_range_t *last = &message->ranges[message->num_ranges - 1];

    oc_fragment_sent(group, message->block, last->first + last->count, now);
}

static bool is_remote(const oc_cast_group_t *group, const oc_cast_service_t *service)
{
    return !oc_partners_share_host(group, service->requester, group->config.rank);
}

/* Nothing of it is multicast again. */
static bool answers_alone(const oc_cast_group_t *group, const oc_cast_service_t *service)
{
    return service->alone || oc_recast_is_in_vain(group);
}

/* Others may ask for the same, so that all get it. */
static bool may_recast(const oc_cast_group_t *group, const oc_cast_service_t *service)
{
    return !answers_alone(group, service) && is_remote(group, service);
}

void oc_serve_request(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    oc_cast_service_t *service;
    size_t size;
    bool wait = message->wait && message->block != group->config.rank;

    if (message->block == group->config.rank && message->num_ranges > 0
        && !ranges_fit(message, operation->blocks[message->block].fragments)) {
        oc_fragment_misfit(group, message->block, message->rank, false);
        return;
    }
    if (message->block >= group->config.num_ranks
        || !ranges_fit(message, operation->blocks[message->block].fragments)) {
        group->config.counters->fragments_foreign++;
        return;
    }
    size = sizeof(*service) + (wait ? OC_CAST_MAX_RANGES : 0) * sizeof(oc_cast_range_t);
    service = operation->served[message->rank] < OC_CAST_MAX_SERVICES ? calloc(1, size) : NULL;
    if (NULL == service) {
        serve_decline(group, message, 0);
        return;
    }
    service->requester = message->rank;
    service->number = message->number;
    service->block = message->block;
    service->wait = wait;
    service->alone = message->alone;
    service->due = may_recast(group, service) ? now + oc_pace_interval(group) : now;
    service->num_ranges = message->num_ranges;
    memcpy(service->ranges, message->ranges, message->num_ranges * sizeof(oc_cast_range_t));
    serve_begin(operation, service);
    if (service->wait) {
        learn(group, message, now);
    }
}

void oc_serve_withdrawn(oc_cast_group_t *group, const oc_cast_message_t *message)
{
    oc_cast_service_t *service;

    if (message->block >= group->config.num_ranks) {
        return;
    }
    DL_FOREACH2 (group->active->blocks[message->block].services, service, next_of_block) {
        if (service->requester == message->rank && service->number == message->number) {
            serve_decline(group, message, service->given);
            serve_end(group->active, service);
            return;
        }
    }
}

/* The next fragment that is asked for; false: there is none. */
static bool next_fragment(oc_cast_service_t *service, uint32_t *index)
{
    while (service->range < service->num_ranges
           && service->done == service->ranges[service->range].count) {
        service->range++;
        service->done = 0;
    }
    if (service->range == service->num_ranges) {
        return false;
    }
    *index = service->ranges[service->range].first + service->done;
    return true;
}

/* false: there is no room for another range. */
static bool add_index(oc_cast_range_t *ranges, uint32_t *num_ranges, uint32_t index)
{
    oc_cast_range_t *range = &ranges[*num_ranges];

    if (*num_ranges > 0 && range[-1].first + range[-1].count == index) {
        range[-1].count++;
        return true;
    }
    if (OC_CAST_MAX_RANGES == *num_ranges) {
        return false;
    }
    *range = (oc_cast_range_t) {.first = index, .count = 1};
    (*num_ranges)++;
    return true;
}

/*
 * What is not here yet is kept for later, as far as there is room to keep it. Who asked for more
 * lacks it after the last answer, and asks again.
 */
static void serve_keep(oc_cast_service_t *service, uint32_t index)
{
    if (service->wait) {
        (void) add_index(service->left, &service->num_left, index);
    }
}

/* Takes what is here into a message; false: there is more for another one. */
static bool serve_fill(oc_cast_group_t *group, oc_cast_service_t *service,
                       oc_cast_message_t *message)
{
    oc_cast_operation_t *operation = group->active;
    const oc_block_t *block = &operation->blocks[service->block];
    bool alone = answers_alone(group, service);
    uint32_t index;

    while (next_fragment(service, &index)) {
        uint32_t length = oc_fragment_length(group, block, index);

        if (!alone && oc_recast_lately(operation, service->block, index)) {
            service->recast++;
        } else if (!oc_fragment_here(group, service->block, index)) {
            serve_keep(service, index);
        } else if (!alone && oc_recast_wanted(group, service, index)) {
            if (!oc_recast_send(group, service->block, index)) {
                return false;
            }
            service->recast++;
        } else if (message->data_length + length > OC_CAST_MESSAGE_MAX - OC_CAST_HEAD_MAX
                   || !add_index(message->ranges, &message->num_ranges, index)) {
            return false;
        } else {
            oc_fragment_read(group, service->block, index,
                             group->scratch + message->data_length);
            message->data_length += length;
            service->given++;
            if (is_remote(group, service)) {
                oc_recast_given(group, service, index);
            }
        }
        service->done++;
    }
    return true;
}

/* Everything was looked at: what was not here is what is asked for from now on. */
static void park(oc_cast_service_t *service)
{
    assert(service->range == service->num_ranges && service->num_left <= OC_CAST_MAX_RANGES);
    memcpy(service->ranges, service->left, service->num_left * sizeof(oc_cast_range_t));
    service->num_ranges = service->num_left;
    service->num_left = service->range = service->done = 0;
    service->parked = true;
}

/* One message for a service; what is not here is left out. */
static void serve(oc_cast_group_t *group, oc_cast_service_t *service, uint64_t now)
{
    oc_cast_message_t message = {
        .kind = OC_CAST_REPAIR,
        .generation = group->active->generation,
        .block = service->block,
        .number = service->number,
        .data = group->scratch,
    };
    bool all;

    if (0 == service->range && 0 == service->done) { /* what comes from now on may be looked for */
        service->seen = group->active->blocks[service->block].news;
    }
    service->parked = false;
    all = serve_fill(group, service, &message);
    if (NULL != oc_memory_trouble(group->active)) {
        return; /* the group is going to fail */
    }
    message.last = all && 0 == service->num_left;
    message.given = service->given;
    message.recast = service->recast;
    if (message.last || message.num_ranges > 0 || !service->answered
        || now - service->told >= OC_CAST_ASSURANCE) {
        oc_cast_post(group, service->requester, &message);
        service->answered = true;
        service->told = now;
    }
    if (message.last) {
        serve_end(group->active, service);
    } else if (all) {
        park(service);
    }
}

/* Whether nothing has come since that could be for it, and its requester need not be told so. */
static bool rests(const oc_cast_group_t *group, const oc_cast_service_t *service, uint64_t now)
{
    return service->parked && service->seen == group->active->blocks[service->block].news
           && now - service->told < OC_CAST_ASSURANCE;
}

uint64_t oc_serve_progress(oc_cast_group_t *group, uint64_t now)
{
    const oc_cast_net_t *net = &group->config.net;
    oc_cast_service_t *service, *next;
    uint64_t due = UINT64_MAX, when;

    oc_recast_progress(group, now);

    DL_FOREACH_SAFE (group->active->services, service, next) {
        if (rests(group, service, now)) {
            continue;
        }
        if (service->parked && may_recast(group, service)) {
            /* there is news: perhaps all get it again, and it need not be sent */
            service->parked = false;
            service->due = now + oc_pace_interval(group);
        }
        when = answers_alone(group, service) ? now : service->due;
        if (now >= when) {
            if (net->room(net->context, service->requester) >= OC_CAST_MESSAGE_MAX) {
                serve(group, service, now);
            }
            when = now + OC_MILLISECOND;
        }
        due = when < due ? when : due;
    }
    return due;
}
