/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives peers the fragments that they lack, as fast as they can take them. */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "multicast/cast_types.h"

static bool ranges_fit(const oc_cast_message_t *message, uint32_t fragments)
{
    for (uint32_t i = 0; i < message->num_ranges; i++) {
        const oc_range_t *range = &message->ranges[i];

        if (range->first >= fragments || range->count > fragments - range->first) {
            return false;
        }
    }
    return message->num_ranges > 0;
}

static unsigned held_for(const oc_cast_operation_t *operation, uint32_t rank)
{
    const oc_cast_service_t *service;
    unsigned count = 0;

    DL_FOREACH (operation->services, service) {
        count += service->requester == rank;
    }
    return count;
}

/* Somebody else has to help. */
static void decline(oc_cast_group_t *group, const oc_cast_message_t *request)
{
    oc_cast_message_t answer = {
        .kind = OC_CAST_REPAIR,
        .generation = request->generation,
        .block = request->block,
        .number = request->number,
        .last = true,
    };

    oc_cast_post(group, request->rank, &answer);
}

void oc_serve_request(oc_cast_group_t *group, const oc_cast_message_t *message)
{
    oc_cast_operation_t *operation = group->active;
    oc_cast_service_t *service;

    if (message->block >= group->config.num_ranks
        || !ranges_fit(message, operation->blocks[message->block].fragments)) {
        group->config.counters->fragments_foreign++;
        return;
    }
    if (held_for(operation, message->rank) >= OC_CAST_MAX_SERVICES) {
        return; /* more than a rank asks for before it has answers */
    }
    service = calloc(1, sizeof(*service));
    if (NULL == service) {
        decline(group, message);
        return;
    }
    service->requester = message->rank;
    service->number = message->number;
    service->block = message->block;
    service->num_ranges = message->num_ranges;
    memcpy(service->ranges, message->ranges, message->num_ranges * sizeof(oc_range_t));
    DL_APPEND(operation->services, service);
}

void oc_serve_poll(oc_cast_group_t *group, const oc_cast_message_t *message)
{
    oc_cast_message_t answer = {
        .kind = OC_CAST_SENT,
        .generation = group->active->generation,
        .number = group->active->sent,
    };

    oc_cast_post(group, message->rank, &answer);
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
static bool add_index(oc_cast_message_t *message, uint32_t index)
{
    oc_range_t *range = &message->ranges[message->num_ranges];

    if (message->num_ranges > 0 && range[-1].first + range[-1].count == index) {
        range[-1].count++;
        return true;
    }
    if (OC_CAST_MAX_RANGES == message->num_ranges) {
        return false;
    }
    *range = (oc_range_t) {.first = index, .count = 1};
    message->num_ranges++;
    return true;
}

/* One message for a service; what is not here is left out. */
static void serve(oc_cast_group_t *group, oc_cast_service_t *service)
{
    const oc_block_t *block = &group->active->blocks[service->block];
    oc_cast_message_t message = {
        .kind = OC_CAST_REPAIR,
        .generation = group->active->generation,
        .block = service->block,
        .number = service->number,
        .data = group->scratch,
    };
    uint32_t index;
    bool more;

    while ((more = next_fragment(service, &index))) {
        uint32_t length = oc_fragment_length(group, block, index);

        if (oc_fragment_here(group, service->block, index)) {
            if (message.data_length + length > OC_CAST_MESSAGE_MAX - OC_CAST_HEAD_MAX
                || !add_index(&message, index)) {
                break;
            }
            oc_fragment_read(group, service->block, index,
                             group->scratch + message.data_length);
            message.data_length += length;
        }
        service->done++;
    }
    message.last = !more;
    oc_cast_post(group, service->requester, &message);
    if (message.last) {
        DL_DELETE(group->active->services, service);
        free(service);
    }
}

bool oc_serve_progress(oc_cast_group_t *group)
{
    const oc_cast_net_t *net = &group->config.net;
    oc_cast_service_t *service, *next;

    DL_FOREACH_SAFE (group->active->services, service, next) {
        if (net->room(net->context, service->requester) >= OC_CAST_MESSAGE_MAX) {
            serve(group, service);
        }
    }
    return NULL != group->active->services;
}

void oc_serve_end(oc_cast_operation_t *operation)
{
    oc_cast_service_t *service, *next;

    DL_FOREACH_SAFE (operation->services, service, next) {
        DL_DELETE(operation->services, service);
        free(service);
    }
}
