/* SPDX-License-Identifier: BSD-3-Clause */
/* Codes of data messages: their key, their nonce, and what they cover. */
#include "protocol/seal.h"

#include "base/wire.h"
#include "protocol/tag.h"

#define TEAM_BITS     0xffffull
#define TYPE_SHIFT    60
#define RANK_SHIFT    44

_Static_assert(OC_MAX_SEQUENCE == 1ull << RANK_SHIFT, "a sequence has these bits");
_Static_assert(OC_MAX_RANKS == 1 << (TYPE_SHIFT - RANK_SHIFT), "a rank has these bits");
_Static_assert(OC_MAX_LANES == TEAM_BITS + 1, "so has an aggregator's number");

oc_mac_t *oc_seal_new(const uint8_t key[OC_JOB_KEY_SIZE], uint64_t leaf)
{
    uint8_t context[8];
    oc_writer_t w = {.at = context, .end = context + sizeof(context)};

    oc_put(&w, leaf, sizeof(context));
    return oc_mac_new(key, OC_JOB_KEY_SIZE, "data plane", context, sizeof(context));
}

_Static_assert(OC_MAX_CHUNK == 1u << (RANK_SHIFT - OC_TAG_HANDLE_BITS), "and the size of a chunk");

/*
 * What differs between messages of one type for a rank: the number of a collective. A group may be
 * made again on a server, if some ranks leave before others join: then READY has another handle.
 */
static uint64_t seal_number_of(const oc_header_t *header)
{
    return OC_MESSAGE_READY == header->message
               ? header->handle | (uint64_t) (header->chunk_bytes - 1) << OC_TAG_HANDLE_BITS
               : header->sequence;
}

static oc_nonce_t seal_nonce_of(uint64_t group, uint32_t aggregator, const oc_header_t *header)
{
    return (oc_nonce_t) {
        .high = (group & ~TEAM_BITS) | (aggregator & TEAM_BITS),
        .low = (uint64_t) header->message << TYPE_SHIFT | (uint64_t) header->rank << RANK_SHIFT
               | seal_number_of(header)};
}

/* The code stands behind all else of the header; what follows it is data. */
void oc_seal(oc_mac_t *mac, uint64_t group, uint32_t aggregator, const oc_header_t *header,
             uint8_t *message, size_t length)
{
    oc_mac_sign(mac, seal_nonce_of(group, aggregator, header), message, OC_CODE_OFFSET,
                message + OC_HEADER_SIZE, length - OC_HEADER_SIZE, message + OC_CODE_OFFSET);
}

bool oc_is_sealed(oc_mac_t *mac, uint64_t group, uint32_t aggregator, const oc_header_t *header,
                  const uint8_t *message, size_t length)
{
    return oc_mac_verify(mac, seal_nonce_of(group, aggregator, header), message, OC_CODE_OFFSET,
                         message + OC_HEADER_SIZE, length - OC_HEADER_SIZE,
                         message + OC_CODE_OFFSET);
}
