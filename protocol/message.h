/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The 64-byte header of data-plane messages of kind REQUEST and REPLY, with room for a code at its
 * end (protocol/seal.h). Data of a small collective follows it directly, aligned for every type
 * when the message is.
 */
#ifndef OC_PROTOCOL_MESSAGE_H
#define OC_PROTOCOL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define OC_HEADER_SIZE 64

typedef enum {
    OC_MESSAGE_SMALL = 1,  /* rank: a whole contribution follows */
    OC_MESSAGE_START = 2,  /* rank: a large collective begins; contributions come as bare data */
    OC_MESSAGE_ACK = 3,    /* rank: it has the results of the first `chunks` chunks */
    OC_MESSAGE_RESULT = 4, /* aggregator: the whole result of a small collective follows */
    OC_MESSAGE_COMMIT = 5, /* aggregator: all ranks acknowledged the first `chunks` chunks */
    OC_MESSAGE_READY = 6,  /* aggregator: it can reach the rank; before any collective */
    OC_MESSAGE_RESEND = 7, /* aggregator: it had no room for the rank's SMALL, and has it now */
    OC_MESSAGE_SENT = 8,   /* aggregator: the results of all `chunks` chunks have gone before */
} oc_message_type_t;

/* Who gets the results of a large collective. */
typedef enum {
    OC_TO_ALL = 0,
    OC_TO_OWNERS = 1,      /* each rank those of the chunks that it owns */
} oc_receivers_t;

/* The chunks on this aggregator that the sender of START owns: side by side. */
typedef struct {
    uint32_t first;        /* their first one … */
    uint32_t chunks;       /* … and how many they are */
    bool gives;            /* it contributes to them, too */
    uint16_t cut;          /* digest of who owns what of the whole vector: equal on all ranks */
} oc_ownership_t;

typedef struct {
    uint8_t message;       /* oc_message_type_t */
    uint8_t op;            /* oc_op_t of reduction/ */
    uint8_t type;          /* oc_type_t of reduction/ */
    uint8_t to;            /* oc_receivers_t */
    uint32_t handle;       /* of the group, as the server assigned it */
    uint32_t rank;         /* requests: sender; replies: aggregator's index in the group */
    uint32_t chunk_bytes;  /* bytes of a chunk, or the most that it has; SMALL and RESULT: of the data that follows,
                              RESEND: of the data that is asked for */
    uint32_t last_bytes;   /* bytes of this aggregator's last chunk; to owners: 0 */
    uint32_t chunks;       /* on this aggregator, at least 1 */
    uint64_t sequence;     /* number of the collective in its group, from 0 */
    uint64_t count;        /* elements of the whole vector */
    oc_ownership_t own;    /* START to owners; else zeros */
} oc_header_t;

void oc_header_encode(const oc_header_t *header, uint8_t buffer[OC_HEADER_SIZE]);

/*
 * length is that of the whole message. OC_ERR_INVALID: not such a header, or its numbers
 * contradict each other or the limits; op and type are for the receiver to judge.
 */
oc_status_t oc_header_decode(const void *buffer, size_t length, oc_header_t *header);

#endif
