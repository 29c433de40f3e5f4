/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reliable broadcast protocol: a group of ranks, and operations in which each rank's block
 * reaches all others. This is the protocol alone: it opens nothing, knows no clock, draws no
 * random numbers, and reaches the network through oc_cast_net_t only. All times are nanoseconds
 * of one clock, whichever. Not thread-safe: callers lock.
 *
 * Life: oc_cast_group_new, then probing (every rank makes sure that the datagrams of all others
 * reach it) until oc_cast_group_ready; operations, in the same order on all ranks;
 * oc_cast_group_free.
 *
 * doc/multicast.md describes the messages and why it works.
 */
#ifndef OC_MULTICAST_CORE_CAST_CORE_H
#define OC_MULTICAST_CORE_CAST_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "multicast/transport/transport.h"
#include "staging/stage.h"

typedef struct oc_cast_group oc_cast_group_t;

/* Largest message that is given to oc_cast_net_t.post and that a peer may send. */
#define OC_CAST_MESSAGE_MAX 32768u

/* Only ever count up. */
typedef struct {
    unsigned long long fragments_sent;       /* by multicast, the first time */
    unsigned long long fragments_received;   /* by multicast, and were missing */
    unsigned long long fragments_lost;       /* asked for or sent again, the first time */
    unsigned long long fragments_recovered;  /* were sent again, and were missing */
    unsigned long long fragments_recast;     /* sent again by multicast */
    unsigned long long groups_unicast;       /* that go on without multicast */
    unsigned long long fragments_duplicated; /* were there already */
    unsigned long long fragments_late;       /* of operations that are over */
    unsigned long long fragments_foreign;    /* of no group of this process, or malformed */
    unsigned long long datagrams_foreign;    /* from where no rank sends */
    unsigned long long datagrams_forged;     /* their code did not fit */
    unsigned long long messages_forged;      /* the same of messages and notes of peers */
    unsigned long long blocks_corrupted;     /* checksums that did not fit */
    unsigned long long control_messages;     /* sent */
    unsigned long long control_bytes;        /* of those, without repaired data */
    unsigned long long repair_bytes;         /* data sent to peers that lacked it */
    unsigned long long bytes_shared;         /* messages from peers, through shared memory */
    unsigned long long memberships_renewed;  /* that were lost, by the network or the port */
    unsigned long long datagrams_own;        /* came back from the network, and were dropped */
} oc_cast_counters_t;

/* How a group reaches the others. Calls come from within those of the group, never otherwise. */
typedef struct {
    void *context;
    /* As oc_transport_ops_t.send. */
    unsigned (*cast)(void *context, const oc_outgoing_t *datagrams, unsigned count);
    /*
     * Bytes that each connection by which this process sends much keeps in the queue of this host that datagrams leave
     * by, too; 0: they do not share one.
     */
    size_t (*queued)(void *context);
    /* How many connections do so now. */
    unsigned (*connections)(void *context);
    /*
     * Sends a message to a rank, reliably; order does not matter. Both parts are copied before it
     * returns. What cannot be sent shows as a failure of the group, later.
     */
    void (*post)(void *context, uint32_t rank, const void *head, size_t head_length,
                 const void *data, size_t data_length);
    /* As post, of a message that must reach the rank even if this one does nothing more. */
    void (*tell)(void *context, uint32_t rank, const void *head, size_t head_length,
                 const void *data, size_t data_length);
    /* How many bytes may be posted now without piling up. Control messages need not ask. */
    size_t (*room)(void *context, uint32_t rank);
    /* Messages that were told and have not left this process yet. */
    unsigned (*unsent)(void *context);
    /*
     * Whether a rank can be reached: neighbours in the tree from the beginning, others after learn, and if
     * they were shy, after heard. Messages are posted and told to no others.
     */
    bool (*knows)(void *context, uint32_t rank);
    /* Writes how this rank is reached, at most OC_CONTACT_MAX bytes; returns how many. */
    size_t (*contact)(void *context, uint8_t *bytes);
    /*
     * What another rank's contact wrote, which may connect to this one. It may be known already. shy: this one may
     * not connect to it yet, unless another group knows better.
     */
    void (*learn)(void *context, uint32_t rank, const uint8_t *contact, size_t length, bool shy);
    /* A message of the rank has come: this one may connect to it. */
    void (*heard)(void *context, uint32_t rank);
} oc_cast_net_t;

/* Equal on all ranks of the group, but for rank, net and counters. */
typedef struct {
    uint32_t num_ranks, rank;
    uint64_t token;
    const uint8_t *job_key;     /* OC_JOB_KEY_SIZE bytes; read once */
    const uint32_t *hosts;      /* by rank: ranks on one host have the same number; copied */
    size_t datagram_size;       /* bytes, header included */
    uint32_t chains;            /* ranks that send at a time, all if it is more; 0: see chain.c */
    size_t window;              /* bytes that all others together may have under way to one rank */
    uint32_t staging;           /* datagrams that each rank keeps until it looks; 0: enough */
    bool second;                /* beside another group of these ranks, in which all have been heard: see alternate.h */
    uint64_t probe_timeout;     /* ns that probing may take without a sign of a rank; 0: no limit */
    oc_cast_net_t net;
    oc_cast_counters_t *counters;
} oc_cast_config_t;

