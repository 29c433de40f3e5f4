/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides what is multicast again, and sends it. */
#include "multicast/core/recast.h"

#include <string.h>
#include <utlist.h>

#include "multicast/core/fragment.h"
#include "multicast/core/partners.h"
#include "multicast/core/reception.h"

bool oc_recast_is_in_vain(const oc_cast_group_t *group)
{
    return group->unicast || group->active->in_vain || oc_reception_is_silent(group);
}

bool oc_recast_lately(const oc_cast_operation_t *operation, uint32_t owner, uint32_t index)
{
    uint64_t bit = operation->blocks[owner].first + index;

    return oc_bit(operation->recast.lately[0], bit) || oc_bit(operation->recast.lately[1], bit);
}

void oc_recast_note(oc_cast_operation_t *operation, uint32_t owner, uint32_t index)
{
    oc_bit_set(operation->recast.lately[0], operation->blocks[owner].first + index);
    operation->recast.noted[0] = true;
}

void oc_recast_progress(oc_cast_group_t *group, uint64_t now)
{
    oc_recast_t *recast = &group->active->recast;
    uint64_t *oldest = recast->lately[1];

    if (now < recast->epoch_ends) {
        return;
    }
    recast->epoch_ends = now + group->patience;
    if (!recast->noted[0] && !recast->noted[1]) {
        return;
    }
    if (recast->noted[1]) {
        memset(oldest, 0, recast->words * sizeof(*oldest));
    }
    recast->lately[1] = recast->lately[0];
    recast->lately[0] = oldest;
    recast->noted[1] = recast->noted[0];
    recast->noted[0] = false;
}

static bool has_index(const oc_cast_service_t *service, uint32_t index)
{
    for (uint32_t i = service->range; i < service->num_ranges; i++) {
        const oc_cast_range_t *range = &service->ranges[i];

        if (index >= range->first && index - range->first < range->count) {
            return true;
        }
    }
    return false;
}

/* Of the requester; never 0. */
static uint16_t host_of(const oc_cast_group_t *group, const oc_cast_service_t *service)
{
    return (uint16_t) (group->places.of[service->requester] + 1);
}

bool oc_recast_wanted(const oc_cast_group_t *group, const oc_cast_service_t *service,
                      uint32_t index)
{
    const oc_cast_operation_t *operation = group->active;
    const oc_cast_service_t *other;
    uint16_t given;

    if (oc_partners_share_host(group, service->requester, group->config.rank)) {
        return false;
    }
    given = operation->recast.given[operation->blocks[service->block].first + index];
    if (0 != given && host_of(group, service) != given) {
        return true; /* another host has got it already */
    }
    DL_FOREACH2 (operation->blocks[service->block].services, other, next_of_block) {
        if (has_index(other, index)
            && !oc_partners_share_host(group, other->requester, service->requester)
            && !oc_partners_share_host(group, other->requester, group->config.rank)) {
            return true;
        }
    }
    return false;
}

void oc_recast_given(oc_cast_group_t *group, const oc_cast_service_t *service, uint32_t index)
{
    const oc_cast_operation_t *operation = group->active;

    operation->recast.given[operation->blocks[service->block].first + index] =
        host_of(group, service);
}

bool oc_recast_send(oc_cast_group_t *group, uint32_t owner, uint32_t index)
{
    const oc_block_t *block = &group->active->blocks[owner];
    uint8_t *payload = group->active->recast.payload;
    oc_outgoing_t outgoing = {.payload = payload,
                              .length = oc_fragment_length(group, block, index)};
    oc_datagram_t datagram = {
        .kind = OC_DATAGRAM_REPAIR,
        .token = group->config.token,
        .generation = group->active->generation,
        .rank = owner,
        .index = index,
        .length = (uint16_t) outgoing.length,
    };

    oc_fragment_read(group, owner, index, payload);
    oc_datagram_encode(&datagram, outgoing.header);
    oc_cast_seal_datagram(group->seal, group->operations, &datagram, payload,
                          outgoing.header);
    if (1 != group->config.net.cast(group->config.net.context, &outgoing, 1)) {
        group->active->blocked = true;
        return false;
    }
    oc_recast_note(group->active, owner, index);
    group->config.counters->fragments_recast++;
    group->config.counters->repair_bytes += outgoing.length;
    return true;
}
