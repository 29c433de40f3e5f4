/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a membership in a multicast group goes through, and when the group is to be joined again.
 * It asks nobody itself. Pure functions of their arguments; times are ns of one clock.
 */
#ifndef OC_MULTICAST_TRANSPORT_VERBS_MEMBERSHIP_H
#define OC_MULTICAST_TRANSPORT_VERBS_MEMBERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* How long the network may take to answer. */
#define OC_JOIN_LIMIT (10 * OC_SECOND)

/* Between a loss and the first attempt, and between two at most; up to half as much again by salt. */
#define OC_JOIN_FIRST_PAUSE (20 * OC_MILLISECOND)
#define OC_JOIN_MAX_PAUSE   (10 * OC_SECOND)

/* A membership that has lasted so long was a good one: pauses begin anew with its loss. */
#define OC_JOIN_LASTING (10 * OC_SECOND)

/*
 * A membership that is away for no longer than this may come back: nothing is concluded from what is
 * missed. Not if it has been lost so often that pauses are the longest.
 */
#define OC_JOIN_PATIENCE OC_SECOND

typedef enum {
    OC_MEMBERSHIP_ASKED,       /* the network has not answered yet */
    OC_MEMBERSHIP_JOINED,
    OC_MEMBERSHIP_WAITING,     /* to ask again */
    OC_MEMBERSHIP_REFUSED,     /* it was never joined, and will not be */
    OC_MEMBERSHIP_ENDED        /* it was joined, and will not be again */
} oc_verbs_membership_state_t;

typedef struct {
    oc_verbs_membership_state_t state;
    uint64_t due;              /* when to call oc_verbs_membership_step; UINT64_MAX: not at all */
    uint64_t pause;            /* before the attempt after the next */
    uint64_t since;            /* when it was joined; of one that is not, when it was lost */
    uint64_t away;             /* when it was lost, or for who looked only later, when it was asked for */
    uint32_t salt;             /* so that not all who lose it at once ask at once */
    bool was_joined;
    bool doubted;              /* while it was asked for */
} oc_verbs_membership_t;

typedef enum {
    OC_MEMBERSHIP_REST,
    OC_MEMBERSHIP_ASK,         /* leave, if need be, and ask the network */
    OC_MEMBERSHIP_LATE         /* the network has not answered in time, which may be a refusal */
} oc_verbs_membership_step_t;

/* It was asked for, the first time. */
void oc_verbs_membership_begin(oc_verbs_membership_t *membership, uint32_t salt, uint64_t now);

/* What is to be done now. */
oc_verbs_membership_step_t oc_verbs_membership_step(oc_verbs_membership_t *membership,
                                                    uint64_t now);

void oc_verbs_membership_joined(oc_verbs_membership_t *membership, uint64_t now);

/* The network says no, or no longer. What has never been joined is refused by that. */
void oc_verbs_membership_lost(oc_verbs_membership_t *membership, uint64_t now);

/* The network may have forgotten it: it is asked for again soon, and holds until then. */
void oc_verbs_membership_doubt(oc_verbs_membership_t *membership, uint64_t now);

/* The port is down: there is no haste before oc_verbs_membership_doubt says that it is up again. */
void oc_verbs_membership_suspend(oc_verbs_membership_t *membership, uint64_t now);

/* It was lost, and is being asked for again: see OC_JOIN_PATIENCE. */
bool oc_verbs_membership_is_away(const oc_verbs_membership_t *membership, uint64_t now);

/* The device is gone, or useless. */
void oc_verbs_membership_end(oc_verbs_membership_t *membership);

#endif
