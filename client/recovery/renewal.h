/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group on its way into a new epoch: its servers are joined anew, and its ranks settle what has become of its
 * collectives. Under the lock of the client.
 */
#ifndef OC_CLIENT_RECOVERY_RENEWAL_H
#define OC_CLIENT_RECOVERY_RENEWAL_H

#include "client/state/readiness.h"
#include "client/state/types.h"

/* In this order; the last ones are rounds of messages, whose numbers on the wire are those after OC_RENEWAL_JOIN. */
typedef enum {
    OC_RENEWAL_HOST,           /* waits for the other ranks of its host */
    OC_RENEWAL_RETURN,         /* looks for servers that have come back */
    OC_RENEWAL_CONNECT,        /* waits for all WELCOMEs */
    OC_RENEWAL_JOIN,           /* waits for all JOINEDs, and READY from all aggregators */
    OC_RENEWAL_RANGE,          /* which collectives are open on some rank */
    OC_RENEWAL_STATES,         /* which of them all have begun, and which somebody has ended */
    OC_RENEWAL_CHUNKS,         /* which chunks of large ones all have, and which nobody */
    OC_RENEWAL_SOURCES,        /* who has the others */
    OC_RENEWAL_SETTLED,
} oc_renewal_step_t;

/* Numbers on the wire that are taken by rounds. */
#define OC_RENEWAL_ROUNDS (OC_RENEWAL_SETTLED - OC_RENEWAL_RANGE)

struct oc_renewal {
    oc_renewal_step_t step;
    uint64_t looked, quiet;    /* ns spent waiting for servers while somebody was looking */
    oc_readiness_t *readiness; /* from the JOINs on */
    bool called;               /* the reserve, as the other ranks do not come */
    bool answered;             /* what a round asked is in … */
    void *vector;              /* … this */
    /* What all ranks have found: */
    uint64_t first, end;       /* collectives from first until end are open somewhere */
    uint8_t *states;           /* bits, by collective: all have begun it; then: nobody has ended it; then: all have */
    uint64_t num_chunks;       /* in question */
    uint8_t *chunks;           /* bits, of all chunks in question: all have it; then: nobody has it */
    uint32_t *sources;         /* for each thing that some have, the lowest rank that has it */
};

/* Its worker is about to be closed: lets go of what receives from it. Does nothing if there is none. */
void oc_renewal_stop(oc_group_t *group);
/* Nothing of the group is under way, and its links are those that are left. false: out of memory. */
bool oc_renewal_begin(oc_group_t *group);
void oc_renewal_progress(oc_group_t *group);
/* Ends it, whatever it has come to. Does nothing if there is none. */
void oc_renewal_drop(oc_group_t *group);

#endif
