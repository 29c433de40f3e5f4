/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds in a group between two calls of it, whatever others have sent. */
#include "multicast/core/cast_check.h"

#include <utlist.h>

#include "multicast/core/cast_types.h"
#include "multicast/core/chain.h"
#include "multicast/core/partners.h"

/* Bits that are set in first … first + count - 1. */
static uint64_t count_bits(const uint64_t *bits, uint64_t first, uint64_t count)
{
    uint64_t end = first + count, set = 0;

    while (first < end) {
        unsigned at = first % 64;
        uint64_t length = 64 - at < end - first ? 64 - at : end - first;
        uint64_t mask = (64 == length ? ~0ull : (1ull << length) - 1) << at;

        set += (uint64_t) __builtin_popcountll(bits[first / 64] & mask);
        first += length;
    }
    return set;
}

static const char *check_block(const oc_cast_operation_t *operation, const oc_block_t *block,
                               bool own)
{
    if (block->high > block->fragments || block->mark > block->fragments
        || block->clean > block->fragments || block->summed > block->fragments) {
        return "a position is beyond the end of its block";
    }
    if (own) {
        return block->complete ? NULL : "the own block is not complete";
    }
    if (block->received != count_bits(operation->present, block->first, block->fragments)) {
        return "a block has not received as many fragments as its bitmap says";
    }
    if (block->summed > 0
        && block->summed != count_bits(operation->present, block->first, block->summed)) {
        return "a checksum has fragments that are not here";
    }
    if (block->complete != (block->received == block->fragments)) {
        return "a block is complete before all of it is here, or not when it is";
    }
    return NULL;
}

static const char *check_blocks(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;
    uint64_t first = 0;
    uint32_t incomplete = 0;

    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        const oc_block_t *block = &operation->blocks[rank];
        const char *wrong = check_block(operation, block, rank == group->config.rank);

        if (NULL != wrong) {
            return wrong;
        }
        if (block->first != first || block->chain >= operation->num_chains) {
            return "a block is not where it should be";
        }
        first += block->fragments;
        incomplete += !block->complete;
    }
    for (uint64_t word = 0; word <= first / 64; word++) {
        if (0 != (operation->asked[word] & ~operation->lost[word])) {
            return "a fragment was asked for that is not counted as lost";
        }
    }
    return incomplete == operation->incomplete ? NULL : "incomplete blocks are miscounted";
}

static uint32_t first_not_sent(const oc_cast_operation_t *operation, const oc_chain_t *chain)
{
    uint32_t rank = chain->first_rank;

    while (rank < chain->end_rank && operation->blocks[rank].high == operation->blocks[rank].fragments) {
        rank++;
    }
    return rank;
}

/* What a look has to visit, it visits; and nothing twice that is over. */
static const char *check_open(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;
    uint64_t received = 0;

    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        const oc_block_t *block = &operation->blocks[rank];
        bool open = oc_bit(operation->open, oc_partners_number(group, rank));

        received += block->received;
        if (open && block->complete) {
            return "a block is open that is complete";
        }
        if (!open && !block->complete && (block->high > 0 || oc_chains_expects(operation, rank))) {
            return "a block is not open of which something may be missing";
        }
    }
    return received == operation->received ? NULL : "fragments of all blocks are miscounted";
}

static const char *check_chains(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;
    uint32_t next = 0;
    uint64_t coming = 0;

    for (uint32_t k = 0; k < operation->num_chains; k++) {
        const oc_chain_t *chain = &operation->chains[k];
        uint64_t fragments = 0, position = 0;

        if (chain->first_rank != next || chain->end_rank < next) {
            return "a chain does not begin where the one before ends";
        }
        next = chain->end_rank;
        coming += chain->fragments - chain->position;
        for (uint32_t rank = chain->first_rank; rank < next; rank++) {
            fragments += operation->blocks[rank].fragments;
            position += operation->blocks[rank].high;
        }
        if (fragments != chain->fragments || position != chain->position) {
            return "a chain is not the sum of its blocks";
        }
        if (chain->awaited != first_not_sent(operation, chain)) {
            return "a chain does not await its first block that was not sent";
        }
    }
    if (coming != operation->coming) {
        return "fragments that are to be sent are miscounted";
    }
    if (0 == operation->part || operation->part > OC_CAST_WHOLE) {
        return "all ranks have room for nothing, or for more than a window";
    }
    return next == group->config.num_ranks ? NULL : "a rank has no chain";
}

