/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what is missing and asks for it. About each millisecond the blocks are looked at that are open:
 *
 *   - A fragment is missing if a later one of the same block was here at the look before.
 *   - If nothing is known to be missing and the block's owner should be sending, but has been
 *     silent for longer than it takes to send some fragments, others are asked how much it has sent
 *     (poll.h). Their answer is as good as the arrival of the last fragment.
 *
 * So nothing is asked for that was not sent, however slow its sender is. Several requests are out
 * at once, and each has a deadline. What arrives late by multicast still counts.
 *
 * Sources may wait for others for what they are asked for. So that no circle of ranks waits for each
 * other, blocks are looked at in the order in which they travel, those of the host before first, and
 * for the first one that lacks something a request may always be sent: among all ranks, the one whose
 * first block has come the shortest way asks a rank that has it.
 */
#include "multicast/core/repair.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "multicast/core/backoff.h"
#include "multicast/core/chain.h"
#include "multicast/core/fragment.h"
#include "multicast/core/open_blocks.h"
#include "multicast/core/pace.h"
#include "multicast/core/partners.h"
#include "multicast/core/poll.h"
#include "multicast/core/post.h"
#include "multicast/core/recast.h"
#include "multicast/core/reception.h"
#include "multicast/core/source.h"
#include "multicast/core/unicast.h"

#define MAX_REQUESTS       32u
#define MAX_MISSED         2u /* then multicast does not help: losses are rarer */
#define MAX_REQUEST_BYTES  (128u << 10)
#define MIN_ASKED_BYTES    (256u << 10) /* all requests together, or the window if that is more */
#define MIN_DEADLINE       (50 * OC_MILLISECOND)
#define MAX_DEADLINE       (2 * OC_SECOND)
#define MAX_ROUND_TRIP     (OC_SECOND / 2)
#define QUIET_LOOKS        4u /* on end, then time between looks doubles */
#define MAX_QUIET_SHIFT    4u

static void mark_lost(oc_cast_group_t *group, const oc_block_t *block, uint32_t index)
{
    uint64_t *lost = group->active->lost;

    if (!oc_bit(lost, block->first + index)) {
        oc_bit_set(lost, block->first + index);
        group->config.counters->fragments_lost++;
    }
}

void oc_repair_came(oc_cast_group_t *group, uint32_t owner, uint32_t index)
{
    mark_lost(group, &group->active->blocks[owner], index);
}

static bool is_missing(const oc_cast_operation_t *operation, const oc_block_t *block,
                       uint32_t index)
{
    uint64_t bit = block->first + index;

    return !oc_bit(operation->present, bit) && !oc_bit(operation->asked, bit);
}

/* Collects what is missing below the mark, up to the size of a request. */
static void repair_collect(oc_cast_group_t *group, oc_block_t *block, oc_cast_request_t *request)
{
    const oc_cast_operation_t *operation = group->active;
    uint32_t most = MAX_REQUEST_BYTES / group->payload + 1, index;

    assert(block->mark <= block->fragments && 0 == request->num_ranges);
    for (index = block->clean; index < block->mark && request->fragments < most; index++) {
        oc_cast_range_t *range = &request->ranges[request->num_ranges];

        if (!is_missing(operation, block, index)) {
            continue;
        }
        if (request->num_ranges > 0 && range[-1].first + range[-1].count == index) {
            range[-1].count++;
        } else if (OC_CAST_MAX_RANGES == request->num_ranges) {
            break;
        } else {
            *range = (oc_cast_range_t) {.first = index, .count = 1};
            request->num_ranges++;
        }
        request->fragments++;
        oc_bit_set(operation->asked, block->first + index);
        mark_lost(group, block, index);
    }
    block->clean = index;
}

/*
 * A source that waits itself has longer. Impatience would only put on the link what is coming:
 * if it is elsewhere, the operation is not over before it is back.
 */
static uint64_t deadline_of(const oc_cast_group_t *group, bool wait, uint64_t now)
{
    uint64_t time = (wait ? 4 : 1) * (4 * group->round_trip + MIN_DEADLINE);

    return now + (time < MAX_DEADLINE ? time : MAX_DEADLINE);
}

