/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data model of an aggregator, on one page. All of it belongs to the aggregator's thread: only
 * that thread calls functions which take a part of it, and none of these blocks.
 *
 *   aggregator --< peer          a client process: its endpoint
 *              --< group         a communicator: its members (peer, reply handle)
 *                   --< early          a contribution whose chunk has no memory yet
 *                   --- above          on a leaf: the same group on the server above
 *                   --< reduction      one collective
 *                         --< held       small: contributions, by rank
 *                         --< chunk      large: n buffers and n transfers, at most `window`
 */
#ifndef OC_SERVER_AGGREGATOR_AGGREGATOR_TYPES_H
#define OC_SERVER_AGGREGATOR_AGGREGATOR_TYPES_H

#include <pthread.h>
#include <uthash.h>

#include "base/limits.h"
#include "base/mac.h"
#include "base/stock.h"
#include "base/timeline.h"
#include "protocol/message.h"
#include "reduction/reduction.h"
#include "server/aggregator/aggregator.h"
#include "server/aggregator/pool.h"
#include "server/aggregator/tag_table.h"
#include "ucx_backend/worker.h"

typedef struct {
    uint32_t client;
    oc_endpoint_t *endpoint;         /* NULL: it has joined no group, or is gone */
    void *address;                   /* of its worker; NULL once it was needed, or is gone */
    oc_aggregator_t *aggregator;
    unsigned members;                /* of groups, which still point here */
    UT_hash_handle hh;
} oc_server_peer_t;

typedef struct {
    oc_server_peer_t *peer;          /* NULL: not joined, or gone before */
    uint32_t reply_handle;
    bool joined;
    bool told;                       /* READY was sent */
    uint64_t early;                  /* what its contributions that wait for their chunks cost */
} oc_group_member_t;

struct oc_reduction;
struct oc_chunk;
typedef struct oc_early oc_early_t;

/* What becomes of what the members of a group add up; see outlets.c. Nothing here blocks. */
typedef struct {
    /* All members have begun a large collective. */
    void (*start)(struct oc_reduction *reduction);
    /* A chunk is reduced, in its first buffer. */
    void (*chunk)(struct oc_chunk *chunk);
    /* A small collective is reduced, in held[0] behind room for a header. */
    void (*small)(struct oc_reduction *reduction);
    /* All members have acknowledged their results. */
    void (*acknowledge)(struct oc_reduction *reduction);
} oc_outlet_t;

/* A group whose results are passed on to the server above, which adds up those of all leaves. */
typedef struct {
    oc_transfer_t transfer;          /* of its READY */
    struct oc_server_group *group;
    uint8_t bytes[OC_HEADER_SIZE];
    uint32_t leaf;                   /* this one's number: its rank there */
    uint32_t chunk_bytes;            /* the largest that it takes there */
    uint32_t handle;                 /* of the group there … */
    bool joined;                     /* … once it is known */
    bool ready;
    uint64_t early;                  /* what its messages that wait for their receives cost */
} oc_above_t;

typedef struct oc_server_group {
    oc_aggregator_t *aggregator;
    uint64_t id;                     /* in the job; the handle is this server's word for it */
    uint32_t handle, num_ranks;
    uint32_t num_joined;
    uint32_t index;                  /* of this aggregator in the group */
    uint32_t chunk_bytes, window, small_bytes;
    bool renewed;                    /* no rank knows when all others have joined: READY tells */
    bool reserves;                   /* its contributions may wait for the results of others */
    bool tree;                       /* its members are leaves, or this server is one */
    bool goes_up;                    /* it has, or is going to have, what is above */
    bool own_reserve;                /* it has one for itself: see reserve.c */
    bool owed;                       /* that is not there yet */
    bool chunk_lent, small_lent;
    oc_above_t *above;               /* NULL: what it reduces is the result */
    oc_group_member_t *members;
    struct oc_reduction *reductions; /* in no order */
    unsigned num_reductions;
    struct oc_reduction *open;       /* large ones with chunks to be admitted, in order */
    size_t flying;                   /* bytes of chunks that are admitted and not finished */
    oc_early_t *early;               /* contributions to chunks that have no memory yet */
    struct oc_reduction *waiting;    /* for memory, in order … */
    struct oc_server_group *starving_prev, *starving_next;   /* … so it is in this list */
    const void **sources;            /* num_ranks pointers, for the kernels */
    unsigned references;             /* transfers that still point here */
    bool failed;                     /* an error was reported: nothing new is started */
    bool dropped;                    /* freed with the last reference … */
    void (*end)(struct oc_server_group *group); /* … by this, of server_groups.c */
    const oc_outlet_t *outlet;       /* what becomes of its results */
    struct oc_server_group *owed_prev, *owed_next;
    UT_hash_handle hh;
} oc_server_group_t;

