/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of a group on a simulated network: each plays the same operations, one after the other
 * or several at once, and every result is compared with what it has to be as soon as the group
 * gives the buffers back. What the group must never do ends in a complaint of the network.
 */
#ifndef OC_TESTS_MULTICAST_CREW_H
#define OC_TESTS_MULTICAST_CREW_H

#include "multicast/core/cast_core.h"
#include "multicast/core/cast_seal.h"
#include "multicast/wire/cast_message.h"
#include "tests/multicast/network.h"

/* Ranks of which something can be said one by one; of others it is as if it were 0. */
#define SCRIPTED_RANKS 100

/* One operation, as all ranks see it. */
typedef struct {
    size_t block;                /* bytes of each rank's block, if ... */
    const size_t *lengths;       /* ... this is NULL. Copied */
    size_t gap;                  /* guard bytes between blocks; if not 0, offsets are given */
    bool in_place;
    bool blocking;
    bool queued;                 /* begun although earlier ones are not over */
    /* What ranks do before they begin it: they compute, without progress. ns */
    uint64_t compute[SCRIPTED_RANKS];
} operation_t;

/* As many chains as there are ranks. */
#define TOGETHER UINT32_MAX

typedef struct {
    network_config_t network;
    const uint32_t *hosts;       /* as the groups are told; NULL: each rank on its own */
    uint32_t chains;             /* 0, or TOGETHER, or a number */
    size_t window;
    uint32_t staging;            /* datagrams that ranks are told to keep; 0: enough */
    size_t queued;               /* bytes of a connection in a rank's own queue, as it takes them to be, … */
    unsigned connections;        /* … and how many there are */
    uint64_t probe_timeout;
    uint64_t born[SCRIPTED_RANKS];    /* ns after the beginning when a rank makes its group */
    uint64_t joined[SCRIPTED_RANKS];  /* … and when the network joins it: no datagrams before */
    bool alternates;             /* ranks have a second group each (alternate.h) */
    bool eager;                  /* ranks do not wait for each other to be ready */
    bool unchecked;              /* groups are not checked in each turn, which takes long if they are large */
    bool acquainted;             /* all know how to reach all, and not only their neighbours */
} crew_config_t;

/* How an operation went on a rank. */
typedef struct {
    bool begun, over;
    oc_status_t status;
    uint64_t begin, end;         /* virtual time */
} outcome_t;

typedef struct crew crew_t;

/* 512 KiB of window, 5 s for probing. */
void crew_defaults(crew_config_t *config, unsigned num_ranks);

crew_t *crew_new(const crew_config_t *config);
/* NULL is allowed. */
void crew_free(crew_t *crew);

network_t *crew_network(crew_t *crew);
oc_cast_group_t *crew_group(crew_t *crew, unsigned rank);
/* The second one, if they alternate. */
oc_cast_group_t *crew_second(crew_t *crew, unsigned rank);
const oc_cast_counters_t *crew_counters(const crew_t *crew, unsigned rank);
/* Summed over all ranks. */
oc_cast_counters_t crew_totals(const crew_t *crew);
/* How many other ranks a rank knows how to reach. */
unsigned crew_known(const crew_t *crew, unsigned rank);

uint64_t crew_token(const crew_t *crew);

/* Adds an operation that all ranks play; returns its number. */
unsigned crew_add(crew_t *crew, const operation_t *operation);

/* Until all living ranks are ready, or have failed, or so much time has passed. */
bool crew_probe(crew_t *crew, uint64_t patience);

/* Until all operations are over on all living ranks. A complaint, if they are not after that time. */
bool crew_finish(crew_t *crew, uint64_t patience);

/*
 * Until all operations are over on all living ranks, and the network is quiet. A complaint, if
 * they are not after that time.
 */
bool crew_play(crew_t *crew, uint64_t patience);

const outcome_t *crew_outcome(const crew_t *crew, unsigned rank, unsigned operation);

/* Whether all ranks have all results. If not, that is a complaint. */
bool crew_succeeded(crew_t *crew);

/*
 * Probes, plays, and wants all results within that time each. Returns the complaint, "" if there
 * is none.
 */
const char *crew_run(crew_t *crew, uint64_t patience);

/* A rank dies at a time. The others are told so much later; UINT64_MAX: never. */
void crew_kill(crew_t *crew, unsigned rank, uint64_t when, uint64_t notice);

/* A rank makes no progress for a while, from that time on. */
void crew_pause(crew_t *crew, unsigned rank, uint64_t when, uint64_t duration);

/* Fragments of a block of that many bytes, with its checksum. */
unsigned crew_fragments(const crew_t *crew, size_t length);

/* The ranks' own. */
extern const uint8_t crew_key[OC_JOB_KEY_SIZE];

/* Makes the code of a datagram anew, as if its sender had sent what it has become. */
void crew_seal_again(uint8_t *bytes, size_t length);

/*
 * Lets a message, or a datagram, arrive that no rank has sent; its code is as if one had, because
 * what is under test would not look at it otherwise.
 */
void crew_forge(crew_t *crew, unsigned to, const oc_cast_message_t *message);
void crew_forge_datagram(crew_t *crew, unsigned to, const oc_datagram_t *header,
                         const uint8_t *payload);

#endif
