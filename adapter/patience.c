/* SPDX-License-Identifier: BSD-3-Clause */
/* Naps that get longer with the wait. */
#include "adapter/patience.h"

/*
 * Rounds of a wait before it sleeps, and for how long (µs), if oversubscribed. Where the MPI library
 * is told to yield the processor, others want it, but perhaps not all of it: small operations are
 * over before. In a long wait naps get longer, in proportion: what the library's own messages wait
 * for a nap is little beside what the wait takes anyway.
 */
#define PATIENT_ROUNDS  16
#define YIELDING_ROUNDS 1000
#define SHORT_NAP_US    100
#define LONG_NAP_US     400
#define LONGEST_NAP_US  4000
#define NAP_SHARE       16

static unsigned longest_nap(const oc_patience_t *p)
{
    uint64_t share = p->napped_us / NAP_SHARE;
    unsigned most = 0 != p->most_us ? p->most_us : LONGEST_NAP_US;

    if (share < LONG_NAP_US) {
        share = LONG_NAP_US;
    }
    return share < most ? (unsigned) share : most;
}

bool oc_patience_nap(oc_patience_t *p, oc_client_t *client, oc_crowding_t crowding)
{
    unsigned rounds = crowding.oversubscribed ? PATIENT_ROUNDS : YIELDING_ROUNDS;

    if ((!crowding.oversubscribed && !crowding.yields) || ++p->rounds <= rounds) {
        return false;
    }
    p->nap_us = 0 == p->nap_us ? SHORT_NAP_US : 2 * p->nap_us;
    p->nap_us = p->nap_us < longest_nap(p) ? p->nap_us : longest_nap(p);
    p->napped_us += p->nap_us;
    oc_client_wait(client, p->nap_us);
    return true;
}