/* A message with header, in a buffer of its own. */
typedef struct oc_request {
    oc_transfer_t transfer;
    oc_aggregator_t *aggregator;
    oc_header_t header;
    struct oc_request *next, *prev;
    uint8_t bytes[OC_HEADER_SIZE + OC_MAX_SMALL] __attribute__((aligned(64)));
} oc_request_t;

typedef struct oc_chunk oc_chunk_t;

typedef struct {
    oc_transfer_t transfer;
    oc_chunk_t *chunk;
} oc_chunk_transfer_t;

/* All members get the result of a chunk, or, in a tree, one at another leaf does. */
#define OC_NO_OWNER UINT32_MAX

struct oc_chunk {
    struct oc_reduction *reduction;
    uint32_t number;                 /* on this aggregator */
    uint32_t length;                 /* bytes of a contribution … */
    bool unknown;                    /* … or the most that they may be */
    bool owner_gives, wide;          /* the owner contributes; it gets floats for 16-bit floats */
    uint32_t counted;                /* of the group's bytes under way */
    uint32_t owner;                  /* the member that gets the result, or OC_NO_OWNER */
    uint32_t waiting;                /* transfers of the present phase */
    uint8_t *buffers;                /* num_ranks times the group's chunk_bytes */
    uint8_t *result;                 /* there, once it is reduced; NULL: nobody contributed here */
    bool lent;                       /* they are of a reserve */
    oc_chunk_transfer_t up, down;    /* on a leaf: to and from the server above */
    bool eager;                      /* it counts there until its result is here */
    uint64_t times[1 + OC_SERVER_SENT]; /* only with a timeline; and these ranks */
    uint32_t first, last;
    oc_chunk_t *prev, *next;
    oc_chunk_transfer_t transfers[];
};

typedef struct {
    oc_transfer_t transfer;
    struct oc_reduction *reduction;
} oc_reply_transfer_t;

#define OC_SEEN_ARRIVED 1
#define OC_SEEN_ACKED   2
#define OC_SEEN_ASKED   4    /* to send its small contribution again */

typedef struct oc_reduction {
    oc_server_group_t *group;
    uint64_t sequence;
    oc_header_t header;              /* of the first rank that came */
    oc_reduce_fn_t kernel;
    size_t element;                  /* bytes */
    uint32_t arrived, acked;         /* ranks */
    uint8_t *seen;                   /* for each rank: OC_SEEN_* */
    uint32_t admitted, answered, finished; /* chunks: with memory, results on their way, sent */
    oc_ownership_t *owns;            /* by rank, if it goes to owners; else NULL; see receivers.c */
    uint32_t owner;                  /* of the next chunk, or the next one that is a member */
    bool waits_for_memory, has_waited;
    uint8_t **held;                  /* small: by rank; NULL: has not come, or was dropped */
    size_t cached;                   /* small: what of it may be dropped, as the pool counts */
    uint32_t asked;                  /* small: ranks that are to send again */
    size_t lent;                     /* small: what it has of a reserve */
    uint32_t here, here_of;          /* large: ranks whose contribution to that chunk is here */
    oc_chunk_t *chunks;              /* large: admitted and not finished */
    uint8_t reply[OC_HEADER_SIZE];
    oc_reply_transfer_t *replies;    /* by rank */
    uint32_t replies_left;
    uint8_t sent[OC_HEADER_SIZE];    /* large: SENT … */
    oc_reply_transfer_t *notices;    /* … by rank */
    uint32_t notices_left;
    uint64_t swept_steps;            /* large: how far it was at the last sweep, … */
    uint32_t swept;                  /* … and how many chunks these have looked through */
    bool stuck;
    bool down_posted;                /* on a leaf: a reply of the parent, with this tag */
    uint64_t down_tag;
    oc_reply_transfer_t up, down;    /* on a leaf; small: partial result, result; large: COMMIT */
    bool resent_above;               /* small: it was sent again, once at most … */
    bool spoiled;                    /* … and cannot be: a forged reply lies there */
    bool is_open;                    /* in the group's list of those */
    struct oc_reduction *open_prev, *open_next;
    struct oc_reduction *prev, *next;    /* in the group's list of those without memory */
    struct oc_reduction *cache_prev, *cache_next;    /* … and of those that may lose some */
    struct oc_reduction *group_prev, *group_next;    /* … in the list of its group */
    struct oc_reduction *place_prev, *place_next;    /* … and of its place in the table */
    uint8_t *arrays[];               /* held, owns and seen are here */
} oc_reduction_t;

