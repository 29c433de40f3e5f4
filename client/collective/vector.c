/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of the client's arena, each with one chunk or less, on their way between device and
 * network: ahead (fetched, and not wanted yet), in a slot, or behind (on the way to the device).
 * When the arena has none left, a part has still its own, one chunk at a time: so nothing waits for
 * what other collectives hold, on this rank or another one.
 */
#include "client/collective/vector.h"

#include "client/collective/blocks.h"
#include "client/collective/supply.h"
#include "client/state/collapse.h"

#include <string.h>
#include <utlist.h>

/* Bytes. Copies of less take about as long. */
#define LEAST_PIECE 65536u

static oc_arena_t *arena_of(const oc_allreduce_t *allreduce)
{
    return allreduce->base.group->client->arena;
}

static oc_counters_t *vector_counters_of(const oc_allreduce_t *allreduce)
{
    return allreduce->base.group->client->config.counters;
}

oc_arena_t *oc_client_arena(oc_client_t *client)
{
    const oc_job_settings_t *settings = client->config.settings;
    size_t chunk = oc_settings_largest_chunk(settings);

    if (NULL == client->arena) {
        client->arena = oc_arena_open(chunk > LEAST_PIECE ? chunk : LEAST_PIECE,
                                      settings->device_staging);
    }
    return client->arena;
}

bool oc_vector_open(oc_allreduce_t *allreduce)
{
    oc_vector_t *vector = &allreduce->vector;

    vector->send_device = allreduce->args.send_device;
    vector->recv_device = allreduce->args.recv_device;
    if (!oc_vector_is_staged(allreduce)) {
        return true;
    }
    if (NULL == oc_client_arena(allreduce->base.group->client)) {
        return false;
    }
    if (NULL != vector->send_device) {
        oc_arena_pin(arena_of(allreduce), vector->send_device);
    }
    if (NULL != vector->recv_device) {
        oc_arena_pin(arena_of(allreduce), vector->recv_device);
    }
    return true;
}

bool oc_vector_is_staged(const oc_allreduce_t *allreduce)
{
    return NULL != allreduce->vector.send_device || NULL != allreduce->vector.recv_device;
}

void oc_vector_unstage(oc_allreduce_t *allreduce)
{
    allreduce->vector.send_device = allreduce->vector.recv_device = NULL;
}

/* ---- copies ---- */

static void vector_note(oc_allreduce_t *allreduce, oc_status_t status)
{
    if (OC_OK == allreduce->vector.status) {
        allreduce->vector.status = status;
    }
}

/* What was to be sent is not there. */
static bool can_send(oc_allreduce_t *allreduce, const oc_device_t *device, oc_status_t status)
{
    if (OC_OK != status) {
        vector_note(allreduce, status);
        /* nothing is acknowledged from now on, also before the collapse is carried out */
        allreduce->base.status = OC_OK == allreduce->base.status ? status : allreduce->base.status;
        oc_client_collapse(allreduce->base.group->client, status,
                           "rank %u cannot reach its send buffer: %s",
                           allreduce->base.group->params.rank, device->ops->reason(device));
    }
    return OC_OK == status;
}

static oc_status_t vector_fetch(oc_allreduce_t *allreduce, oc_piece_t *piece, size_t offset,
                                size_t length)
{
    piece->offset = offset;
    piece->length = length;
    vector_counters_of(allreduce)->bytes_staged += length;
    return oc_piece_fetch(piece, allreduce->vector.send_device,
                          (const char *) allreduce->send + offset, length);
}

static void vector_flush(oc_allreduce_t *allreduce, oc_piece_t *piece)
{
    vector_counters_of(allreduce)->bytes_staged += piece->length;
    vector_note(allreduce, oc_piece_flush(piece, allreduce->vector.recv_device,
                                          (char *) allreduce->recv + piece->offset, piece->length));
}

static void end_all(oc_allreduce_t *allreduce, oc_piece_t **list, bool only_still)
{
    oc_piece_t *piece, *next;

    DL_FOREACH_SAFE (*list, piece, next) {
        if (only_still && !oc_piece_is_still(piece)) {
            return;
        }
        DL_DELETE(*list, piece);
        vector_note(allreduce, oc_piece_end(piece));
        oc_arena_give(arena_of(allreduce), piece);
    }
}

static oc_piece_t *take_piece(oc_allreduce_t *allreduce)
{
    end_all(allreduce, &allreduce->vector.behind, true);
    return oc_arena_take(arena_of(allreduce));
}

static oc_piece_t *find_ahead(const oc_allreduce_t *allreduce, size_t offset)
{
    oc_piece_t *piece;

    DL_FOREACH (allreduce->vector.ahead, piece) {
        if (offset == piece->offset) {
            return piece;
        }
    }
    return NULL;
}

