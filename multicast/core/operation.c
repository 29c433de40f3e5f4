/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of an operation: its memory, its beginning, its end. */
#include "multicast/core/operation.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "multicast/core/cast_memory.h"
#include "multicast/core/chain.h"
#include "multicast/core/open_blocks.h"
#include "multicast/core/pace.h"

static bool copy_sizes(oc_cast_operation_t *operation, const oc_cast_args_t *args, uint32_t count)
{
    operation->lengths = calloc(count, sizeof(*operation->lengths));
    operation->offsets = calloc(count, sizeof(*operation->offsets));
    if (NULL == operation->lengths || NULL == operation->offsets) {
        return false;
    }
    memcpy(operation->lengths, args->lengths, count * sizeof(*operation->lengths));
    memcpy(operation->offsets, args->offsets, count * sizeof(*operation->offsets));
    return true;
}

oc_cast_operation_t *oc_operation_new(oc_cast_group_t *group, const oc_cast_args_t *args)
{
    oc_cast_operation_t *operation = calloc(1, sizeof(*operation));

    if (NULL == operation) {
        return NULL;
    }
    operation->args = *args;
    if (NULL != args->lengths && !copy_sizes(operation, args, group->config.num_ranks)) {
        oc_operation_free(operation);
        return NULL;
    }
    return operation;
}

static void free_requests(oc_cast_operation_t *operation)
{
    oc_cast_request_t *request, *next;

    DL_FOREACH_SAFE (operation->requests, request, next) {
        DL_DELETE(operation->requests, request);
        free(request);
    }
}

static void free_services(oc_cast_operation_t *operation)
{
    oc_cast_service_t *service, *next;

    DL_FOREACH_SAFE (operation->services, service, next) {
        DL_DELETE(operation->services, service);
        free(service);
    }
}

static void free_polls(oc_cast_operation_t *operation)
{
    oc_cast_poll_t *poll, *next;

    DL_FOREACH_SAFE (operation->polls, poll, next) {
        DL_DELETE(operation->polls, poll);
        free(poll);
    }
}

void oc_operation_free(oc_cast_operation_t *operation)
{
    free_requests(operation);
    free_services(operation);
    free_polls(operation);
    free(operation->lengths);
    free(operation->offsets);
    free(operation->blocks);
    free(operation->open);
    free(operation->present);
    free(operation->asked);
    free(operation->lost);
    free(operation->recast.payload);
    free(operation->recast.given);
    free(operation->recast.lately[0]);
    free(operation->recast.lately[1]);
    free(operation->chains);
    free(operation->tail);
    free(operation->batch);
    free(operation->unanswered);
    free(operation->overdue);
    free(operation->served);
    free(operation);
}

/* OC_ERR_LIMIT: more fragments than 32 bits count. */
static oc_status_t lay_out(const oc_cast_group_t *group, oc_cast_operation_t *operation,
                           uint64_t *bits)
{
    const oc_cast_args_t *args = &operation->args;

    *bits = 0;
    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        oc_block_t *block = &operation->blocks[rank];
        uint64_t fragments;

        block->length = NULL != args->lengths ? operation->lengths[rank] : args->block;
        block->offset = NULL != args->lengths ? operation->offsets[rank] : rank * args->block;
        fragments = 0 == block->length
                        ? 0
                        : (block->length + OC_CAST_TRAILER + group->payload - 1) / group->payload;
        if (fragments >= UINT32_MAX / 2) {
            return OC_ERR_LIMIT;
        }
        block->fragments = (uint32_t) fragments;
        block->first = *bits;
        block->complete = 0 == fragments || rank == group->config.rank;
        operation->incomplete += !block->complete;
        *bits += fragments;
    }
    return OC_OK;
}

/* Own fragments, one after the other, while they are sent. */
static oc_status_t get_batch(const oc_cast_group_t *group, oc_cast_operation_t *operation)
{
    if (0 == operation->blocks[group->config.rank].fragments
        || !oc_memory_sends_from_stage(operation)) {
        return OC_OK;
    }
    operation->batch = malloc(OC_MAX_BATCH * (size_t) group->payload);
    return NULL == operation->batch ? OC_ERR_NO_MEMORY : OC_OK;
}

