/* SPDX-License-Identifier: BSD-3-Clause */
/* How a rank waits in a blocking collective where it is not alone on its processor. */
#ifndef OC_ADAPTER_PATIENCE_H
#define OC_ADAPTER_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"

/*
 * Rounds of a wait so far, how long it sleeps next, and for how long it has meant to sleep; and no longer
 * than this at once, where it may be something else that is waited for. 0: as is best for a long wait.
 */
typedef struct {
    unsigned rounds, nap_us;
    uint64_t napped_us;
    unsigned most_us;
} oc_patience_t;

/* Who else wants the processors of this host. */
typedef struct {
    bool oversubscribed;    /* there are not enough for the ranks, and an aggregator of this one */
    bool yields;            /* the MPI library is told to leave its processor to others */
} oc_crowding_t;

/*
 * One round of a wait: sleeps for a while if others want the processor and the wait is a long one.
 * What concerns the client ends the sleep; messages of the MPI library do not. Returns whether it has slept.
 */
bool oc_patience_nap(oc_patience_t *patience, oc_client_t *client, oc_crowding_t crowding);

#endif
