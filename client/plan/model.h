/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which reductions mode auto offloads: a rule decides, or else a model of how long Open MPI and
 * aggregators would take. It leaves Barriers, which take no bytes off any link. Pure functions of
 * what is equal on all ranks, in whole numbers: the same everywhere, and in all runs.
 * doc/architecture.md has the formulas.
 */
#ifndef OC_CLIENT_PLAN_MODEL_H
#define OC_CLIENT_PLAN_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rules.h"

/* What is known of a communicator when its ranks have met. */
typedef struct {
    uint32_t ranks, hosts;
    uint32_t per_host;      /* the most ranks that a host has */
    uint64_t weights;       /* of all servers together, in OC_WEIGHT_ONE … */
    uint64_t heaviest;      /* … and that of one of them */
    uint32_t peers;         /* hosts that aggregate */
    bool in_order;          /* results are in rank order, so that everybody contributes everything */
    bool nodes;             /* the ranks of a host reduce before a vector leaves it */
    uint64_t lanes;         /* aggregators that share a vector: one of each server, and peers */
    bool tree;              /* servers are leaves, and their parent adds up what they have */
    uint64_t small_size, largest_chunk, fewest_chunks; /* the settings */
    oc_network_t network;   /* the slowest of all ranks' */
    uint64_t previous[OC_NUM_RULED]; /* what Open MPI would run: previous.h */
    bool paired;            /* servers get what suits a Reduce_scatter beside an Allgather */
    bool wide;              /* owners of blocks get partial results of twice the size */
} oc_situation_t;

/* … and before, by rank 0 of the job. */
typedef struct {
    uint64_t hosts;         /* the job is on no more than these */
    uint64_t servers;       /* how many there are; 0: it aggregates by itself … */
    uint64_t weights, heaviest;
    uint64_t peers;         /* … or its hosts do beside servers that are too few */
    uint64_t nodes;         /* as above, if hosts have several ranks; … */
    uint64_t in_order;      /* … as above */
    uint64_t small_size, largest_chunk, fewest_chunks;
    oc_network_t network;   /* of this host */
    uint64_t unclear;       /* the list of servers is wrong, which the set-up will say */
} oc_outlook_t;

typedef struct {
    uint64_t rule;          /* the number of the one that decides; OC_MODEL: none fits */
    oc_sizes_t sizes;       /* of the vectors that are offloaded, in bytes … */
    oc_sizes_t wide;        /* … also if they are of 16-bit floats, some of which go as 32 bits */
} oc_choice_t;

#define OC_MODEL UINT64_MAX

/*
 * Which model this is. It changes with whatever changes what model.c, or choose.c, makes of the
 * same rules and the same situation: ranks of two builds choose by themselves, and what they
 * compare when they meet has to tell that they would choose differently.
 */
#define OC_MODEL_VERSION "OCMODEL4"

/* A time of what is not to be done at all, in ns. */
#define OC_FOREVER (UINT64_MAX / 4)

/* Within one host nothing is offloaded, unless a rule speaks of one host. */
void oc_model_choose(const oc_rules_t *rules, const oc_situation_t *situation, oc_ruled_t ruled,
                     oc_choice_t *choice);

/* Whether so many bytes of a type of reduction/ are left to others. */
bool oc_choice_leaves(const oc_choice_t *choice, unsigned type, uint64_t bytes);

/*
 * The smallest vector that any rule allows, or that the model would offload with ranks spread
 * evenly, for communicators of ranks to most_ranks ranks that are all on one host, or are not.
 * UINT64_MAX: there is none.
 */
uint64_t oc_model_least(const oc_rules_t *rules, const oc_outlook_t *outlook, oc_ruled_t ruled,
                        uint32_t ranks, uint32_t most_ranks, bool one_host);

/*
 * The same for all communicators of a job, as plain numbers by the binary logarithm of their ranks,
 * rounded down: [1] for those on one host. Ranks that cannot ask the model obey these, too.
 */
#define OC_LEAST_CLASSES 17
typedef struct {
    uint64_t bytes[2][OC_LEAST_CLASSES];
} oc_least_t;

void oc_least_make(const oc_rules_t *rules, const oc_outlook_t *outlook, oc_ruled_t ruled,
                   uint32_t job_ranks, oc_least_t *least);
uint64_t oc_least_find(const oc_least_t *least, uint32_t ranks, bool one_host);

/* "offloads 64 KiB and more (rule "four" of /etc/optcast/rules.ini)" */
void oc_choice_print(const oc_rules_t *rules, const oc_situation_t *situation, oc_ruled_t ruled,
                     const oc_choice_t *choice, char *buffer, size_t size);

#endif