static void send_request(oc_cast_group_t *group, oc_cast_request_t *request)
{
    const oc_block_t *block = &group->active->blocks[request->block];
    oc_cast_message_t message = {
        .kind = OC_CAST_REQUEST,
        .generation = group->active->generation,
        .block = request->block,
        .number = request->number,
        .wait = request->wait,
        .alone = block->missed >= MAX_MISSED || block->failures > 0 || oc_recast_is_in_vain(group)
                 || oc_reception_is_dry(group, request->block),
        .num_ranges = request->num_ranges,
    };

    memcpy(message.ranges, request->ranges, request->num_ranges * sizeof(oc_cast_range_t));
    oc_cast_post(group, request->source, &message);
}

/*
 * Requests to ranks of this host have a budget of their own: these may in turn be waiting for this
 * rank, which must not keep it from fetching.
 */
static bool has_budget(const oc_cast_group_t *group, bool near)
{
    const oc_cast_budget_t *asked = &group->active->asked_of[near];
    uint64_t most = group->config.window > MIN_ASKED_BYTES ? group->config.window
                                                            : MIN_ASKED_BYTES;

    return asked->requests < MAX_REQUESTS && asked->fragments * group->payload < most;
}

static void charge(oc_cast_operation_t *operation, const oc_cast_request_t *request, int sign)
{
    oc_cast_budget_t *asked = &operation->asked_of[request->near];

    assert(sign > 0 || (asked->requests > 0 && asked->fragments >= request->fragments));
    asked->requests += (uint32_t) sign;
    asked->fragments += (uint64_t) (sign * (int64_t) request->fragments);
}

static void open_request(oc_cast_group_t *group, oc_cast_request_t *request, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;

    assert(request->source != group->config.rank && request->block != group->config.rank);
    assert(request->num_ranges > 0 && operation->unanswered[request->source] < UINT8_MAX);
    request->number = operation->next_request++;
    request->asked = request->fed = now;
    request->heard = operation->heard;
    request->deadline = deadline_of(group, request->wait, now);
    DL_APPEND(operation->requests, request);
    charge(operation, request, 1);
    operation->unanswered[request->source]++;
    operation->blocks[request->block].requests++;
    send_request(group, request);
}

static void tell_lost(oc_cast_group_t *group, const oc_cast_request_t *request)
{
    const oc_cast_range_t *last = &request->ranges[request->num_ranges - 1];

    oc_backoff_lost(group, request->block, last->first + last->count);
}

/* false: there is nothing to ask for, or not now. urgent: other requests must not keep it back. */
static bool ask(oc_cast_group_t *group, uint32_t rank, bool urgent, uint64_t now)
{
    oc_block_t *block = &group->active->blocks[rank];
    oc_cast_request_t *request;
    oc_cast_source_t source;
    bool near;

    if (block->complete || block->clean >= block->mark
        || !(urgent || has_budget(group, false) || has_budget(group, true))) {
        return false;
    }
    source = oc_source_choose(group, rank, urgent);
    if (source.rank == group->config.num_ranks) {
        return false;
    }
    near = oc_partners_share_host(group, source.rank, group->config.rank);
    if (!urgent && !has_budget(group, near)) {
        return false;
    }
    request = calloc(1, sizeof(*request));
    if (NULL == request) {
        return false; /* the next look tries again */
    }
    request->block = rank;
    request->source = source.rank;
    request->wait = source.wait;
    request->near = near;
    request->attempt = source.attempt;
    repair_collect(group, block, request);
    if (0 == request->fragments) {
        free(request);
        return false;
    }
    tell_lost(group, request);
    open_request(group, request, now);
    return true;
}

/* What did not come is missing again, and somebody else is asked for it. */
static void close_request(oc_cast_group_t *group, oc_cast_request_t *request)
{
    oc_cast_operation_t *operation = group->active;
    oc_block_t *block = &operation->blocks[request->block];
    bool all = true;

    for (uint32_t i = 0; i < request->num_ranges; i++) {
        const oc_cast_range_t *range = &request->ranges[i];

        assert(range->first + range->count <= block->fragments);
        for (uint32_t index = range->first; index < range->first + range->count; index++) {
            oc_bit_clear(operation->asked, block->first + index);
            if (!oc_bit(operation->present, block->first + index)) {
                block->clean = index < block->clean ? index : block->clean;
                all = false;
            }
        }
    }
    if (all) {
        block->attempt = 0;
    } else if (request->recast) {
        block->missed++;
        operation->in_vain = operation->in_vain || request->heard == operation->heard;
    } else if (block->attempt <= request->attempt) {
        block->attempt = request->attempt + 1;
    }
    charge(operation, request, -1);
    block->requests--;
    DL_DELETE(operation->requests, request);
    free(request);
}