static const char *check_request(const oc_cast_group_t *group, const oc_cast_request_t *request)
{
    uint64_t fragments = 0;

    if (request->source >= group->config.num_ranks || request->source == group->config.rank
        || request->block >= group->config.num_ranks || request->block == group->config.rank) {
        return "a request goes to no other rank, or is about no other's block";
    }
    if (0 == request->num_ranges || request->num_ranges > OC_CAST_MAX_RANGES) {
        return "a request has no ranges, or too many";
    }
    for (uint32_t i = 0; i < request->num_ranges; i++) {
        const oc_cast_range_t *range = &request->ranges[i];

        fragments += range->count;
        if ((uint64_t) range->first + range->count
            > group->active->blocks[request->block].fragments) {
            return "a request is for fragments that its block does not have";
        }
    }
    return fragments == request->fragments ? NULL : "the fragments of a request are miscounted";
}

static const char *check_requests(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;
    oc_cast_budget_t out[2] = {{.requests = 0}, {.requests = 0}};
    const oc_cast_request_t *request;
    const char *wrong = NULL;

    DL_FOREACH (operation->requests, request) {
        wrong = NULL == wrong ? check_request(group, request) : wrong;
        out[request->near].requests++;
        out[request->near].fragments += request->fragments;
    }
    for (unsigned near = 0; near < 2 && NULL == wrong; near++) {
        if (out[near].requests != operation->asked_of[near].requests
            || out[near].fragments != operation->asked_of[near].fragments) {
            wrong = "the budget is not what the requests have taken of it";
        }
    }
    return wrong;
}

static const char *check_polls(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;
    const oc_cast_poll_t *poll;
    uint64_t count = 0, held = 0;

    DL_FOREACH (operation->polls, poll) {
        count++;
        if (poll->owner >= group->config.num_ranks || 0 == operation->blocks[poll->owner].held) {
            return "a poll is about no block, or not counted there";
        }
    }
    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        held += operation->blocks[rank].held;
    }
    return count == held && count == operation->num_polls && count <= group->config.num_ranks
               ? NULL
               : "polls are miscounted, or more than are kept";
}

static const char *check_services(const oc_cast_group_t *group)
{
    const oc_cast_service_t *service, *other;

    DL_FOREACH (group->active->services, service) {
        unsigned held = 0;

        if (service->requester >= group->config.num_ranks
            || service->requester == group->config.rank
            || service->block >= group->config.num_ranks) {
            return "a service is for no other rank, or of no block";
        }
        if (service->num_ranges > OC_CAST_MAX_RANGES || service->range > service->num_ranges
            || service->num_left > (service->wait ? OC_CAST_MAX_RANGES : 0)) {
            return "a service is beyond its ranges";
        }
        DL_FOREACH (group->active->services, other) {
            held += other->requester == service->requester;
        }
        if (held > OC_CAST_MAX_SERVICES) {
            return "a rank has more services than are kept for it";
        }
        if (held != group->active->served[service->requester]) {
            return "the services of a rank are miscounted";
        }
    }
    return NULL;
}

static const char *check_active(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *active = group->active;
    const char *(*const checks[])(const oc_cast_group_t *) = {check_blocks, check_open,
                                                              check_chains, check_requests,
                                                              check_polls, check_services};
    const char *wrong = NULL;

    if (OC_CAST_QUEUED == active->state || active->generation != group->generation
        || (uint32_t) group->operations != group->generation) {
        return "the active operation is not the last one that began";
    }
    if (active->sent > active->blocks[group->config.rank].fragments
        || active->sealed > active->blocks[group->config.rank].fragments
        || active->sealed > active->sent + OC_MAX_BATCH) {
        return "more was sent than there is, or codes are kept that nothing needs";
    }
    for (unsigned i = 0; i < sizeof(checks) / sizeof(checks[0]) && NULL == wrong; i++) {
        wrong = checks[i](group);
    }
    return wrong;
}

static const char *check_queue(const oc_cast_group_t *group)
{
    unsigned count = NULL != group->active;
    const oc_cast_operation_t *operation;

    DL_FOREACH (group->queue, operation) {
        count++;
        if (OC_CAST_QUEUED != operation->state || NULL != operation->blocks) {
            return "an operation in the queue has begun";
        }
        if (NULL != operation->next && operation->next->prev != operation) {
            return "the queue does not lead back";
        }
    }
    return count == group->pending ? NULL : "pending operations are miscounted";
}

static const char *check_probe(const oc_cast_group_t *group)
{
    const oc_probe_t *probe = &group->probe;
    uint32_t missing = 0, askers = 0;

    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        missing += !probe->heard[rank];
        askers += 0 != probe->asks[rank];
    }
    return missing == probe->missing && askers == probe->askers ? NULL
                                                                : "probes are miscounted";
}

const char *oc_cast_group_check(const oc_cast_group_t *group)
{
    const char *wrong = check_queue(group);

    if (NULL == wrong && OC_OK == group->status) {
        wrong = check_probe(group);
    }
    if (NULL == wrong && group->num_children > group->num_neighbours) {
        wrong = "more ranks are below than are neighbours";
    }
    if (NULL == wrong && NULL != group->active) {
        wrong = check_active(group);
    }
    return wrong;
}
