/* SPDX-License-Identifier: BSD-3-Clause */
/* Own fragments go out, in order, as fast as schedule and network allow. */
#include "multicast/core/send.h"

#include <assert.h>
#include <string.h>

#include "multicast/core/backoff.h"
#include "multicast/core/cast_memory.h"
#include "multicast/core/chain.h"
#include "multicast/core/fragment.h"
#include "multicast/core/pace.h"
#include "multicast/core/post.h"
#include "multicast/core/unicast.h"

static void fill_header(const oc_cast_group_t *group, oc_outgoing_t *outgoing, uint32_t index)
{
    uint8_t *code = group->active->codes[index % OC_MAX_BATCH];
    oc_datagram_t datagram = {
        .kind = OC_DATAGRAM_FRAGMENT,
        .token = group->config.token,
        .generation = group->active->generation,
        .rank = group->config.rank,
        .index = index,
        .length = (uint16_t) outgoing->length,
    };

    oc_datagram_encode(&datagram, outgoing->header);
    if (index >= group->active->sealed) {
        oc_cast_seal_datagram(group->seal, group->operations, &datagram, outgoing->payload,
                         outgoing->header);
        memcpy(code, outgoing->header, OC_MAC_SIZE);
        group->active->sealed = index + 1;
    } else {
        memcpy(outgoing->header, code, OC_MAC_SIZE); /* the network had no room for it before */
    }
}

/* The last data and the trailer are not side by side in memory: they are copied. */
static const void *payload_of(oc_cast_group_t *group, const oc_block_t *own, uint32_t index,
                              size_t length)
{
    oc_cast_operation_t *operation = group->active;
    uint64_t at = (uint64_t) index * group->payload;
    uint8_t *copy;

    oc_fragment_sum_own(group, index);
    if (NULL != operation->batch) {
        copy = operation->batch + (size_t) (index % OC_MAX_BATCH) * group->payload;
        oc_fragment_read(group, group->config.rank, index, copy);
        return copy;
    }
    if (at + length <= own->length) {
        return operation->source + at;
    }
    copy = operation->tail + (index + 1 == own->fragments ? group->payload : 0);
    oc_fragment_read(group, group->config.rank, index, copy);
    return copy;
}

/*
 * The next one is told before the end: what is under way delays this message as well, and credit
 * keeps both from being farther ahead than one may be.
 */
static void pass_turn(oc_cast_group_t *group)
{
    oc_cast_operation_t *operation = group->active;
    uint32_t next = oc_chains_next(group);

    operation->turn_passed = true;
    if (next < group->config.num_ranks) {
        oc_cast_post_plain(group, next, OC_CAST_TURN);
    }
}

static void count_sent(oc_cast_group_t *group, uint32_t taken, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;

    assert(taken <= operation->blocks[group->config.rank].fragments - operation->sent);
    operation->sent += taken;
    operation->cast += taken;
    oc_pace_sent(operation, taken, now);
    group->config.counters->fragments_sent += taken;
    oc_fragment_sent(group, group->config.rank, operation->sent, now);
    if (!operation->turn_passed && oc_chains_nears_end(group)) {
        pass_turn(group);
    }
}

bool oc_cast_send(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    const oc_block_t *own = &operation->blocks[group->config.rank];
    oc_outgoing_t batch[OC_MAX_BATCH];
    uint32_t count, limit, ready = oc_fragments_ready(group), most, taken;

    operation->blocked = false;
    if (group->unicast) {
        return oc_unicast_offer(group, now);
    }
    if (!operation->turn || operation->sent == own->fragments) {
        return false;
    }
    limit = oc_chains_limit(group, now);
    limit = ready < limit ? ready : limit;
    if (limit <= operation->sent) {
        return false;
    }
    most = oc_backoff_batch(group);
    count = limit - operation->sent < most ? limit - operation->sent : most;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = operation->sent + i;

        batch[i].length = oc_fragment_length(group, own, index);
        batch[i].payload = payload_of(group, own, index, batch[i].length);
        fill_header(group, &batch[i], index);
    }
    if (NULL != oc_memory_trouble(operation)) {
        return false;
    }
    taken = group->config.net.cast(group->config.net.context, batch, count);
    assert(taken <= count);
    operation->blocked = taken < count;
    count_sent(group, taken, now);
    return !operation->blocked && operation->sent < limit;
}
