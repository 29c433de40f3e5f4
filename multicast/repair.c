/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what is missing and asks for it. Every few milliseconds all blocks are looked at:
 *
 *   - A fragment is missing if a later one of the same block was here at the look before.
 *   - If nothing is known to be missing and the block's owner should be sending, but has been
 *     silent for longer than it takes to send some fragments, it is asked how much it has sent.
 *     Its answer is as good as the arrival of its last fragment.
 *
 * So nothing is asked for that was not sent, however slow its sender is. Requests go to ranks
 * on the same host first, then to any, then to the block's owner, who has everything; several
 * are out at once, and each has a deadline. What arrives late by multicast still counts.
 *
 * A rank that is elsewhere answers when it is back: it is not asked again and again meanwhile.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "multicast/cast_types.h"

#define MAX_REQUESTS       32u
#define MAX_UNANSWERED     8u /* of one rank; it holds OC_CAST_MAX_SERVICES */
#define MAX_REQUEST_BYTES  (128u << 10)
#define MIN_ASKED_BYTES    (256u << 10) /* all requests together, or the window if that is more */
#define MIN_DEADLINE       (50 * OC_MILLISECOND)
#define MAX_DEADLINE       (2 * OC_SECOND)
#define MIN_SILENCE        (5 * OC_MILLISECOND)
#define MAX_SILENCE        OC_SECOND
#define SILENT_FRAGMENTS   8u

enum { ASK_HOST, ASK_ANY, ASK_OWNER };

static bool is_candidate(const oc_cast_group_t *group, uint32_t rank, bool same_host)
{
    return rank != group->config.rank
           && (!same_host || group->hosts[rank] == group->hosts[group->config.rank])
           && group->active->unanswered[rank] < MAX_UNANSWERED;
}

/* Another one each time; num_ranks: there is none. */
static uint32_t rotate(oc_cast_group_t *group, bool same_host)
{
    for (uint32_t i = 0; i < group->config.num_ranks; i++) {
        uint32_t rank = group->rotation++ % group->config.num_ranks;

        if (is_candidate(group, rank, same_host)) {
            return rank;
        }
    }
    return group->config.num_ranks;
}

static bool has_company(const oc_cast_group_t *group)
{
    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        if (is_candidate(group, rank, true)) {
            return true;
        }
    }
    return false;
}

/* num_ranks: everybody who could be asked still has enough to answer. */
static uint32_t choose_source(oc_cast_group_t *group, uint32_t owner, oc_block_t *block)
{
    if (block->failures > 0) {
        block->attempt = ASK_OWNER;
    }
    if (ASK_HOST == block->attempt && !has_company(group)) {
        block->attempt = ASK_ANY;
    }
    if (block->attempt >= ASK_OWNER) {
        return is_candidate(group, owner, false) ? owner : group->config.num_ranks;
    }
    return rotate(group, ASK_HOST == block->attempt);
}

static void mark_asked(oc_cast_group_t *group, const oc_block_t *block, uint32_t index)
{
    oc_cast_operation_t *operation = group->active;

    oc_bit_set(operation->asked, block->first + index);
    if (!oc_bit(operation->lost, block->first + index)) {
        oc_bit_set(operation->lost, block->first + index);
        group->config.counters->fragments_lost++;
    }
}

static bool is_missing(const oc_cast_operation_t *operation, const oc_block_t *block,
                       uint32_t index)
{
    uint64_t bit = block->first + index;

    return !oc_bit(operation->present, bit) && !oc_bit(operation->asked, bit);
}

/* Collects what is missing below the mark, up to the size of a request. */
static void collect(oc_cast_group_t *group, oc_block_t *block, oc_cast_request_t *request)
{
    const oc_cast_operation_t *operation = group->active;
    uint32_t most = MAX_REQUEST_BYTES / group->payload + 1, index;

    for (index = block->clean; index < block->mark && request->fragments < most; index++) {
        oc_range_t *range = &request->ranges[request->num_ranges];

        if (!is_missing(operation, block, index)) {
            continue;
        }
        if (request->num_ranges > 0 && range[-1].first + range[-1].count == index) {
            range[-1].count++;
        } else if (OC_CAST_MAX_RANGES == request->num_ranges) {
            break;
        } else {
            *range = (oc_range_t) {.first = index, .count = 1};
            request->num_ranges++;
        }
        request->fragments++;
        mark_asked(group, block, index);
    }
    block->clean = index;
}

