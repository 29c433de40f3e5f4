/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The subnet manager of a large network loses all memberships at once when it is restarted, and
 * has to answer all who ask again: so they wait a little, differently long, and longer each time.
 */
#include "multicast/transport/verbs_membership.h"

#define SALTS 16u

static uint64_t membership_spread(const oc_verbs_membership_t *membership, uint64_t pause)
{
    return pause + pause / (2 * SALTS) * (membership->salt % SALTS);
}

static void set_state(oc_verbs_membership_t *membership, oc_verbs_membership_state_t state,
                      uint64_t due)
{
    membership->state = state;
    membership->due = due;
}

static void membership_ask(oc_verbs_membership_t *membership, uint64_t now)
{
    membership->doubted = false;
    set_state(membership, OC_MEMBERSHIP_ASKED, now + OC_JOIN_LIMIT);
}

void oc_verbs_membership_begin(oc_verbs_membership_t *membership, uint32_t salt, uint64_t now)
{
    *membership = (oc_verbs_membership_t) {.pause = OC_JOIN_FIRST_PAUSE, .salt = salt,
                                           .since = now};
    membership_ask(membership, now);
}

/* Pauses double, up to the longest. */
static void wait_to_ask(oc_verbs_membership_t *membership, uint64_t now)
{
    uint64_t pause = membership->pause;

    membership->pause = 2 * pause < OC_JOIN_MAX_PAUSE ? 2 * pause : OC_JOIN_MAX_PAUSE;
    set_state(membership, OC_MEMBERSHIP_WAITING, now + membership_spread(membership, pause));
}

oc_verbs_membership_step_t oc_verbs_membership_step(oc_verbs_membership_t *membership, uint64_t now)
{
    if (now < membership->due) {
        return OC_MEMBERSHIP_REST;
    }
    if (OC_MEMBERSHIP_WAITING == membership->state) {
        if (now >= membership->due + OC_JOIN_PATIENCE) {
            membership->away = now; /* nobody has looked, and so nothing was missed */
        }
        membership_ask(membership, now);
        return OC_MEMBERSHIP_ASK;
    }
    oc_verbs_membership_lost(membership, now);
    return OC_MEMBERSHIP_LATE;
}

void oc_verbs_membership_joined(oc_verbs_membership_t *membership, uint64_t now)
{
    membership->was_joined = true;
    membership->since = now;
    set_state(membership, OC_MEMBERSHIP_JOINED, UINT64_MAX);
    if (membership->doubted) {
        oc_verbs_membership_doubt(membership, now);
    }
}

void oc_verbs_membership_lost(oc_verbs_membership_t *membership, uint64_t now)
{
    if (OC_MEMBERSHIP_JOINED == membership->state) {
        if (now - membership->since >= OC_JOIN_LASTING) {
            membership->pause = OC_JOIN_FIRST_PAUSE;
        }
        membership->since = membership->away = now;
    } else if (OC_MEMBERSHIP_ASKED != membership->state) {
        return;
    }
    if (membership->was_joined) {
        wait_to_ask(membership, now);
    } else {
        set_state(membership, OC_MEMBERSHIP_REFUSED, UINT64_MAX);
    }
}

void oc_verbs_membership_doubt(oc_verbs_membership_t *membership, uint64_t now)
{
    uint64_t soon = now + membership_spread(membership, OC_JOIN_FIRST_PAUSE);

    if (OC_MEMBERSHIP_JOINED == membership->state) {
        oc_verbs_membership_lost(membership, now);
    } else if (OC_MEMBERSHIP_ASKED == membership->state) {
        membership->doubted = true;
    } else if (OC_MEMBERSHIP_WAITING == membership->state && soon < membership->due) {
        membership->due = soon;
    }
}

void oc_verbs_membership_suspend(oc_verbs_membership_t *membership, uint64_t now)
{
    if (membership->was_joined) {
        oc_verbs_membership_lost(membership, now);
    }
    if (OC_MEMBERSHIP_WAITING == membership->state) {
        membership->due = now + OC_JOIN_MAX_PAUSE;
    }
}

bool oc_verbs_membership_is_away(const oc_verbs_membership_t *membership, uint64_t now)
{
    bool asks = OC_MEMBERSHIP_ASKED == membership->state
                || OC_MEMBERSHIP_WAITING == membership->state;

    return asks && membership->was_joined && membership->pause < OC_JOIN_MAX_PAUSE
           && now < membership->away + OC_JOIN_PATIENCE;
}

void oc_verbs_membership_end(oc_verbs_membership_t *membership)
{
    set_state(membership,
              membership->was_joined ? OC_MEMBERSHIP_ENDED : OC_MEMBERSHIP_REFUSED, UINT64_MAX);
}