void oc_vector_read_ahead(oc_allreduce_t *allreduce, size_t offset, size_t length)
{
    oc_piece_t *piece;

    if (NULL == allreduce->vector.send_device || NULL != find_ahead(allreduce, offset)) {
        return;
    }
    piece = take_piece(allreduce);
    if (NULL == piece) {
        return;
    }
    if (OC_OK != vector_fetch(allreduce, piece, offset, length)) {
        oc_arena_give(arena_of(allreduce), piece); /* whoever wants it tries again, and tells */
        return;
    }
    DL_APPEND(allreduce->vector.ahead, piece);
}

/* ---- steps ---- */

bool oc_vector_read(oc_allreduce_t *allreduce, size_t offset, size_t length, void *to)
{
    oc_device_t *device = allreduce->vector.send_device;
    const char *from = (const char *) allreduce->send + offset;
    oc_piece_t *piece;
    oc_status_t status;

    if (NULL == device) {
        memcpy(to, from, length);
        return true;
    }
    piece = find_ahead(allreduce, offset);
    if (NULL == piece) {
        vector_counters_of(allreduce)->bytes_staged += length;
        return can_send(allreduce, device,
                        oc_device_copy(device, OC_FROM_DEVICE, to, from, length));
    }
    DL_DELETE(allreduce->vector.ahead, piece);
    status = oc_piece_end(piece);
    memcpy(to, piece->memory, length);
    oc_arena_give(arena_of(allreduce), piece);
    return can_send(allreduce, device, status);
}

void oc_vector_write(oc_allreduce_t *allreduce, size_t offset, size_t length, const void *from)
{
    oc_device_t *device = allreduce->vector.recv_device;
    char *to = (char *) allreduce->recv + offset;
    oc_piece_t *piece;

    if (NULL == device) {
        memcpy(to, from, length);
        return;
    }
    piece = take_piece(allreduce);
    if (NULL == piece) {
        vector_counters_of(allreduce)->bytes_staged += length;
        vector_note(allreduce, oc_device_copy(device, OC_TO_DEVICE, to, from, length));
        return;
    }
    piece->offset = offset;
    piece->length = length;
    memcpy(piece->memory, from, length);
    vector_flush(allreduce, piece);
    DL_APPEND(allreduce->vector.behind, piece);
}

/* ---- elements ---- */

typedef struct {
    oc_device_t *device;
    char *memory;
    size_t stride;
    bool load, store;
    oc_vector_move_fn_t *move;
} visit_t;

static oc_status_t visit_some(oc_allreduce_t *allreduce, const visit_t *visit, oc_piece_t *piece,
                              size_t first, size_t count)
{
    char *at = visit->memory + first * visit->stride;
    size_t length = count * visit->stride;
    oc_status_t status = OC_OK;

    if (visit->load) {
        vector_counters_of(allreduce)->bytes_staged += length;
        status = oc_device_copy(visit->device, OC_FROM_DEVICE, piece->memory, at, length);
    }
    if (OC_OK == status) {
        visit->move(allreduce, first, count, piece->memory);
    }
    if (OC_OK == status && visit->store) {
        vector_counters_of(allreduce)->bytes_staged += length;
        status = oc_device_copy(visit->device, OC_TO_DEVICE, at, piece->memory, length);
    }
    return status;
}

static oc_status_t visit_all(oc_allreduce_t *allreduce, const visit_t *visit, size_t total)
{
    oc_arena_t *arena = arena_of(allreduce);
    size_t each;
    oc_status_t status = OC_OK;
    oc_piece_t *piece;

    if (NULL == visit->device) {
        visit->move(allreduce, 0, total, visit->memory);
        return OC_OK;
    }
    piece = oc_arena_has(arena) ? oc_arena_take(arena) : oc_arena_take_extra(arena);
    if (NULL == piece) {
        return OC_ERR_NO_MEMORY;
    }
    each = oc_arena_piece_size(arena) / visit->stride;
    for (size_t first = 0; OC_OK == status && first < total; first += each) {
        status = visit_some(allreduce, visit, piece, first,
                            total - first < each ? total - first : each);
    }
    oc_arena_give(arena, piece);
    return status;
}

oc_status_t oc_vector_look_at_all(oc_allreduce_t *allreduce, size_t stride,
                                  oc_vector_move_fn_t *look)
{
    /* it is not changed */
    visit_t visit = {.device = allreduce->args.send_device, .stride = stride, .load = true,
                     .memory = (char *) allreduce->args.send, .move = look};

    return visit_all(allreduce, &visit, allreduce->args.count);
}