static uint64_t deadline_of(const oc_cast_operation_t *operation, uint64_t now)
{
    uint64_t wait = 4 * operation->round_trip + MIN_DEADLINE;

    return now + (wait < MAX_DEADLINE ? wait : MAX_DEADLINE);
}

static void send_request(oc_cast_group_t *group, oc_cast_request_t *request)
{
    oc_cast_message_t message = {
        .kind = OC_CAST_REQUEST,
        .generation = group->active->generation,
        .block = request->block,
        .number = request->number,
        .num_ranges = request->num_ranges,
    };

    memcpy(message.ranges, request->ranges, request->num_ranges * sizeof(oc_range_t));
    oc_cast_post(group, request->source, &message);
}

/* false: there is nothing to ask for, or not now. */
static bool ask(oc_cast_group_t *group, uint32_t rank, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    oc_block_t *block = &operation->blocks[rank];
    uint64_t most = group->config.window > MIN_ASKED_BYTES ? group->config.window
                                                            : MIN_ASKED_BYTES;
    oc_cast_request_t *request;
    uint32_t source;

    if (block->complete || block->clean >= block->mark
        || operation->num_requests >= MAX_REQUESTS
        || operation->asked_fragments * group->payload >= most) {
        return false;
    }
    source = choose_source(group, rank, block);
    request = source < group->config.num_ranks ? calloc(1, sizeof(*request)) : NULL;
    if (NULL == request) {
        return false; /* the next look tries again */
    }
    collect(group, block, request);
    if (0 == request->fragments) {
        free(request);
        return false;
    }
    request->number = operation->next_request++;
    request->block = rank;
    request->source = source;
    request->asked = now;
    request->deadline = deadline_of(operation, now);
    DL_APPEND(operation->requests, request);
    operation->num_requests++;
    operation->asked_fragments += request->fragments;
    operation->unanswered[source]++;
    send_request(group, request);
    return true;
}

/* What did not come is missing again, and somebody else is asked for it. */
static void close_request(oc_cast_group_t *group, oc_cast_request_t *request)
{
    oc_cast_operation_t *operation = group->active;
    oc_block_t *block = &operation->blocks[request->block];
    bool all = true;

    for (uint32_t i = 0; i < request->num_ranges; i++) {
        const oc_range_t *range = &request->ranges[i];

        for (uint32_t index = range->first; index < range->first + range->count; index++) {
            oc_bit_clear(operation->asked, block->first + index);
            if (!oc_bit(operation->present, block->first + index)) {
                block->clean = index < block->clean ? index : block->clean;
                all = false;
            }
        }
    }
    block->attempt = all ? ASK_HOST : block->attempt + 1;
    operation->asked_fragments -= request->fragments;
    operation->num_requests--;
    DL_DELETE(operation->requests, request);
    free(request);
}

static void expire(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    oc_cast_request_t *request, *next;

    DL_FOREACH_SAFE (operation->requests, request, next) {
        if (now >= request->deadline) {
            operation->round_trip *= operation->round_trip < OC_SECOND ? 2 : 1;
            close_request(group, request);
        }
    }
}

/* Whether more of a block is to come and nobody knows whether it was sent. */
static bool is_silent(const oc_cast_operation_t *operation, uint32_t rank, uint64_t now)
{
    const oc_block_t *block = &operation->blocks[rank];

    return !block->complete && !block->polled && block->high < block->fragments
           && now - block->heard >= block->patience && oc_chains_expects(operation, rank);
}

/* A latency, and the time that some fragments should take by what has arrived. */
static uint64_t expected_silence(const oc_cast_operation_t *operation, const oc_block_t *block,
                                 uint64_t now)
{
    uint64_t silence = MIN_SILENCE
                       + SILENT_FRAGMENTS * ((now - operation->begun) / (block->received + 1));

    return silence < MAX_SILENCE ? silence : MAX_SILENCE;
}

