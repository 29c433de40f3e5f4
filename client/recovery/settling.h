/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the ranks of a group settle what has become of its collectives, in rounds of Allreduces of the new epoch, which all
 * of them can do at any time: what they have is in their memory, and a thread of each process moves it on. What comes out
 * is the same on all ranks, and stays true if there is another loss before all have heard it. Under the lock of the client.
 */
#ifndef OC_CLIENT_RECOVERY_SETTLING_H
#define OC_CLIENT_RECOVERY_SETTLING_H

#include "client/collective/allreduce.h"
#include "client/collective/kept.h"
#include "client/recovery/renewal.h"

/*
 * Collectives from first until end are no more than these: the first of the one rank has begun on the other, and no rank begins
 * one further away than OC_KEPT_SPAN.
 */
#define OC_SETTLING_MAX (2 * OC_KEPT_SPAN)

/* What is known of a collective in question. */
typedef enum {
    OC_FATE_NEW,               /* some rank has not begun it: nobody can have anything of it */
    OC_FATE_OPEN,              /* all have begun it, and nobody has ended it */
    OC_FATE_DONE,              /* all have ended it */
    OC_FATE_OVER,              /* a rank has ended it: of a large one all have all, of a small one that rank has it, and some rank has not ended it */
} oc_fate_t;

oc_fate_t oc_settling_fate(const oc_renewal_t *renewal, uint64_t number);

/* It is running here; NULL: it is over, or has not begun. */
oc_allreduce_t *oc_settling_find(const oc_group_t *group, uint64_t number);

bool oc_settling_is_small(const oc_allreduce_t *allreduce);

/* Whether it is a small one that is over somewhere: who has it gives it to all. */
bool oc_settling_is_supplied(const oc_group_t *group, uint64_t number);

typedef enum {
    OC_CHUNK_NOBODY,           /* has it: it is reduced again */
    OC_CHUNK_SOME,             /* who has it gives it to all */
    OC_CHUNK_ALL,
} oc_chunk_state_t;

/* Of all chunks of large collectives that are open, in their order. */
oc_chunk_state_t oc_settling_chunk(const oc_group_t *group, uint32_t i);

/* Begins the round of the renewal's step. false: there is nothing to ask, or a collapse is due. */
bool oc_settling_ask(oc_group_t *group);

/* Takes the answer of that round, and goes on to the next step. */
void oc_settling_hear(oc_group_t *group);

#endif
