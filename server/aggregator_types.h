/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data model of an aggregator, on one page. All of it belongs to the aggregator's thread.
 *
 *   aggregator --< peer          a client process: its endpoint
 *              --< group         a communicator: its members (peer, reply handle)
 *                   --< early          a contribution whose chunk has no memory yet
 *                   --- above          on a leaf: the same group on the server above
 *                   --< reduction      one collective
 *                         --< held       small: contributions, by rank
 *                         --< chunk      large: n buffers and n transfers, at most `window`
 */
#ifndef OC_SERVER_AGGREGATOR_TYPES_H
#define OC_SERVER_AGGREGATOR_TYPES_H

#include <pthread.h>
#include <uthash.h>

#include "base/limits.h"
#include "base/mac.h"
#include "base/stock.h"
#include "base/timeline.h"
#include "protocol/message.h"
#include "reduction/reduction.h"
#include "server/aggregator.h"
#include "server/pool.h"
#include "server/tag_table.h"
#include "ucx_backend/worker.h"

typedef struct {
    uint32_t client;
    oc_endpoint_t *endpoint;         /* NULL: it has joined no group, or is gone */
    void *address;                   /* of its worker; NULL once it was needed, or is gone */
    oc_aggregator_t *aggregator;
    unsigned members;                /* of groups, which still point here */
    UT_hash_handle hh;
} oc_peer_t;

typedef struct {
    oc_peer_t *peer;                 /* NULL: not joined, or gone before */
    uint32_t reply_handle;
    bool joined;
    bool told;                       /* READY was sent */
    uint64_t early;                  /* what its contributions that wait for their chunks cost */
} oc_group_member_t;

struct oc_reduction;
typedef struct oc_early oc_early_t;

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
    bool dropped;                    /* freed with the last reference */
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

struct oc_chunk {
    struct oc_reduction *reduction;
    uint32_t number;                 /* on this aggregator */
    uint32_t length;                 /* bytes */
    uint32_t waiting;                /* transfers of the present phase */
    uint8_t *buffers;                /* num_ranks times the group's chunk_bytes */
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
    uint32_t admitted, answered, finished; /* chunks: with memory, with results on their way, sent */
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
    uint8_t *arrays[];               /* held and seen are here */
} oc_reduction_t;

/* Receives that are always posted for messages with header. */
#define OC_POSTED_REQUESTS 32

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
    oc_peer_t *peers;                /* hash by client */
    oc_endpoint_t *parent;           /* on a leaf: its partner on the server above */
    size_t unasked;                  /* bytes sent there that it may not have received yet … */
    uint64_t eager_window;           /* … and how many of them there may be */
    oc_server_group_t *groups;       /* hash by handle */
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

/* requests.c: messages with header */
oc_status_t oc_requests_post(oc_aggregator_t *aggregator);
void oc_requests_free(oc_aggregator_t *aggregator);
void oc_request_release(oc_request_t *request);

/* codes.c: which messages are of this job */
/* The job's key has come. */
void oc_codes_open(oc_aggregator_t *aggregator, oc_command_t *command);
void oc_codes_close(oc_aggregator_t *aggregator);
/* Writes the header, and the code of the message of which it is a part; to members, or above. */
void oc_seal_reply(const oc_server_group_t *group, const oc_header_t *header, uint8_t *message,
                   size_t length);
void oc_seal_above(const oc_server_group_t *group, const oc_header_t *header, uint8_t *message,
                   size_t length);
bool oc_request_is_genuine(const oc_server_group_t *group, const oc_request_t *request);
/* Whether that was received, and sent by the server above; with its header. */
bool oc_is_from_above(const oc_server_group_t *group, const oc_transfer_t *transfer,
                      const uint8_t *message, oc_header_t *header);
void oc_count_forged(oc_aggregator_t *aggregator, size_t length);

/*
 * leftovers.c: messages that no receive has taken although one was posted for each: others were taken
 * in their place
 */
/* The rank has sent all its contributions: whether all of them were taken; false: the group fails. */
bool oc_leftovers_none_of(oc_reduction_t *reduction, uint32_t rank);
/* On a leaf: the same for the results that the server above has sent. */
bool oc_leftovers_none_above(oc_reduction_t *reduction);
/* What does not go on may wait for such a message: to be called now and then, after progress. */
void oc_leftovers_sweep(oc_aggregator_t *aggregator);

/* aggregator.c: the thread */
/* Carries out the commands that have come. Groups and peers may be gone afterwards. */
void oc_aggregator_drain(oc_aggregator_t *aggregator);