static void poll_owner(oc_cast_group_t *group, uint32_t rank, uint64_t now)
{
    oc_block_t *block = &group->active->blocks[rank];

    if (0 == block->patience) { /* first look since there was news */
        block->patience = expected_silence(group->active, block, now);
    }
    if (!is_silent(group->active, rank, now)) {
        return;
    }
    block->patience = 2 * block->patience < MAX_SILENCE ? 2 * block->patience : MAX_SILENCE;
    block->heard = now;
    block->polled = true;
    oc_cast_post_plain(group, rank, OC_CAST_POLL);
}

/* Asks for whatever is missing; in a new look, what is not there yet is missing in the next. */
static void look_at_block(oc_cast_group_t *group, uint32_t rank, bool new_look, uint64_t now)
{
    oc_block_t *block = &group->active->blocks[rank];

    while (ask(group, rank, now)) {
    }
    if (new_look) {
        block->mark = block->high;
        poll_owner(group, rank, now);
    }
}

uint64_t oc_repair_look(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    bool new_look = now >= operation->look_at;

    if (!new_look && !operation->look_again) {
        return operation->look_at;
    }
    operation->look_again = false;
    expire(group, now);
    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        if (!operation->blocks[rank].complete) {
            look_at_block(group, rank, new_look, now);
        }
    }
    if (new_look) {
        operation->look_at =
            now + (operation->incomplete > 0 ? OC_CAST_REORDER : OC_CAST_MAX_STEP);
    }
    return operation->look_at;
}

static oc_cast_request_t *find_request(const oc_cast_operation_t *operation,
                                       const oc_cast_message_t *message)
{
    oc_cast_request_t *request;

    DL_FOREACH (operation->requests, request) {
        if (request->number == message->number && request->source == message->rank
            && request->block == message->block) {
            return request;
        }
    }
    return NULL;
}

/* Once its checksum was wrong, only the owner of a block is believed. */
static bool is_believed(const oc_cast_group_t *group, const oc_cast_message_t *message)
{
    return 0 == group->active->blocks[message->block].failures
           || message->rank == message->block;
}

/* false: the data is not what the ranges say. */
static bool place_all(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now)
{
    const oc_block_t *block = &group->active->blocks[message->block];
    const uint8_t *at = message->data, *end = message->data + message->data_length;

    for (uint32_t i = 0; i < message->num_ranges; i++) {
        const oc_range_t *range = &message->ranges[i];

        if (range->first >= block->fragments || range->count > block->fragments - range->first) {
            return false;
        }
        for (uint32_t index = range->first; index < range->first + range->count; index++) {
            uint32_t length = oc_fragment_length(group, block, index);

            if ((size_t) (end - at) < length) {
                return false;
            }
            if (oc_fragment_place(group, message->block, index, at, now)) {
                group->config.counters->fragments_recovered++;
            } else {
                group->config.counters->fragments_duplicated++;
            }
            at += length;
            if (OC_OK != group->status || !is_believed(group, message)) {
                return true;
            }
        }
    }
    return at == end;
}

void oc_repair_message(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    oc_cast_request_t *request;

    if (message->block >= group->config.num_ranks || message->block == group->config.rank
        || (is_believed(group, message) && !place_all(group, message, now))) {
        group->config.counters->fragments_foreign++;
        return;
    }
    if (OC_OK != group->status) {
        return; /* the last of too many wrong checksums: there is no operation any more */
    }
    if (message->last && operation->unanswered[message->rank] > 0) {
        operation->unanswered[message->rank]--;
    }
    request = find_request(operation, message);
    if (NULL == request) {
        return;
    }
    request->deadline = deadline_of(operation, now);
    if (message->last) {
        operation->round_trip = (3 * operation->round_trip + (now - request->asked)) / 4;
        close_request(group, request);
        operation->look_again = true; /* there is room for another one */
    }
}

void oc_repair_sent(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now)
{
    oc_block_t *block = &group->active->blocks[message->rank];

    block->polled = false;
    if (message->number <= block->fragments) {
        oc_fragment_sent(group, message->rank, message->number, now);
    }
}

void oc_repair_end(oc_cast_operation_t *operation)
{
    oc_cast_request_t *request, *next;

    DL_FOREACH_SAFE (operation->requests, request, next) {
        DL_DELETE(operation->requests, request);
        free(request);
    }
}
