/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of the client's arena, each with one chunk or less, on their way between device and
 * network: ahead (fetched, and not wanted yet), in a slot, or behind (on the way to the device).
 * When the arena has none left, a part has still its own, one chunk at a time: so nothing waits for
 * what other collectives hold, on this rank or another one.
 */
#include "client/collective/vector.h"

#include "client/collective/part.h"
#include "client/state/collapse.h"

#include <string.h>
#include <utlist.h>

/* Bytes. Copies of less take about as long. */
#define LEAST_PIECE 65536u

static oc_arena_t *arena_of(const oc_collective_t *collective)
{
    return collective->group->client->arena;
}

static oc_counters_t *counters_of(const oc_collective_t *collective)
{
    return collective->group->client->config.counters;
}

oc_arena_t *oc_client_arena(oc_client_t *client)
{
    const oc_job_settings_t *settings = client->config.settings;
    size_t chunk = settings->chunk_size;

    if (NULL == client->arena) {
        client->arena = oc_arena_open(chunk > LEAST_PIECE ? chunk : LEAST_PIECE,
                                      settings->device_staging);
    }
    return client->arena;
}

bool oc_vector_open(oc_collective_t *collective)
{
    oc_vector_t *vector = &collective->vector;

    vector->send_device = collective->args.send_device;
    vector->recv_device = collective->args.recv_device;
    if (!oc_vector_is_staged(collective)) {
        return true;
    }
    if (NULL == oc_client_arena(collective->group->client)) {
        return false;
    }
    if (NULL != vector->send_device) {
        oc_arena_pin(arena_of(collective), vector->send_device);
    }
    if (NULL != vector->recv_device) {
        oc_arena_pin(arena_of(collective), vector->recv_device);
    }
    return true;
}

bool oc_vector_is_staged(const oc_collective_t *collective)
{
    return NULL != collective->vector.send_device || NULL != collective->vector.recv_device;
}

void oc_vector_unstage(oc_collective_t *collective)
{
    collective->vector.send_device = collective->vector.recv_device = NULL;
}

/* ---- copies ---- */

static void note(oc_collective_t *collective, oc_status_t status)
{
    if (OC_OK == collective->vector.status) {
        collective->vector.status = status;
    }
}

/* What was to be sent is not there. */
static bool can_send(oc_collective_t *collective, const oc_device_t *device, oc_status_t status)
{
    if (OC_OK != status) {
        note(collective, status);
        /* nothing is acknowledged from now on, also before the collapse is carried out */
        collective->status = OC_OK == collective->status ? status : collective->status;
        oc_client_collapse(collective->group->client, status,
                           "rank %u cannot reach its send buffer: %s",
                           collective->group->params.rank, device->ops->reason(device));
    }
    return OC_OK == status;
}

static oc_status_t fetch(oc_collective_t *collective, oc_piece_t *piece, size_t offset,
                         size_t length)
{
    piece->offset = offset;
    piece->length = length;
    counters_of(collective)->bytes_staged += length;
    return oc_piece_fetch(piece, collective->vector.send_device,
                          (const char *) collective->send + offset, length);
}

static void flush(oc_collective_t *collective, oc_piece_t *piece)
{
    counters_of(collective)->bytes_staged += piece->length;
    note(collective, oc_piece_flush(piece, collective->vector.recv_device,
                                    (char *) collective->recv + piece->offset, piece->length));
}

static void end_all(oc_collective_t *collective, oc_piece_t **list, bool only_still)
{
    oc_piece_t *piece, *next;

    DL_FOREACH_SAFE (*list, piece, next) {
        if (only_still && !oc_piece_is_still(piece)) {
            return;
        }
        DL_DELETE(*list, piece);
        note(collective, oc_piece_end(piece));
        oc_arena_give(arena_of(collective), piece);
    }
}

static oc_piece_t *take_piece(oc_collective_t *collective)
{
    end_all(collective, &collective->vector.behind, true);
    return oc_arena_take(arena_of(collective));
}

static oc_piece_t *find_ahead(const oc_collective_t *collective, size_t offset)
{
    oc_piece_t *piece;

    DL_FOREACH (collective->vector.ahead, piece) {
        if (offset == piece->offset) {
            return piece;
        }
    }
    return NULL;
}