/* peers.c: clients */
void oc_server_peer_add(oc_aggregator_t *aggregator, const oc_command_t *command);
/* Its endpoint is closed at once; the rest ends when the last group has left it. */
void oc_server_peer_drop(oc_aggregator_t *aggregator, uint32_t client);
/* For a member of a group, which leaves it again. NULL: the client is gone. */
oc_peer_t *oc_server_peer_join(oc_aggregator_t *aggregator, uint32_t client);
void oc_server_peer_leave(oc_peer_t *peer);
/* Tells the control side that the client cannot be served, or that UCX lost it. */
void oc_server_peer_lost(oc_aggregator_t *aggregator, uint32_t client);

/* groups.c: groups and their members */
/* The group with that handle and that member, or NULL. Carries out commands if any is missing. */
oc_server_group_t *oc_aggregator_group(oc_aggregator_t *aggregator, uint32_t handle,
                                       uint32_t rank);
/* A rank joins; with the first one, the group begins. */
void oc_aggregator_group_join(oc_aggregator_t *aggregator, const oc_command_t *command);
/* Nothing new is begun; it is freed when the last transfer that points to it has ended. */
void oc_aggregator_group_drop(oc_aggregator_t *aggregator, uint32_t handle);
/* On a leaf: the group has that handle on the server above. */
void oc_aggregator_group_above(oc_aggregator_t *aggregator, const oc_command_t *command);
/* The control side hears of it; nothing new is begun. Only the first call counts. */
void oc_aggregator_group_failed(oc_server_group_t *group, oc_status_t status, const char *format,
                                ...) __attribute__((format(printf, 3, 4)));
/* Its members may begin, if nothing lacks: READY goes to all that have joined. */
void oc_aggregator_group_ready(oc_server_group_t *group);
/* Who it is, for messages: in a tree, members have other numbers than the ranks of MPI. */
#define OC_MEMBER_NAME_SIZE 40
const char *oc_group_member_name(const oc_server_group_t *group, uint32_t rank,
                                 char name[OC_MEMBER_NAME_SIZE]);
/* A transfer points to it, or does no longer. */
void oc_group_hold(oc_server_group_t *group);
void oc_group_release(oc_server_group_t *group);

/* replies.c: what is sent to members */
/* Sends to a member; the transfer completes with an error when the member is gone. */
void oc_aggregator_send(oc_server_group_t *group, uint32_t rank, oc_transfer_t *transfer,
                        const void *data, size_t length, uint64_t tag);
/* To be filled and sent at once; NULL: out of memory, and the group has failed. */
oc_header_message_t *oc_header_message_new(oc_server_group_t *group);
/* Makes it and sends it to a member. */
void oc_aggregator_send_header(oc_server_group_t *group, uint32_t rank, const oc_header_t *header,
                               uint64_t slot);
/* A client that is gone is dealt with elsewhere; any other failure leaves a rank waiting. */
void oc_aggregator_check_sent(oc_server_group_t *group, const oc_transfer_t *transfer);

/* reduction.c: collectives */
void oc_reduction_request(oc_server_group_t *group, const oc_request_t *request);
/* The same bytes to all ranks; they stay until the last one has them. */
void oc_reduction_reply(oc_reduction_t *reduction, const void *data, size_t length);
/* The results of all chunks are on their way to all ranks. */
void oc_reduction_sent(oc_reduction_t *reduction);
/* All ranks have acknowledged their results, everywhere. */
void oc_reduction_commit(oc_reduction_t *reduction);
/* Cancels what can be canceled; the rest ends when its transfers do. */
void oc_reductions_abandon(oc_server_group_t *group);
void oc_reductions_free(oc_server_group_t *group);
void oc_reduction_settle(oc_reduction_t *reduction);

/* queue.c: who waits for memory */
/* To the end of its group's queue for memory, and the group to the end of all groups. */
void oc_reduction_starve(oc_reduction_t *reduction);
/* It gets what it waited for, or ends. */
void oc_reduction_stop_starving(oc_reduction_t *reduction);
/* If memory came back, whoever waits for it goes on; whether anybody did. */
bool oc_reduction_feed(oc_aggregator_t *aggregator);
/* Whether a collective may be given memory that is free: nobody has to wait for it before. */
bool oc_reduction_may_take(const oc_aggregator_t *aggregator);

