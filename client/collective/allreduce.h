/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An Allreduce, or a reduction whose result goes to other ranks: the caller's vectors, what travels
 * of them, and by which algorithm. Under the lock of the client.
 *
 *   allreduce --- vector        the caller's vectors, if they are memory of a device
 *             --- blocks        who owns what of the result, unless all get it (blocks.h)
 *             --- steps         node shape: its part of the stream of its host
 *             --- state         of its algorithm: a small one's message (small.h), …
 *                   --< part    … or a large one's share on one lane (large.h): START, window, ACK,
 *                               COMMIT
 *                         --< slot   one chunk in flight
 */
#ifndef OC_CLIENT_COLLECTIVE_ALLREDUCE_H
#define OC_CLIENT_COLLECTIVE_ALLREDUCE_H

#include "client/plan/block_map.h"
#include "client/plan/chunk_map.h"
#include "client/state/types.h"

typedef struct oc_allreduce oc_allreduce_t;

/* How an Allreduce travels; each is one file. */
typedef struct {
    size_t state_size;         /* of what it keeps in state, all zeros at start */
    /*
     * Starts. OC_OK, or why it could not; whether anything is under way then says waiting. It
     * calls oc_collective_finish when it is over.
     */
    oc_status_t (*start)(oc_allreduce_t *allreduce);
    /* It is over. The lanes of a group that has failed are gone. */
    void (*end)(oc_allreduce_t *allreduce);
    /*
     * After the loss of a server: all its transfers are over, whatever came of them, and it goes on in the next epoch,
     * as sequence, cut and lanes then say. NULL: it cannot.
     */
    void (*suspend)(oc_allreduce_t *allreduce);
    oc_status_t (*resume)(oc_allreduce_t *allreduce);
    /* A lane from which a message is here that its own receive has not taken; NULL: none. */
    const oc_lane_t *(*leftover)(const oc_allreduce_t *allreduce);
    /*
     * Node shape only. Whether a step that this rank owns, and that all ranks of its host have
     * given, can be sent now, and sends it. In the order of the steps.
     */
    bool (*may_send)(oc_allreduce_t *allreduce, uint32_t step);
    void (*send)(oc_allreduce_t *allreduce, uint32_t step);
    /* Node shape: when all steps are taken it waits for the COMMITs of all ranks of the host. */
    bool settles;
} oc_allreduce_algorithm_t;

/* How elements of the caller become others, and results those of the caller; see allreduce.c. */
typedef struct oc_conversion oc_conversion_t;

/* See vector.h. */
typedef struct {
    oc_device_t *send_device, *recv_device; /* NULL: host memory */
    oc_piece_t *ahead, *behind;
    oc_status_t status;        /* the first error of a device */
} oc_vector_t;

/* See step.h. */
typedef struct {
    uint64_t first;            /* in the stream of the host */
    uint32_t count;
    size_t bytes;              /* of each but the last, as they travel; of blocks see … */
    const oc_chunk_map_t *map; /* … the map; else NULL */
    const uint32_t *listed;    /* the chunks that they are; NULL: all, in order */
    bool hold;                 /* the host has some to do: that counts in waiting */
    bool stopped;              /* it had, in the epoch before: results may be there that were not taken */
} oc_steps_t;

/* See blocks.h. Elements count from the beginning of the vector. */
typedef struct {
    size_t *counts;            /* of the caller; or NULL */
    oc_block_map_t map;        /* no blocks: all ranks get all of the result */
    bool owner_gives;          /* the owner of a chunk contributes to it, as the others do */
    uint32_t member;           /* this rank's, as owners are counted */
    size_t own_first, own_count; /* what this rank gets */
    size_t recv_first;         /* the first element that has room in recv */
    void *kept;                /* in place: what it gets, until all have been sent … */
    size_t kept_bytes;         /* … and how large that is */
} oc_blocks_t;

/* How a large one was cut, and what of it is done. Groups that cannot go on without a server keep no account of it. */
typedef struct {
    uint32_t chunk_bytes;      /* 0: not yet */
    uint32_t num_chunks;
    uint8_t *have;             /* a bit for each chunk: its whole result is here; NULL: nobody asks */
    uint32_t *listed;          /* after a loss, those that are left to do; NULL: all are … */
    uint32_t num_listed;       /* … of which there are so many */
} oc_cut_t;

/* Results that some ranks have and others lack: one that has them contributes them, the others zeros; see supply.h */
typedef struct oc_supply oc_supply_t;

struct oc_allreduce {
    oc_collective_t base;      /* the first member */
    oc_allreduce_args_t args;
    unsigned type;             /* on the wire, as the next ones */
    size_t element, bytes;
    const void *send;          /* what goes on the wire: the caller's buffers, or packed */
    void *recv;
    oc_blocks_t blocks;
    oc_vector_t vector;        /* of send and recv */
    void *packed;              /* elements without gaps, floats, or in host memory; or NULL */
    size_t packed_bytes;
    const oc_conversion_t *conversion; /* by which they are packed; or NULL */
    bool wide;                 /* 16-bit floats travel as floats */
    uint64_t sequence;         /* on the wire, in this epoch … */
    uint64_t number;           /* … and in its group; the engine's own have none */
    uint64_t small_before;     /* small_begun of the group when it began */
    oc_cut_t cut;
    oc_supply_t *supply;       /* of the engine's own ones that are such; else NULL */
    void *owned;               /* of those, a vector that goes with it; or NULL */
    unsigned waiting;          /* transfers that have not called back, and steps */
    unsigned uncommitted;      /* aggregators whose COMMIT it waits for */
    oc_steps_t steps;
    const oc_allreduce_algorithm_t *algorithm; /* NULL: it has not started */
    void *state;
};

/* Of args, which are oc_allreduce_args_t; it has not begun. NULL: out of memory. */
oc_collective_t *oc_allreduce_new(oc_group_t *group, const void *args);

/* Whether its result goes to some ranks only. */
static inline bool oc_allreduce_has_owners(const oc_allreduce_t *allreduce)
{
    return OC_RESULT_TO_ROOT == allreduce->args.to || OC_RESULT_TO_BLOCKS == allreduce->args.to;
}

/* Bytes of the caller's: the last Barrier of a group has none. */
static inline size_t oc_allreduce_payload(const oc_allreduce_t *allreduce, size_t bytes)
{
    return OC_PARTING_NOT == allreduce->base.group->parting ? bytes : 0;
}

/* One of a group that servers serve: it has no other collectives. */
static inline oc_allreduce_t *oc_allreduce_of(oc_collective_t *collective)
{
    return (oc_allreduce_t *) collective;
}

#endif