static void learn_round_trip(oc_cast_group_t *group, uint64_t time)
{
    group->round_trip = time < MAX_ROUND_TRIP ? time : MAX_ROUND_TRIP;
}

/* What its source has not sent by now would only come twice. */
static void withdraw(oc_cast_group_t *group, const oc_cast_request_t *request)
{
    oc_cast_message_t message = {
        .kind = OC_CAST_WITHDRAW,
        .generation = group->active->generation,
        .block = request->block,
        .number = request->number,
    };

    oc_cast_post(group, request->source, &message);
}

static void expire(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    oc_cast_request_t *request, *next;
    bool any = false;

    DL_FOREACH_SAFE (operation->requests, request, next) {
        if (now >= request->deadline) {
            operation->overdue[request->source] += !request->answered;
            if (!request->answered) {
                withdraw(group, request);
                any = true;
            }
            close_request(group, request);
        }
    }
    if (any) {
        learn_round_trip(group, 2 * group->round_trip);
    }
}

void oc_repair_absent(oc_cast_operation_t *operation, uint64_t time)
{
    oc_cast_request_t *request;

    DL_FOREACH (operation->requests, request) {
        request->deadline += time;
        request->asked += time;
    }
}

/* Asks for whatever is missing; in a new look, what is not there yet is missing in the next. */
static void look_at_block(oc_cast_group_t *group, uint32_t rank, bool new_look, bool spare[2],
                          uint64_t now)
{
    oc_block_t *block = &group->active->blocks[rank];
    bool *may = &spare[oc_partners_fetcher(group, group->config.rank, rank) != group->config.rank];
    bool urgent = *may && 0 == block->requests;

    if (new_look) {
        oc_reception_look(group, rank);
    }
    *may = *may && 0 == block->requests && block->clean >= block->mark;
    while (ask(group, rank, urgent, now)) {
        urgent = false;
    }
    if (new_look) {
        block->mark = block->high;
        block->marked = block->came;
        block->told = false;
        block->news = block->received;
    }
    if (new_look || oc_reception_is_dry(group, rank)) {
        oc_poll_look(group, rank, now);
    }
    if (new_look) {
        if (0 == block->high && !oc_chains_expects(group->active, rank)) {
            oc_open_blocks_remove(group, rank); /* nothing can be missing before it is sent */
        }
    }
}

/* After a new look. As long as all wait for somebody who computes, nothing comes. */
static uint64_t until_look(oc_cast_group_t *group)
{
    oc_cast_operation_t *operation = group->active;
    uint64_t time = oc_pace_interval(group);
    uint32_t shift;

    operation->quiet = operation->look_news ? 0 : operation->quiet + 1;
    operation->look_news = false;
    if (0 == operation->incomplete) {
        return OC_CAST_MAX_STEP;
    }
    shift = operation->quiet / QUIET_LOOKS;
    time <<= shift < MAX_QUIET_SHIFT ? shift : MAX_QUIET_SHIFT;
    return time < OC_CAST_MAX_REORDER ? time : OC_CAST_MAX_REORDER;
}

static uint64_t next_look(const oc_cast_operation_t *operation)
{
    return operation->poll_at < operation->look_at ? operation->poll_at : operation->look_at;
}

/* Once something comes again, the next look is as soon as if it had come all the time. */
static void end_quiet(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;

    if (operation->quiet >= QUIET_LOOKS && operation->look_news) {
        uint64_t at = now + oc_pace_interval(group);

        operation->quiet = 0;
        operation->look_at = at < operation->look_at ? at : operation->look_at;
    }
}