/* reserve.c: memory that is kept back, so that there is always one that can go on */
/* For a new group. In a tree, and for all groups of a leaf: if there is no room for it, it is owed. */
void oc_reserve_take(oc_server_group_t *group);
void oc_reserve_give(oc_server_group_t *group);
/* Memory came back: who is owed something gets it first, and then the reserve that is shared. */
void oc_reserves_pay(oc_aggregator_t *aggregator);
/* Whether what comes back is for reserves. */
bool oc_reserves_lack(const oc_aggregator_t *aggregator);
/* Whether one could be lent to who waits, if what he waits for has arrived. */
bool oc_reserve_is_free(const oc_aggregator_t *aggregator);
/* Makes room for a chunk of this collective; false: the reserve is not for it, or not free. */
bool oc_reserve_lend_chunk(oc_reduction_t *reduction);
void oc_reserve_return_chunk(oc_server_group_t *group);
/* Makes room for so much of a small collective. */
bool oc_reserve_lend_small(oc_reduction_t *reduction, size_t size);
/* A piece that counted so much is back in the pool. */
void oc_reserve_return_piece(oc_reduction_t *reduction, size_t cost);

/* small.c: the contributions to a small collective */
void oc_small_arrive(oc_reduction_t *reduction, const oc_request_t *request);
/* … of a rank that was asked for it again */
void oc_small_arrive_again(oc_reduction_t *reduction, const oc_request_t *request);
/* All ranks have come. */
void oc_small_admit(oc_reduction_t *reduction);
/* One that waits for memory, in its turn or else by the group's reserve: whether it is done. */
bool oc_small_feed(oc_reduction_t *reduction, bool in_turn);
void oc_small_free(oc_reduction_t *reduction);
/*
 * Drops what other collectives do not need yet, if that makes room for so much. reduction: who
 * wants it, and keeps what it has; or NULL.
 */
bool oc_small_make_room(oc_aggregator_t *aggregator, const oc_reduction_t *reduction, size_t size);
/* On a leaf: the result of all has come, with its header, where the leaf's own was. */
void oc_small_result(oc_reduction_t *reduction);

/* early.c: messages that came before a receive was posted */
/*
 * To be called after progress. Takes them away from UCX: contributions of members are kept for
 * their chunks, all else is dropped. Whether there was any. Groups and peers may be gone
 * afterwards.
 */
bool oc_early_sweep(oc_aggregator_t *aggregator);
/* The contribution with that tag, which is the caller's to be received; false: it has not come. */
bool oc_early_take(oc_server_group_t *group, uint64_t tag, oc_unexpected_t *message);
/* Whether it is here, or announced, and no receive has taken it. */
bool oc_early_has(const oc_server_group_t *group, uint64_t tag);
/* As oc_receive, of that or of what is to come. */
void oc_early_receive(oc_server_group_t *group, oc_transfer_t *transfer, void *buffer, size_t length,
                      uint64_t tag);
/* Nothing of this group will be received any more. */
void oc_early_forget(oc_server_group_t *group);

/* chunks.c: the chunks of a large collective */
/* All ranks have come. */
void oc_chunks_begin(oc_reduction_t *reduction);
/* As many as the window allows and there is memory for; the rest waits. */
void oc_chunks_admit(oc_server_group_t *group);
/*
 * One chunk of a collective that waits for memory, if it is its turn, or else by the group's
 * reserve: false if there is no room.
 */
bool oc_chunks_feed(oc_reduction_t *reduction, bool in_turn);
/* Whether the contributions of all ranks to the next chunk are here, or announced. */
bool oc_chunks_next_is_here(oc_reduction_t *reduction);
void oc_chunks_close(oc_reduction_t *reduction);
void oc_chunks_cancel(oc_reduction_t *reduction);
/* The result of all is in the chunk's first buffer: it goes to the members. */
void oc_chunk_result(oc_chunk_t *chunk);
void oc_chunk_drop(oc_chunk_t *chunk);

/* above*.c: a leaf passes on what it has reduced, and the result back */
void oc_above_connect(oc_aggregator_t *aggregator, const void *address);
/* false: out of memory */
bool oc_above_new(oc_server_group_t *group, uint32_t leaf);
void oc_above_joined(oc_server_group_t *group, uint32_t handle);
/* The server above takes no more than so many bytes unasked. */
void oc_above_limit(oc_aggregator_t *aggregator, uint64_t eager_window);
/* The group is dropped. */
void oc_above_cancel(oc_server_group_t *group);
/* All members have begun a large collective. */
void oc_above_start(oc_reduction_t *reduction);
/* The chunk's first buffer is sent, and the result received there. */
void oc_above_chunk(oc_chunk_t *chunk);
/* The same with data behind a header. */
void oc_above_small(oc_reduction_t *reduction);
/* All members have the results: ACK, then COMMIT. */
void oc_above_acknowledge(oc_reduction_t *reduction);
void oc_above_cancel_reduction(oc_reduction_t *reduction);

#endif
