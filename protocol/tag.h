/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The 64-bit tag of a data message. Messages of large collectives have no other header.
 *
 *    63    60 59             40 39           24 23        12 11         0
 *   +--------+-----------------+---------------+------------+------------+
 *   |  kind  |  group handle   |     rank      |  sequence  |    slot    |
 *   +--------+-----------------+---------------+------------+------------+
 *
 * To an aggregator: handle is the one the server assigned, rank is the sender.
 * To a rank: handle is the one that rank assigned, rank is the aggregator's index in the group.
 * sequence: low bits of the collective's number. slot: low bits of the chunk's number on that
 * aggregator. Both are unambiguous because OC_MAX_SPAN and OC_MAX_WINDOW are smaller: of a rank
 * that is at its oldest collective others may be a span ahead, and begin what is another span away.
 */
#ifndef OC_PROTOCOL_TAG_H
#define OC_PROTOCOL_TAG_H

#include <stdint.h>

typedef enum {
    OC_KIND_REQUEST = 1,      /* to an aggregator, with header (protocol/message.h) */
    OC_KIND_CONTRIBUTION = 2, /* to an aggregator, bare data */
    OC_KIND_RESULT = 3,       /* to a rank, bare data */
    OC_KIND_REPLY = 4,        /* to a rank, with header */
    OC_KIND_CAST = 5,         /* from rank to rank; all else is 0, but for the slot of a note */
} oc_kind_t;

#define OC_TAG_KIND_SHIFT    60
#define OC_TAG_HANDLE_BITS   20
#define OC_TAG_SEQUENCE_BITS 12
#define OC_TAG_SLOT_BITS     12

/*
 * Slots of replies: READY, with sequence 0; COMMIT; SENT; and 0, RESULT and RESEND of small
 * vectors.
 */
#define OC_READY_SLOT  0xfff
#define OC_COMMIT_SLOT 1
#define OC_SENT_SLOT   2

/* Chunks of a collective with different numbers have different slots if they are less apart. */
#define OC_TAG_SLOTS (1u << OC_TAG_SLOT_BITS)

/* Slot of what ranks tell each other about shared memory (multicast/peers/note.h); messages
 * (multicast/wire/cast_message.h) have 0. */
#define OC_NOTE_SLOT 1

#define OC_TAG_EXACT     (~0ull)
#define OC_TAG_KIND_MASK (0xfull << OC_TAG_KIND_SHIFT)

#define OC_HANDLE_MAX ((1u << OC_TAG_HANDLE_BITS) - 1)

static inline uint64_t oc_tag(oc_kind_t kind, uint32_t handle, uint32_t rank, uint64_t sequence,
                              uint64_t slot)
{
    return (uint64_t) kind << 60 | (uint64_t) (handle & OC_HANDLE_MAX) << 40
           | (uint64_t) (rank & 0xffff) << 24 | (sequence & 0xfff) << 12 | (slot & 0xfff);
}

static inline oc_kind_t oc_tag_kind(uint64_t tag)
{
    return (oc_kind_t) (tag >> 60);
}

static inline uint32_t oc_tag_handle(uint64_t tag)
{
    return (uint32_t) (tag >> 40) & OC_HANDLE_MAX;
}

static inline uint32_t oc_tag_rank(uint64_t tag)
{
    return (uint32_t) (tag >> 24) & 0xffff;
}

#endif
