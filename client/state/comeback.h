/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Account of one server of the list: when it came back to the job, when it was lost again, and how often that was soon. So a
 * server that dies over and over interrupts the job less and less often. Plain data; times are in ns of one clock.
 */
#ifndef OC_CLIENT_STATE_COMEBACK_H
#define OC_CLIENT_STATE_COMEBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* Also from one look for servers to the next. */
#define OC_COMEBACK_INTERVAL OC_SECOND

/* All zeros: it has never come back. */
typedef struct {
    bool back;                 /* it has come back, and was not lost since then */
    uint64_t returned, lost;   /* the last time */
    unsigned flaps;            /* how often in a row it was lost within a minute after it had come back */
} oc_comeback_t;

/* In a new epoch: whether it is there as one that has come back. */
void oc_comeback_note(oc_comeback_t *comeback, bool back, uint64_t now);

/* Whether it may be looked for: OC_COMEBACK_INTERVAL after it was lost, and twice as long for each time that was soon. */
bool oc_comeback_is_due(const oc_comeback_t *comeback, uint64_t now);

#endif