oc_status_t oc_vector_make_all(oc_allreduce_t *allreduce, size_t stride, bool keep,
                               oc_vector_move_fn_t *make)
{
    visit_t visit = {.device = allreduce->args.recv_device, .stride = stride, .load = keep,
                     .store = true, .memory = allreduce->args.recv, .move = make};

    return visit_all(allreduce, &visit, allreduce->blocks.own_count);
}

/* ---- chunks ---- */

bool oc_vector_reserve(oc_part_t *part)
{
    oc_arena_t *arena = arena_of(part->allreduce);

    if (!oc_vector_is_staged(part->allreduce)) {
        return true;
    }
    part->spare = oc_arena_has(arena) ? oc_arena_take(arena) : oc_arena_take_extra(arena);
    return NULL != part->spare;
}

bool oc_vector_has_room(const oc_part_t *part)
{
    oc_allreduce_t *allreduce = part->allreduce;

    if (!oc_vector_is_staged(allreduce) || !part->spare_is_used) {
        return true;
    }
    end_all(allreduce, &allreduce->vector.behind, true);
    return oc_arena_has(arena_of(allreduce))
           || NULL != find_ahead(allreduce, part->next.offset);
}

static oc_piece_t *take_for(oc_part_t *part, size_t offset)
{
    oc_allreduce_t *allreduce = part->allreduce;
    oc_piece_t *piece = find_ahead(allreduce, offset);

    if (NULL != piece) {
        DL_DELETE(allreduce->vector.ahead, piece);
        return piece;
    }
    piece = take_piece(allreduce);
    if (NULL == piece) {
        part->spare_is_used = true;
        piece = part->spare;
    }
    /* of no chunk yet */
    piece->length = 0;
    return piece;
}

static void vector_fill(oc_allreduce_t *allreduce, oc_piece_t *piece, size_t offset, size_t length)
{
    oc_status_t status = OC_OK;

    if (length != piece->length) {
        status = vector_fetch(allreduce, piece, offset, length);
    }
    if (OC_OK == status) {
        status = oc_piece_end(piece);
    }
    /* if it is not what was to be sent, nobody gets as far as to believe the result */
    (void) can_send(allreduce, allreduce->vector.send_device, status);
}

const void *oc_vector_take(oc_part_t *part, oc_piece_t **piece, void **result)
{
    oc_allreduce_t *allreduce = part->allreduce;
    const oc_vector_t *vector = &allreduce->vector;
    size_t offset = part->next.offset, length = part->next.length;
    bool gets = 0 != oc_blocks_gotten(allreduce, &part->next);
    /* of what it gets nothing there is no place for a result */
    size_t at = gets ? offset - allreduce->blocks.recv_first * allreduce->element : 0;

    *piece = NULL;
    *result = gets ? (char *) allreduce->recv + at : NULL;
    if (NULL != allreduce->supply) {
        return oc_supply_contribution(allreduce, &part->next);
    }
    if (NULL == vector->send_device && (NULL == vector->recv_device || !gets)) {
        return (const char *) allreduce->send + offset;
    }
    *piece = take_for(part, offset);
    if (NULL != vector->send_device) {
        vector_fill(allreduce, *piece, offset, length);
    }
    (*piece)->offset = at;
    (*piece)->length = gets ? length : 0;
    if (gets && NULL != vector->recv_device) {
        *result = (*piece)->memory;
    }
    return NULL != vector->send_device ? (*piece)->memory
                                       : (const char *) allreduce->send + offset;
}

void oc_vector_give(oc_part_t *part, oc_piece_t *piece)
{
    oc_allreduce_t *allreduce = part->allreduce;

    if (NULL == piece) {
        return;
    }
    if (NULL != allreduce->vector.recv_device && 0 != piece->length) {
        vector_flush(allreduce, piece);
    }
    if (piece == part->spare) {
        vector_note(allreduce, oc_piece_end(piece));
        part->spare_is_used = false;
    } else {
        DL_APPEND(allreduce->vector.behind, piece);
    }
}

void oc_vector_drop(oc_part_t *part)
{
    oc_arena_t *arena;

    /* so it is with parts that were not made, too, which know no Allreduce */
    if (NULL == part->spare) {
        return;
    }
    arena = arena_of(part->allreduce);
    for (unsigned i = 0; i < part->num_slots; i++) {
        oc_piece_t *piece = part->slots[i].piece;

        if (NULL != piece && piece != part->spare) {
            oc_arena_give(arena, piece);
        }
    }
    oc_arena_give(arena, part->spare);
}

oc_status_t oc_vector_close(oc_allreduce_t *allreduce)
{
    if (NULL == arena_of(allreduce)) {
        return OC_OK;
    }
    end_all(allreduce, &allreduce->vector.ahead, false);
    end_all(allreduce, &allreduce->vector.behind, false);
    return allreduce->vector.status;
}
