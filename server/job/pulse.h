/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a server on the other side of a tree's edge is there: PING and PONG, one at a time. */
#ifndef OC_SERVER_JOB_PULSE_H
#define OC_SERVER_JOB_PULSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* How long a PING may stay open. Less than clients wait by default: they hear who it is. */
#define OC_PULSE_PATIENCE (5 * OC_SECOND)

/* All zeros: nothing was asked yet. Times are those of oc_clock_ns. */
typedef struct {
    uint64_t looked;           /* when silence was last counted */
    uint64_t quiet;            /* since the PING, as far as this process ran */
    uint32_t number;           /* of the last PING */
    bool open;                 /* it has no answer yet */
} oc_pulse_t;

/* Whether a PING is due: none is open. If so, it has number, and is open now. */
bool oc_pulse_ask(oc_pulse_t *pulse, uint64_t now);

/* A PONG with that number has come. */
void oc_pulse_answer(oc_pulse_t *pulse, uint32_t number);

/* To be called about once a second. Whether the PING has been open for too long. */
bool oc_pulse_stopped(oc_pulse_t *pulse, uint64_t now);

#endif
