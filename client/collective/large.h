/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large Allreduces: chunks from and into user memory, in parts of one aggregator each. Here is what
 * both shapes have in common: how a vector is cut, and the messages START, SENT, ACK and COMMIT of
 * each part. Under the lock of the client.
 */
#ifndef OC_CLIENT_COLLECTIVE_LARGE_H
#define OC_CLIENT_COLLECTIVE_LARGE_H

#include "client/collective/allreduce.h"
#include "client/plan/chunk_map.h"

typedef struct {
    oc_transfer_t transfer;
    oc_part_t *part;
} oc_part_transfer_t;

/* One chunk in flight; see slot.h. */
typedef struct oc_slot {
    oc_part_transfer_t contribution, result;
    oc_piece_t *piece;         /* of device memory: what is sent from, or received in; or NULL */
    oc_client_chunk_t chunk;
    size_t gets;               /* bytes of its result */
    const void *own;           /* what this rank adds to the result itself; NULL: nothing … */
    void *landing, *place;     /* … where the result comes, and where it belongs */
    unsigned waiting;          /* of the two transfers */
    bool eager;                /* counts as unasked until the result is here */
    uint64_t times[1 + OC_CLIENT_RESULT]; /* only with a timeline */
    struct oc_slot *next_idle;
} oc_slot_t;

/* Where aggregators are. */
typedef enum {
    OC_AT_SERVERS,
    OC_AT_PEERS,
    OC_NUM_SIDES
} oc_side_t;

/* What an aggregator gets of a vector from one team; empty if that is nothing. */
struct oc_part {
    oc_allreduce_t *allreduce;
    oc_lane_t *lane;
    oc_side_t side;            /* of its aggregator */
    oc_share_t share;
    oc_client_chunk_t next;    /* to be sent, while there is one */
    uint32_t last_bytes;       /* of its last chunk */
    uint32_t sent, received;
    bool acknowledged;
    oc_part_transfer_t start, news, ack, commit;
    uint8_t start_bytes[OC_HEADER_SIZE], sent_bytes[OC_HEADER_SIZE];
    uint8_t ack_bytes[OC_HEADER_SIZE], commit_bytes[OC_HEADER_SIZE];
    oc_slot_t *slots, *idle;
    unsigned num_slots;
    oc_piece_t *spare;         /* for one chunk of device memory, if there is any */
    bool spare_is_used;
    bool in_line;              /* of its lane */
    oc_part_t *line_prev, *line_next;
};

/* State of a large Allreduce. */
typedef struct {
    oc_chunk_map_t map;
    oc_part_t *parts;          /* of all lanes, from this rank's first one on */
    unsigned num_parts;
    /* The result of one of a part's chunks is here. */
    void (*chunk_done)(oc_part_t *part, const oc_client_chunk_t *chunk);
    /* So are the COMMITs of all parts; NULL: nobody wants to know. */
    void (*committed)(oc_allreduce_t *allreduce);
    oc_part_t *due;            /* node shape: of the step that may be sent */
    uint64_t span, horizons[OC_NUM_SIDES]; /* flat shape: see large_flat.c, … */
    bool awaited[OC_NUM_SIDES]; /* … whether a side had chunks without a result at the last look, … */
    uint64_t pause;            /* … and how many chunks end from one look to the next */
    uint32_t flying[OC_NUM_SIDES]; /* chunks in flight */
    uint32_t news;             /* flat shape: chunks that have ended since the last look */
    oc_mapping_t *mappings[3]; /* of recv, send and the arena, if the network's devices have to
                                  know them */
} oc_large_t;

static inline oc_large_t *oc_large_of(const oc_allreduce_t *allreduce)
{
    return allreduce->state;
}

/* Cuts the vector. OC_ERR_NO_MEMORY, OC_ERR_LIMIT or OC_OK; oc_large_end in any case. */
oc_status_t oc_large_make(oc_allreduce_t *allreduce);
/* The first part that has chunks, from this rank's first lane on, and the one after; or NULL. */
oc_part_t *oc_large_next(const oc_allreduce_t *allreduce, const oc_part_t *part);
/* Of a chunk that belongs to one of this rank's teams. */
oc_part_t *oc_large_part_of(const oc_allreduce_t *allreduce, uint32_t chunk);
/* Sends START: to be called before the part's first chunk goes. */
void oc_large_announce(oc_part_t *part);
/* Has the network's devices know the vectors, where they have to. */
void oc_large_map(oc_allreduce_t *allreduce);
/* A chunk of the part is here: after the last one it waits for SENT. */
void oc_large_received(oc_part_t *part);
/* Frees the parts. */
void oc_large_end(oc_allreduce_t *allreduce);
/* As oc_allreduce_algorithm_t says. */
const oc_lane_t *oc_large_leftover(const oc_allreduce_t *allreduce);

#endif
