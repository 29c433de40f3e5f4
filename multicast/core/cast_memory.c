/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's memory: the host's, or a device's by way of a stage. */
#include "multicast/core/cast_memory.h"

#include <string.h>

/* Bytes at a time from one buffer of the caller to the other, if one is a device's. */
#define PART OC_CAST_MESSAGE_MAX

/* A place in one of the caller's buffers. */
typedef struct {
    oc_stage_t *stage;         /* of the buffer; NULL: host memory, … */
    uint8_t *memory;           /* … here; … */
    size_t offset;             /* … in the stage it is there */
} place_t;

/* Where a block lies when the operation is over. */
static place_t cast_memory_place_of(const oc_cast_operation_t *operation, uint32_t rank,
                                    uint64_t at)
{
    size_t offset = operation->blocks[rank].offset + (size_t) at;

    return (place_t) {.stage = operation->args.recv_stage, .offset = offset,
                      .memory = (uint8_t *) operation->args.recv + offset};
}

/* Where a block, or as much of it as is here, can be read. */
static place_t source_of(const oc_cast_group_t *group, uint32_t rank, uint64_t at)
{
    const oc_cast_operation_t *operation = group->active;

    if (rank != group->config.rank || NULL == operation->args.send) {
        return cast_memory_place_of(operation, rank, at);
    }
    return (place_t) {.stage = operation->args.send_stage, .offset = (size_t) at,
                      .memory = (uint8_t *) operation->args.send + at};
}

static void cast_memory_get(const place_t *place, size_t length, void *to)
{
    if (NULL != place->stage) {
        (void) oc_stage_read(place->stage, place->offset, length, to);
    } else {
        memcpy(to, place->memory, length);
    }
}

static void cast_memory_put(const place_t *place, size_t length, const void *from)
{
    if (NULL != place->stage) {
        (void) oc_stage_write(place->stage, place->offset, length, from);
    } else {
        memcpy(place->memory, from, length);
    }
}

bool oc_memory_sends_from_stage(const oc_cast_operation_t *operation)
{
    return NULL != (NULL != operation->args.send ? operation->args.send_stage
                                                 : operation->args.recv_stage);
}

const uint8_t *oc_memory_at(const oc_cast_group_t *group, uint32_t rank, uint64_t at, size_t length)
{
    place_t place = source_of(group, rank, at);

    if (NULL == place.stage) {
        return place.memory;
    }
    cast_memory_get(&place, length, group->scratch);
    return group->scratch;
}

void oc_memory_get(const oc_cast_group_t *group, uint32_t rank, uint64_t at, size_t length,
                   void *to)
{
    place_t place = source_of(group, rank, at);

    cast_memory_get(&place, length, to);
}

void oc_memory_put(const oc_cast_group_t *group, uint32_t rank, uint64_t at, size_t length,
                   const void *from)
{
    place_t place = cast_memory_place_of(group->active, rank, at);

    cast_memory_put(&place, length, from);
}

void oc_memory_keep_own(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;
    uint32_t rank = group->config.rank;
    size_t length = operation->blocks[rank].length;
    place_t from = source_of(group, rank, 0), to = cast_memory_place_of(operation, rank, 0);

    if (NULL == operation->args.send || 0 == length) {
        return;
    }
    if (NULL == from.stage) {
        if (from.memory != to.memory) {
            cast_memory_put(&to, length, from.memory);
        }
        return;
    }
    for (size_t at = 0; at < length; at += PART) {
        size_t part = length - at < PART ? length - at : PART;

        oc_memory_put(group, rank, at, part, oc_memory_at(group, rank, at, part));
    }
}

static oc_stage_t *failed_stage(const oc_cast_args_t *args)
{
    if (NULL != args->send_stage && OC_OK != oc_stage_status(args->send_stage)) {
        return args->send_stage;
    }
    if (NULL != args->recv_stage && OC_OK != oc_stage_status(args->recv_stage)) {
        return args->recv_stage;
    }
    return NULL;
}

const char *oc_memory_trouble(const oc_cast_operation_t *operation)
{
    const oc_stage_t *stage = failed_stage(&operation->args);

    return NULL == stage ? NULL : oc_stage_reason(stage);
}
