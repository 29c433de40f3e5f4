/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a group's set-up, and how a rank gives up taking part. setup.h has the steps.
 * Callers hold the lock of the client.
 */
#ifndef OC_CLIENT_STATE_SETUP_STATE_H
#define OC_CLIENT_STATE_SETUP_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "client/state/readiness.h"
#include "client/state/types.h"

typedef enum {
    OC_SETUP_EXCHANGE,         /* records are under way */
    OC_SETUP_SHARE,            /* waits whether all can use the memory of their hosts */
    OC_SETUP_CONTACTS,         /* multicast: contacts are under way */
    OC_SETUP_ADMIT,            /* multicast: waits until all ranks have admitted each other */
    OC_SETUP_RESOLVE,          /* waits for the addresses of the servers */
    OC_SETUP_CONNECT,          /* waits for all WELCOMEs */
    OC_SETUP_JOIN,             /* waits for all JOINEDs, and READY from all aggregators */
    OC_SETUP_PROBE,            /* multicast: waits until all ranks have been heard */
    OC_SETUP_FLOOD,            /* multicast: waits until rank 0 has sent for the flood test */
    OC_SETUP_VOTE,             /* waits for the outcome */
} oc_setup_step_t;

/*
 * The vote is a minimum: a rank that can go on votes yes, and with servers for the largest chunk
 * that these take; one that could, but found that nothing is gained, as all do, votes to leave it;
 * one for which servers were lost, or came back, meanwhile votes to begin again, and says who it is; one that cannot votes
 * its own number.
 */
#define OC_VOTE_YES          INT64_MAX
#define OC_VOTE_CHUNK(bytes) (INT64_MAX - 1 - OC_MAX_CHUNK + (int64_t) (bytes))
#define OC_VOTE_LEAVE        (INT64_MAX - 2 - OC_MAX_CHUNK)
#define OC_VOTE_AGAIN(rank)  (INT64_MAX - 3 - OC_MAX_CHUNK - OC_MAX_RANKS + (int64_t) (rank))

/* What a vote consists of. Those after the first are of groups whose servers can be lost, else 0. */
enum {
    OC_WORD_VOTE,              /* one of these here */
    OC_WORD_SERVERS,           /* which starts of the servers this rank has joined, 63 bits of a hash … */
    OC_WORD_SERVERS_NEGATED,   /* … so that the outcome shows whether all ranks have joined the same */
    OC_WORD_KEPT,              /* bytes that this rank can keep for the group: see promise.h */
};

_Static_assert(OC_WORD_KEPT + 1 == OC_VOTE_WORDS, "what a vote consists of");

/*
 * With multicast yes is not enough if there is a flood test: a rank has to see that there is none.
 */
#define OC_VOTE_NO_FLOOD     (INT64_MAX - 2)
#define OC_VOTE_NOT_SEEN     (INT64_MAX - 1) /* this rank could not look, and may another time */

/*
 * Of ranks that have admitted each other: yes, but by the common multicast address of the job,
 * since this rank has no room for one of the group's own.
 */
#define OC_VOTE_COMMON       (INT64_MAX - 1)

struct oc_setup {
    oc_setup_step_t step;
    uint64_t quiet;            /* ns spent waiting for servers while somebody was looking */
    uint64_t epoch;            /* of the record */
    oc_status_t broken;        /* service was lost after this rank had voted */
    char reason[OC_REASON_SIZE]; /* why this rank cannot take part */
    char unshared[OC_REASON_SIZE]; /* why it cannot share memory with its host */
    uint8_t *records;          /* of all ranks, and behind them … */
    uint8_t *record;           /* … that of this one */
    uint8_t *contacts;         /* multicast: of this rank's neighbours, and behind them … */
    uint8_t *contact;          /* … its own */
    uint32_t neighbours[OC_CAST_NEIGHBOURS];
    unsigned num_neighbours;
    uint8_t *leaders;          /* multicast: records of those that are in it, by host; NULL: all ranks are */
    oc_multicast_terms_t terms; /* multicast: what all ranks have agreed on */
    uint64_t *nodes;           /* room for a number of each rank: see choose.c */
    oc_cast_slot_t *own_address; /* multicast: kept for the group until it has it; or NULL */
    oc_flood_verdict_t flood;  /* multicast: what this rank has seen of its test … */
    bool flood_tested;         /* … if there was one */
    bool differs;              /* the records are of several epochs */
    bool misses;               /* this rank could not have a server of the list */
    bool upset;                /* the servers are others than in the records: all begin again … */
    unsigned attempts;         /* … after so many */
    bool no_gain;              /* from servers that turned out to be a tree */
    int64_t vote[OC_VOTE_WORDS], outcome[OC_VOTE_WORDS];
    oc_readiness_t *readiness; /* from the JOINs on */
};

/* Frees a set-up that belongs to no group. */
void oc_setup_free(oc_setup_t *setup);

/* Frees the set-up of a group without calling the bootstrap. */
void oc_setup_drop(oc_group_t *group);

/*
 * Notes that this rank cannot take part; it still goes on to its vote. Only the first reason
 * counts.
 */
void oc_setup_give_up(oc_group_t *group, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool oc_setup_has_given_up(const oc_group_t *group);

/* The same, but only for this attempt, because the job's servers have changed. The reason is what has happened to them. */
void oc_setup_upset(oc_group_t *group, const char *reason);

#endif