static oc_status_t get_bitmaps(oc_cast_operation_t *operation, uint64_t bits)
{
    size_t words = bits / 64 + 1;

    operation->present = calloc(words, sizeof(uint64_t));
    operation->asked = calloc(words, sizeof(uint64_t));
    operation->lost = calloc(words, sizeof(uint64_t));
    return NULL != operation->present && NULL != operation->asked && NULL != operation->lost
               ? OC_OK
               : OC_ERR_NO_MEMORY;
}

static oc_status_t get_recast(const oc_cast_group_t *group, oc_cast_operation_t *operation,
                              uint64_t bits)
{
    oc_recast_t *recast = &operation->recast;

    recast->words = bits / 64 + 1;
    recast->payload = malloc(group->payload);
    recast->given = calloc(bits + 1, sizeof(*recast->given));
    recast->lately[0] = calloc(recast->words, sizeof(uint64_t));
    recast->lately[1] = calloc(recast->words, sizeof(uint64_t));
    return NULL != recast->payload && NULL != recast->given && NULL != recast->lately[0]
                   && NULL != recast->lately[1]
               ? OC_OK
               : OC_ERR_NO_MEMORY;
}

oc_status_t oc_operation_prepare(oc_cast_group_t *group, oc_cast_operation_t *operation,
                                 uint64_t now)
{
    uint32_t rank = group->config.rank;
    oc_status_t status;
    uint64_t bits;

    assert(OC_CAST_QUEUED == operation->state && operation == group->active);
    operation->state = OC_CAST_ENTERING;
    operation->generation = group->generation = (uint32_t) ++group->operations;
    operation->begun = now;
    operation->blocks = calloc(group->config.num_ranks, sizeof(*operation->blocks));
    operation->tail = malloc(2 * (size_t) group->payload);
    operation->unanswered = calloc(group->config.num_ranks, sizeof(*operation->unanswered));
    operation->overdue = calloc(group->config.num_ranks, sizeof(*operation->overdue));
    operation->served = calloc(group->config.num_ranks, sizeof(*operation->served));
    if (NULL == operation->blocks || NULL == operation->tail || NULL == operation->unanswered
        || NULL == operation->overdue || NULL == operation->served) {
        return OC_ERR_NO_MEMORY;
    }
    status = lay_out(group, operation, &bits);
    if (OC_OK == status) {
        status = oc_open_blocks_begin(group, operation);
    }
    if (OC_OK == status) {
        status = get_bitmaps(operation, bits);
    }
    if (OC_OK == status) {
        status = get_recast(group, operation, bits);
    }
    if (OC_OK == status) {
        status = get_batch(group, operation);
    }
    if (OC_OK == status) {
        status = oc_chains_make(group, operation);
    }
    operation->source = NULL != operation->args.send
                            ? operation->args.send
                            : (const uint8_t *) operation->args.recv
                                  + operation->blocks[rank].offset;
    return status;
}

void oc_operation_begin(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;

    assert(OC_CAST_ENTERING == operation->state);
    operation->state = OC_CAST_RUNNING;
    operation->begun = operation->cast_at = now;
    oc_pace_restart(operation, now);
    operation->early = operation->cast;
    operation->look_at = now + oc_pace_first_look(group);
    operation->poll_at = UINT64_MAX;
    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        operation->blocks[rank].heard = now;
    }
    for (uint32_t k = 0; k < operation->num_chains; k++) {
        operation->chains[k].heard = operation->chains[k].credited = now;
    }
    operation->turn = oc_chains_heads(operation, group->config.rank)
                      || group->turn == operation->generation;
    oc_memory_keep_own(group);
    group->probe.over = true; /* no rank is in an operation before it has heard all others */
}

bool oc_operation_done(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;

    return 0 == operation->incomplete
           && operation->sent == operation->blocks[group->config.rank].fragments;
}

void oc_operation_finish(oc_cast_group_t *group, oc_cast_operation_t *operation,
                         oc_status_t status)
{
    void (*finished)(void *, oc_status_t) = operation->args.finished;
    void *arg = operation->args.arg;

    assert(group->pending > 0 && operation != group->active);
    group->pending--;
    oc_operation_free(operation);
    finished(arg, status);
}