/* Receives that are always posted for messages with header. */
#define OC_POSTED_REQUESTS 32

/*
 * Collectives of a group that an aggregator knows at a time. No rank has more than OC_MAX_IN_FLIGHT
 * under way, but one may be done with some whose answers are still on their way to another.
 */
#define OC_MAX_REDUCTIONS (2 * OC_MAX_IN_FLIGHT)

/* Places of the table of collectives; many at a time share some. */
#define OC_REDUCTION_PLACES 1024u

/* What is kept, in bytes, for collectives and chunks to come, beside their data. */
#define OC_AGGREGATOR_STOCK ((size_t) 1 << 20)

/* The reserve that groups share. */
typedef struct {
    unsigned groups;                 /* that count: those that have none of their own … */
    unsigned sharing;                /* … and of them those that need one: without, it is empty */
    size_t step;                     /* the largest of these groups, which it should be able to do */
    size_t secured;                  /* what is kept back for it … */
    size_t lent;                     /* … and what of it somebody has */
} oc_reserve_t;

struct oc_aggregator {
    oc_aggregator_config_t config;
    pthread_t thread;
    oc_worker_t *worker;
    oc_mailbox_t inbox;
    bool stop;
    oc_server_peer_t *peers;         /* hash by client */
    oc_endpoint_t *parent;           /* on a leaf: its partner on the server above */
    size_t unasked;                  /* bytes sent there that it may not have received yet … */
    uint64_t eager_window;           /* … and how many of them there may be */
    oc_server_group_t *groups;       /* hash by handle */
    unsigned num_groups;             /* and those that were dropped, but are not freed yet */
    oc_reduction_t *reductions[OC_REDUCTION_PLACES];
    oc_stock_t stock;                /* for reductions and chunks */
    oc_pool_t pool;
    oc_reserve_t reserve;
    oc_server_group_t *owed;         /* groups that wait for their reserve, in order */
    oc_server_group_t *starving;     /* wait for memory, in order */
    uint64_t fed;                    /* returns to the pool that the starving know of */
    oc_reduction_t *caches;          /* small ones with contributions that may be dropped */
    size_t cached;                   /* … all of them, as the pool counts */
    unsigned served_clients, served_groups; /* all that there ever were */
    unsigned long long waited;       /* collectives that found no memory */
    unsigned long long lent;         /* steps that had the shared reserve */
    unsigned long long asked;        /* contributions that were dropped and asked for again */
    oc_tag_table_t early;            /* of all groups */
    uint64_t early_cost, early_told; /* of all of them; and when the control side last looked */
    unsigned long long dropped, dropped_bytes; /* messages that were for nobody */
    oc_mac_t *codes, *codes_above;   /* of messages; the latter on a leaf, to its parent */
    unsigned long long forged;       /* messages that nobody of the job made */
    unsigned long long received;     /* requests */
    unsigned long long swept_received; /* … at the last sweep … */
    unsigned stuck;                  /* … and how many sweeps have found none but some that wait */
    bool sweeps;                     /* one is due … */
    uint64_t swept_at;               /* … when the last one is a while ago */
    oc_request_t *posted;
    oc_request_t *spare;
    oc_timeline_t *timeline;         /* NULL: none is wanted */
};

/* A message without data, which is freed when it is sent. */
typedef struct {
    oc_transfer_t transfer;
    oc_server_group_t *group;
    uint8_t bytes[OC_HEADER_SIZE];
} oc_header_message_t;

#endif