void oc_vector_read_ahead(oc_collective_t *collective, size_t offset, size_t length)
{
    oc_piece_t *piece;

    if (NULL == collective->vector.send_device || NULL != find_ahead(collective, offset)) {
        return;
    }
    piece = take_piece(collective);
    if (NULL == piece) {
        return;
    }
    if (OC_OK != fetch(collective, piece, offset, length)) {
        oc_arena_give(arena_of(collective), piece); /* whoever wants it tries again, and tells */
        return;
    }
    DL_APPEND(collective->vector.ahead, piece);
}

/* ---- steps ---- */

bool oc_vector_read(oc_collective_t *collective, size_t offset, size_t length, void *to)
{
    oc_device_t *device = collective->vector.send_device;
    const char *from = (const char *) collective->send + offset;
    oc_piece_t *piece;
    oc_status_t status;

    if (NULL == device) {
        memcpy(to, from, length);
        return true;
    }
    piece = find_ahead(collective, offset);
    if (NULL == piece) {
        counters_of(collective)->bytes_staged += length;
        return can_send(collective, device,
                        oc_device_copy(device, OC_FROM_DEVICE, to, from, length));
    }
    DL_DELETE(collective->vector.ahead, piece);
    status = oc_piece_end(piece);
    memcpy(to, piece->memory, length);
    oc_arena_give(arena_of(collective), piece);
    return can_send(collective, device, status);
}

void oc_vector_write(oc_collective_t *collective, size_t offset, size_t length, const void *from)
{
    oc_device_t *device = collective->vector.recv_device;
    char *to = (char *) collective->recv + offset;
    oc_piece_t *piece;

    if (NULL == device) {
        memcpy(to, from, length);
        return;
    }
    piece = take_piece(collective);
    if (NULL == piece) {
        counters_of(collective)->bytes_staged += length;
        note(collective, oc_device_copy(device, OC_TO_DEVICE, to, from, length));
        return;
    }
    piece->offset = offset;
    piece->length = length;
    memcpy(piece->memory, from, length);
    flush(collective, piece);
    DL_APPEND(collective->vector.behind, piece);
}

/* ---- elements ---- */

typedef struct {
    oc_device_t *device;
    char *memory;
    size_t stride;
    bool load, store;
    oc_vector_move_fn_t *move;
} visit_t;

static oc_status_t visit_some(oc_collective_t *collective, const visit_t *visit, oc_piece_t *piece,
                              size_t first, size_t count)
{
    char *at = visit->memory + first * visit->stride;
    size_t length = count * visit->stride;
    oc_status_t status = OC_OK;

    if (visit->load) {
        counters_of(collective)->bytes_staged += length;
        status = oc_device_copy(visit->device, OC_FROM_DEVICE, piece->memory, at, length);
    }
    if (OC_OK == status) {
        visit->move(collective, first, count, piece->memory);
    }
    if (OC_OK == status && visit->store) {
        counters_of(collective)->bytes_staged += length;
        status = oc_device_copy(visit->device, OC_TO_DEVICE, at, piece->memory, length);
    }
    return status;
}

static oc_status_t visit_all(oc_collective_t *collective, const visit_t *visit)
{
    oc_arena_t *arena = arena_of(collective);
    size_t total = collective->args.count, each;
    oc_status_t status = OC_OK;
    oc_piece_t *piece;

    if (NULL == visit->device) {
        visit->move(collective, 0, total, visit->memory);
        return OC_OK;
    }
    piece = oc_arena_has(arena) ? oc_arena_take(arena) : oc_arena_take_extra(arena);
    if (NULL == piece) {
        return OC_ERR_NO_MEMORY;
    }
    each = oc_arena_piece_size(arena) / visit->stride;
    for (size_t first = 0; OC_OK == status && first < total; first += each) {
        status = visit_some(collective, visit, piece, first,
                            total - first < each ? total - first : each);
    }
    oc_arena_give(arena, piece);
    return status;
}

oc_status_t oc_vector_look_at_all(oc_collective_t *collective, size_t stride,
                                  oc_vector_move_fn_t *look)
{
    /* it is not changed */
    visit_t visit = {.device = collective->args.send_device, .stride = stride, .load = true,
                     .memory = (char *) collective->args.send, .move = look};

    return visit_all(collective, &visit);
}

