/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes and decodes messages between ranks.
 *
 * All kinds begin with 0 code, 16 "OR", 18 version, 19 kind, 20 rank, 24 token, 32 generation,
 * 36 serial; then come
 *
 *   LEAVE    44 closes (1 byte)
 *   POLL, SENT, WITHDRAW, UNICAST  44 block, 48 number
 *   REQUEST  44 block, 48 number, 52 flags (1 byte), 53 ranges: count of them, then first and
 *            count of each
 *   REPAIR   44 block, 48 number, 52 last (1 byte), 53 given, 57 recast, 61 ranges as above, then
 *            the fragments
 *   ABORT    44 status, then the text
 *   CREDIT   44 part (4 bytes), 48 how many chains (4 bytes), 52 position of each (8 bytes)
 *   FIND, FOUND  44 origin, 48 target, then the contact
 */
#include "multicast/wire/cast_message.h"

#include <string.h>

#include "base/mac.h"
#include "base/wire.h"
#include "multicast/wire/contact.h"

#define MAGIC 0x524f

/* Of a REQUEST. */
#define FLAG_WAIT  1u
#define FLAG_ALONE 2u

static void put_ranges(oc_writer_t *w, const oc_cast_message_t *message)
{
    oc_put(w, message->num_ranges, 4);
    for (uint32_t i = 0; i < message->num_ranges; i++) {
        oc_put(w, message->ranges[i].first, 4);
        oc_put(w, message->ranges[i].count, 4);
    }
}

static void get_ranges(oc_reader_t *r, oc_cast_message_t *message)
{
    message->num_ranges = (uint32_t) oc_get(r, 4);
    if (message->num_ranges > OC_CAST_MAX_RANGES) {
        r->bad = true;
        return;
    }
    for (uint32_t i = 0; i < message->num_ranges; i++) {
        message->ranges[i].first = (uint32_t) oc_get(r, 4);
        message->ranges[i].count = (uint32_t) oc_get(r, 4);
    }
}

static void put_positions(oc_writer_t *w, const oc_cast_message_t *message)
{
    oc_put(w, message->part, 4);
    oc_put(w, message->num_chains, 4);
    for (uint32_t i = 0; i < message->num_chains; i++) {
        oc_put(w, message->positions[i], 8);
    }
}

static void get_positions(oc_reader_t *r, oc_cast_message_t *message)
{
    message->part = (uint32_t) oc_get(r, 4);
    message->num_chains = (uint32_t) oc_get(r, 4);
    if (message->num_chains > OC_CAST_MAX_CHAINS) {
        r->bad = true;
        return;
    }
    for (uint32_t i = 0; i < message->num_chains; i++) {
        message->positions[i] = oc_get(r, 8);
    }
}

static void put_extent(oc_writer_t *w, const oc_cast_message_t *message)
{
    if (OC_CAST_REQUEST == message->kind) {
        oc_put(w, (message->wait ? FLAG_WAIT : 0) | (message->alone ? FLAG_ALONE : 0), 1);
    } else {
        oc_put(w, message->last, 1);
        oc_put(w, message->given, 4);
        oc_put(w, message->recast, 4);
    }
}

static void get_extent(oc_reader_t *r, oc_cast_message_t *message)
{
    if (OC_CAST_REQUEST == message->kind) {
        uint64_t flags = oc_get(r, 1);

        message->wait = 0 != (flags & FLAG_WAIT);
        message->alone = 0 != (flags & FLAG_ALONE);
        r->bad = r->bad || 0 != (flags & ~(uint64_t) (FLAG_WAIT | FLAG_ALONE));
    } else {
        message->last = 0 != oc_get(r, 1);
        message->given = (uint32_t) oc_get(r, 4);
        message->recast = (uint32_t) oc_get(r, 4);
    }
}