uint64_t oc_repair_look(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    bool new_look, spare[2] = {true, true};

    end_quiet(group, now);
    new_look = now >= operation->look_at;
    if (now >= operation->poll_at) {
        operation->poll_at = UINT64_MAX;
        operation->look_again = true;
    }
    if (!new_look && !operation->look_again) {
        return next_look(operation);
    }
    operation->look_again = false;
    if (group->unicast) {
        oc_unicast_expect_all(group, now);
    }
    expire(group, now);
    for (uint32_t i = oc_open_blocks_next(group, 0); i < group->config.num_ranks;
         i = oc_open_blocks_next(group, i + 1)) {
        look_at_block(group, oc_partners_behind(group, i), new_look, spare, now);
    }
    if (new_look) {
        oc_pace_learn(group, now);
        oc_backoff_moved(group);
        operation->look_at = now + until_look(group);
    }
    return next_look(operation);
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
        const oc_cast_range_t *range = &message->ranges[i];

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

/* Bytes of the ranges, as far as the block has them. */
static uint64_t room_for(const oc_cast_group_t *group, const oc_cast_message_t *message)
{
    const oc_block_t *block = &group->active->blocks[message->block];
    uint64_t room = 0;

    for (uint32_t i = 0; i < message->num_ranges; i++) {
        uint64_t end = (uint64_t) message->ranges[i].first + message->ranges[i].count;

        for (uint64_t at = message->ranges[i].first; at < end && at < block->fragments; at++) {
            room += oc_fragment_length(group, block, (uint32_t) at);
        }
    }
    return room;
}

/* Who owns the block knows what it sends; others may only be wrong. */
static void repair_refuse(oc_cast_group_t *group, const oc_cast_message_t *message)
{
    if (message->rank == message->block) {
        oc_fragment_misfit(group, message->rank, group->config.rank,
                           message->data_length > room_for(group, message));
    } else {
        group->config.counters->fragments_foreign++;
    }
}

static bool request_is_here(const oc_cast_operation_t *operation, const oc_cast_request_t *request)
{
    uint64_t first = operation->blocks[request->block].first;

    for (uint32_t i = 0; i < request->num_ranges; i++) {
        for (uint32_t k = 0; k < request->ranges[i].count; k++) {
            if (!oc_bit(operation->present, first + request->ranges[i].first + k)) {
                return false;
            }
        }
    }
    return true;
}

static uint32_t count_fragments(const oc_cast_message_t *message)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < message->num_ranges; i++) {
        count += message->ranges[i].count;
    }
    return count;
}

static void count_answer(oc_cast_operation_t *operation, uint32_t rank, bool overdue)
{
    if (operation->unanswered[rank] > 0) {
        operation->unanswered[rank]--;
    }
    if (overdue && operation->overdue[rank] > 0) {
        operation->overdue[rank]--;
    }
}

void oc_repair_message(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    oc_cast_request_t *request;

    if (message->block >= group->config.num_ranks || message->block == group->config.rank) {
        group->config.counters->fragments_foreign++;
        return;
    }
    if (is_believed(group, message) && !place_all(group, message, now)) {
        repair_refuse(group, message);
        return;
    }
    if (OC_OK != group->status) {
        return; /* the last of too many wrong checksums: there is no operation any more */
    }
    operation->blocks[message->block].news = operation->blocks[message->block].received;
    request = find_request(operation, message);
    if (message->last) {
        count_answer(operation, message->rank, NULL == request);
    }
    if (NULL == request) {
        return;
    }
    if (message->num_ranges > 0) {
        request->fed = now;
    }
    operation->look_news = true;
    if (now - request->fed < MAX_DEADLINE) { /* or its source waits for what it will not get */
        request->deadline = deadline_of(group, request->wait, now);
    }
    request->taken += count_fragments(message);
    if (message->last) {
        request->answered = true;
        request->given = message->given;
    }
    request->recast = message->recast > 0;
    /* answers come in any order: the last is not the end */
    if (request->answered && request->taken >= request->given) {
        if (request->recast && !request_is_here(operation, request)) {
            request->deadline = now + group->patience;
            return;
        }
        if (!request->wait) {
            learn_round_trip(group, (3 * group->round_trip + (now - request->asked)) / 4);
        }
        close_request(group, request);
        operation->look_again = true; /* there is room for another one */
    }
}
