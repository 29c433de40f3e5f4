/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding and checking of data-plane headers. */
#include "protocol/message.h"

#include <stdbool.h>

#include "base/limits.h"
#include "base/wire.h"
#include "protocol/tag.h"

#define HEADER_MAGIC 0x4843434fu /* "OCCH" */

/* What is said of receivers. */
#define TO_OWNERS   1u
#define OWNER_GIVES 2u

/* Behind the rank. */
#define CUT_SHIFT 16

static bool names_owner(const oc_header_t *header)
{
    return OC_MESSAGE_START == header->message && OC_TO_OWNERS == header->to;
}

void oc_header_encode(const oc_header_t *header, uint8_t buffer[OC_HEADER_SIZE])
{
    oc_writer_t w = {.at = buffer, .end = buffer + OC_HEADER_SIZE};
    bool owns = names_owner(header);

    memset(buffer, 0, OC_HEADER_SIZE);
    oc_put(&w, HEADER_MAGIC, 4);
    oc_put(&w, header->message, 1);
    oc_put(&w, header->op, 1);
    oc_put(&w, header->type, 1);
    oc_put(&w, (OC_TO_OWNERS == header->to ? TO_OWNERS : 0)
                   | (owns && header->own.gives ? OWNER_GIVES : 0), 1);
    oc_put(&w, header->handle, 4);
    oc_put(&w, header->rank | (owns ? (uint32_t) header->own.cut << CUT_SHIFT : 0), 4);
    oc_put(&w, header->chunk_bytes, 4);
    oc_put(&w, owns ? header->own.first : header->last_bytes, 4);
    oc_put(&w, header->chunks, 4);
    oc_put(&w, owns ? header->own.chunks : 0, 4);
    oc_put(&w, header->sequence, 8);
    oc_put(&w, header->count, 8);
}

static bool carries_data(const oc_header_t *header)
{
    return OC_MESSAGE_SMALL == header->message || OC_MESSAGE_RESULT == header->message;
}

static bool start_is_plausible(const oc_header_t *header)
{
    const oc_ownership_t *own = &header->own;

    if (0 == header->chunk_bytes || header->chunk_bytes > OC_MAX_CHUNK) {
        return false;
    }
    return OC_TO_OWNERS == header->to
               ? own->first <= header->chunks && own->chunks <= header->chunks - own->first
               : header->last_bytes > 0 && header->last_bytes <= header->chunk_bytes;
}

static bool is_plausible(const oc_header_t *header, size_t length)
{
    if (header->message < OC_MESSAGE_SMALL || header->message > OC_MESSAGE_SENT
        || header->handle > OC_HANDLE_MAX || header->rank >= OC_MAX_RANKS
        || header->sequence >= OC_MAX_SEQUENCE) {
        return false;
    }
    if (carries_data(header)) {
        return header->chunk_bytes > 0 && header->chunk_bytes <= OC_MAX_SMALL
               && header->chunk_bytes == length - OC_HEADER_SIZE;
    }
    if (OC_HEADER_SIZE != length) {
        return false;
    }
    if (OC_MESSAGE_RESEND == header->message) {
        return header->chunk_bytes > 0 && header->chunk_bytes <= OC_MAX_SMALL;
    }
    if (0 == header->chunks) {
        return false;
    }
    if (OC_MESSAGE_READY == header->message) {
        return header->chunk_bytes >= OC_MIN_CHUNK && header->chunk_bytes <= OC_MAX_CHUNK;
    }
    return OC_MESSAGE_START != header->message || start_is_plausible(header);
}

/* The fields that say something else in a START to owners. */
static void read_ownership(oc_header_t *header, uint8_t to, uint32_t own_chunks)
{
    header->to = to & TO_OWNERS ? OC_TO_OWNERS : OC_TO_ALL;
    header->own = (oc_ownership_t) {0};
    if (names_owner(header)) {
        header->own = (oc_ownership_t) {.first = header->last_bytes, .chunks = own_chunks,
                                        .cut = (uint16_t) (header->rank >> CUT_SHIFT),
                                        .gives = 0 != (to & OWNER_GIVES)};
        header->rank &= (1u << CUT_SHIFT) - 1;
        header->last_bytes = 0;
    }
}

oc_status_t oc_header_decode(const void *buffer, size_t length, oc_header_t *header)
{
    oc_reader_t r = {.at = buffer, .end = (const uint8_t *) buffer + length};
    uint32_t own_chunks;
    uint8_t to;

    if (length < OC_HEADER_SIZE || HEADER_MAGIC != oc_get(&r, 4)) {
        return OC_ERR_INVALID;
    }
    header->message = (uint8_t) oc_get(&r, 1);
    header->op = (uint8_t) oc_get(&r, 1);
    header->type = (uint8_t) oc_get(&r, 1);
    to = (uint8_t) oc_get(&r, 1);
    header->handle = (uint32_t) oc_get(&r, 4);
    header->rank = (uint32_t) oc_get(&r, 4);
    header->chunk_bytes = (uint32_t) oc_get(&r, 4);
    header->last_bytes = (uint32_t) oc_get(&r, 4);
    header->chunks = (uint32_t) oc_get(&r, 4);
    own_chunks = (uint32_t) oc_get(&r, 4);
    header->sequence = oc_get(&r, 8);
    header->count = oc_get(&r, 8);
    read_ownership(header, to, own_chunks);
    return is_plausible(header, length) ? OC_OK : OC_ERR_INVALID;
}