typedef struct {
    const void *send;           /* this rank's block; NULL: it is in its place in recv already … */
    const size_t *ready;        /* … or at least so many bytes of it are, which only grows; NULL: all are. Whoever
                                   makes it grow calls oc_cast_progress */
    void *recv;                 /* where the blocks of all ranks are */
    size_t block;               /* bytes of each block, side by side in rank order, if … */
    const size_t *lengths;      /* … this is NULL: bytes of each rank's block. Copied */
    const size_t *offsets;      /* bytes from recv to each rank's block; with lengths. Copied */
    /*
     * Of send, and of recv, if that is memory of a device: nothing else touches it. Until finished;
     * the caller flushes what was received. NULL: host memory.
     */
    oc_stage_t *send_stage, *recv_stage;
    bool blocking;              /* every rank stays in the call until it is over */
    uint64_t number;            /* its place among the operations of groups that alternate, from 1 on; else 0 */
    /*
     * Called once, but not from within the oc_cast_start of this operation: the buffers are the
     * caller's again. With an error recv holds garbage. Must not call the group.
     */
    void (*finished)(void *arg, oc_status_t status);
    void *arg;
} oc_cast_args_t;

/* Most neighbours of a rank in the tree that messages to all ranks go along. */
#define OC_CAST_NEIGHBOURS 9

/* Which ranks these are: each is a neighbour of its neighbours. Returns how many. */
unsigned oc_cast_neighbours(uint32_t num_ranks, uint32_t rank,
                            uint32_t neighbours[OC_CAST_NEIGHBOURS]);

oc_status_t oc_cast_group_new(const oc_cast_config_t *config, uint64_t now,
                              oc_cast_group_t **group);

/* Operations that are not over are dropped without calling back. NULL is allowed. */
void oc_cast_group_free(oc_cast_group_t *group);

/* OC_IN_PROGRESS: probing. OC_OK: all datagrams get through. An error: see the reason. */
oc_status_t oc_cast_group_ready(const oc_cast_group_t *group);

/*
 * Until when other operations of this process should not begin to send, as others' datagrams are let through first
 * then: its ranks are about to begin, and a queue before their messages would cost more than that. 0: now they may.
 */
uint64_t oc_cast_is_awaited_until(const oc_cast_group_t *group, uint64_t now);

/* Why the group has failed, one sentence; "" if it has not. */
const char *oc_cast_group_reason(const oc_cast_group_t *group);

/*
 * Queues an operation. An error: the group has failed, or memory has run out, in which case it
 * fails now, and finished is not called.
 */
oc_status_t oc_cast_start(oc_cast_group_t *group, const oc_cast_args_t *args, uint64_t now);

/*
 * What arrived for this group: token and version fit. bytes: the whole datagram, which header was
 * decoded from.
 */
void oc_cast_datagram(oc_cast_group_t *group, const oc_datagram_t *header, const uint8_t *bytes,
                      uint64_t now);
/* A message that a peer posted; bytes are only read during the call. */
void oc_cast_message(oc_cast_group_t *group, const uint8_t *bytes, size_t length, uint64_t now);
/* The group that a message is for. false: it is none of this protocol. */
bool oc_cast_message_token(const uint8_t *bytes, size_t length, uint64_t *token);

/*
 * Does what is due: sends, asks for what is missing, gives up. Returns when it wants to be called
 * again at the latest, if nothing arrives before; UINT64_MAX: not at all. now means at once.
 */
uint64_t oc_cast_progress(oc_cast_group_t *group, uint64_t now);

/*
 * Of the operation that is under way: bytes at the beginning of a rank's block that are in the
 * receive buffer, though their checksum may still be found wrong: then there are fewer again. 0 if
 * none is under way.
 */
size_t oc_cast_arrived(const oc_cast_group_t *group, uint32_t rank);

/* Whether an operation is under way and has the blocks of all ranks, for good. */
bool oc_cast_has_all(const oc_cast_group_t *group);

/* Whether it waits for room in the network to send datagrams. */
bool oc_cast_wants_to_send(const oc_cast_group_t *group);

/*
 * Ends the group with an error on this rank, and tells the others: a peer is known to be dead, or
 * this rank cannot go on. All operations are called back.
 */
void oc_cast_group_fail(oc_cast_group_t *group, oc_status_t status, const char *reason);

/*
 * Until now this process has not looked at the network for so many ns. If that is long, what is lost is no
 * fault of the network, and answers may be here that could not be read in time. A process that looks may
 * have no reason to call oc_cast_progress, so only its owner knows. To be called before what has come is
 * handed over.
 */
void oc_cast_group_missed(oc_cast_group_t *group, uint64_t time);

/*
 * Until absent is false again, what this rank misses by multicast is no reason to think that the
 * network carries none: it has been cut off, and is about to be joined again.
 */
void oc_cast_group_absent(oc_cast_group_t *group, bool absent);

/*
 * Whether multicast has proved not to work since the group became ready: blocks go by messages.
 * *unheard is the rank that *receiver does not hear, or num_ranks, if it hears none. Some ranks
 * know earlier than others, and one that knows only of the end sets both to num_ranks.
 */
bool oc_cast_group_is_unicast(const oc_cast_group_t *group, uint32_t *unheard, uint32_t *receiver);

/*
 * The same, and all ranks have known it since the end of the same operation, which was a blocking
 * one, and no operation is pending here: the group may be freed, unless it alternates and one is in the other.
 */
bool oc_cast_group_is_closed(const oc_cast_group_t *group);

/* Operations that are not over. */
unsigned oc_cast_pending(const oc_cast_group_t *group);

#endif