oc_status_t oc_vector_make_all(oc_collective_t *collective, size_t stride, bool keep,
                               oc_vector_move_fn_t *make)
{
    visit_t visit = {.device = collective->args.recv_device, .stride = stride, .load = keep,
                     .store = true, .memory = collective->args.recv, .move = make};

    return visit_all(collective, &visit);
}

/* ---- chunks ---- */

bool oc_vector_reserve(oc_part_t *part)
{
    oc_arena_t *arena = arena_of(part->collective);

    if (!oc_vector_is_staged(part->collective)) {
        return true;
    }
    part->spare = oc_arena_has(arena) ? oc_arena_take(arena) : oc_arena_take_extra(arena);
    return NULL != part->spare;
}

bool oc_vector_has_room(const oc_part_t *part)
{
    oc_collective_t *collective = part->collective;

    if (!oc_vector_is_staged(collective) || !part->spare_is_used) {
        return true;
    }
    end_all(collective, &collective->vector.behind, true);
    return oc_arena_has(arena_of(collective))
           || NULL != find_ahead(collective, oc_part_offset(part, part->sent));
}

static oc_piece_t *take_for(oc_part_t *part, size_t offset)
{
    oc_collective_t *collective = part->collective;
    oc_piece_t *piece = find_ahead(collective, offset);

    if (NULL != piece) {
        DL_DELETE(collective->vector.ahead, piece);
        return piece;
    }
    piece = take_piece(collective);
    if (NULL == piece) {
        part->spare_is_used = true;
        piece = part->spare;
    }
    /* of no chunk yet */
    piece->length = 0;
    return piece;
}

static void fill(oc_collective_t *collective, oc_piece_t *piece, size_t offset, size_t length)
{
    oc_status_t status = OC_OK;

    if (length != piece->length) {
        status = fetch(collective, piece, offset, length);
    }
    if (OC_OK == status) {
        status = oc_piece_end(piece);
    }
    /* if it is not what was to be sent, nobody gets as far as to believe the result */
    (void) can_send(collective, collective->vector.send_device, status);
}

const void *oc_vector_take(oc_part_t *part, size_t offset, size_t length, oc_piece_t **piece,
                           void **result)
{
    oc_collective_t *collective = part->collective;
    const oc_vector_t *vector = &collective->vector;

    *piece = NULL;
    *result = (char *) collective->recv + offset;
    if (!oc_vector_is_staged(collective)) {
        return (const char *) collective->send + offset;
    }
    *piece = take_for(part, offset);
    if (NULL != vector->send_device) {
        fill(collective, *piece, offset, length);
    }
    (*piece)->offset = offset;
    (*piece)->length = length;
    if (NULL != vector->recv_device) {
        *result = (*piece)->memory;
    }
    return NULL != vector->send_device ? (*piece)->memory
                                       : (const char *) collective->send + offset;
}

void oc_vector_give(oc_part_t *part, oc_piece_t *piece)
{
    oc_collective_t *collective = part->collective;

    if (NULL == piece) {
        return;
    }
    if (NULL != collective->vector.recv_device) {
        flush(collective, piece);
    }
    if (piece == part->spare) {
        note(collective, oc_piece_end(piece));
        part->spare_is_used = false;
    } else {
        DL_APPEND(collective->vector.behind, piece);
    }
}

/* A group that fails leaves pieces in the slots. */
static void give_slots(oc_part_t *part)
{
    for (unsigned i = 0; NULL != part->slots && i < part->num_slots; i++) {
        oc_piece_t *piece = part->slots[i].piece;

        if (NULL != piece && piece != part->spare) {
            oc_arena_give(arena_of(part->collective), piece);
        }
    }
    oc_arena_give(arena_of(part->collective), part->spare);
}

oc_status_t oc_vector_close(oc_collective_t *collective)
{
    if (NULL == arena_of(collective)) {
        return OC_OK;
    }
    end_all(collective, &collective->vector.ahead, false);
    end_all(collective, &collective->vector.behind, false);
    for (unsigned i = 0; NULL != collective->parts && i < collective->num_parts; i++) {
        give_slots(&collective->parts[i]);
    }
    return collective->vector.status;
}