size_t oc_cast_encode(const oc_cast_message_t *message, uint8_t head[OC_CAST_HEAD_MAX])
{
    oc_writer_t w = {.at = head + OC_MAC_SIZE, .end = head + OC_CAST_HEAD_MAX};

    memset(head, 0, OC_MAC_SIZE);
    oc_put(&w, MAGIC, 2);
    oc_put(&w, OC_CAST_VERSION, 1);
    oc_put(&w, (uint64_t) message->kind, 1);
    oc_put(&w, message->rank, 4);
    oc_put(&w, message->token, 8);
    oc_put(&w, message->generation, 4);
    oc_put(&w, message->serial, 8);
    if (OC_CAST_POLL == message->kind || OC_CAST_SENT == message->kind
        || OC_CAST_WITHDRAW == message->kind || OC_CAST_UNICAST == message->kind) {
        oc_put(&w, message->block, 4);
        oc_put(&w, message->number, 4);
    } else if (OC_CAST_LEAVE == message->kind) {
        oc_put(&w, message->closes, 1);
    } else if (OC_CAST_REQUEST == message->kind || OC_CAST_REPAIR == message->kind) {
        oc_put(&w, message->block, 4);
        oc_put(&w, message->number, 4);
        put_extent(&w, message);
        put_ranges(&w, message);
    } else if (OC_CAST_ABORT == message->kind) {
        oc_put(&w, (uint32_t) message->status, 4);
    } else if (OC_CAST_CREDIT == message->kind) {
        put_positions(&w, message);
    } else if (OC_CAST_FIND == message->kind || OC_CAST_FOUND == message->kind) {
        oc_put(&w, message->origin, 4);
        oc_put(&w, message->target, 4);
    }
    return (size_t) (w.at - head);
}

bool oc_cast_decode_token(const uint8_t *bytes, size_t length, uint64_t *token)
{
    oc_reader_t r = {.at = bytes, .end = bytes + length};
    uint64_t magic, version;

    (void) oc_get_bytes(&r, OC_MAC_SIZE);
    magic = oc_get(&r, 2);
    version = oc_get(&r, 1);
    (void) oc_get_bytes(&r, 1 + 4);
    *token = oc_get(&r, 8);
    return !r.bad && MAGIC == magic && OC_CAST_VERSION == version;
}

static void get_closes(oc_reader_t *r, oc_cast_message_t *message)
{
    uint64_t closes = oc_get(r, 1);

    message->closes = 0 != closes;
    r->bad = r->bad || closes > 1;
}

static void cast_message_get_body(oc_reader_t *r, oc_cast_message_t *message)
{
    switch (message->kind) {
    case OC_CAST_POLL:
    case OC_CAST_SENT:
    case OC_CAST_WITHDRAW:
    case OC_CAST_UNICAST:
        message->block = (uint32_t) oc_get(r, 4);
        message->number = (uint32_t) oc_get(r, 4);
        break;
    case OC_CAST_REQUEST:
    case OC_CAST_REPAIR:
        message->block = (uint32_t) oc_get(r, 4);
        message->number = (uint32_t) oc_get(r, 4);
        get_extent(r, message);
        get_ranges(r, message);
        break;
    case OC_CAST_LEAVE:
        get_closes(r, message);
        break;
    case OC_CAST_ABORT:
        message->status = (int32_t) (uint32_t) oc_get(r, 4);
        break;
    case OC_CAST_CREDIT:
        get_positions(r, message);
        break;
    case OC_CAST_FIND:
    case OC_CAST_FOUND:
        message->origin = (uint32_t) oc_get(r, 4);
        message->target = (uint32_t) oc_get(r, 4);
        break;
    default:
        break;
    }
}

/* Bytes behind the fields. */
static size_t most_data(oc_cast_kind_t kind)
{
    switch (kind) {
    case OC_CAST_REPAIR:
        return SIZE_MAX;
    case OC_CAST_ABORT:
        return OC_CAST_MAX_TEXT;
    case OC_CAST_FIND:
    case OC_CAST_FOUND:
        return OC_CONTACT_MAX;
    default:
        return 0;
    }
}

bool oc_cast_decode(const uint8_t *bytes, size_t length, oc_cast_message_t *message)
{
    oc_reader_t r = {.at = bytes, .end = bytes + length};
    uint64_t magic, version;

    (void) oc_get_bytes(&r, OC_MAC_SIZE);
    magic = oc_get(&r, 2);
    version = oc_get(&r, 1);
    message->kind = (oc_cast_kind_t) oc_get(&r, 1);
    message->rank = (uint32_t) oc_get(&r, 4);
    message->token = oc_get(&r, 8);
    message->generation = (uint32_t) oc_get(&r, 4);
    message->serial = oc_get(&r, 8);
    message->num_ranges = 0;
    message->last = message->wait = false;
    if (r.bad || MAGIC != magic || OC_CAST_VERSION != version
        || message->kind < OC_CAST_PROBE_REQUEST || message->kind >= OC_CAST_KINDS) {
        return false;
    }
    cast_message_get_body(&r, message);
    message->data = r.at;
    message->data_length = (size_t) (r.end - r.at);
    return !r.bad && message->data_length <= most_data(message->kind);
}
