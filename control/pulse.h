/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether whoever is at the other end of a control connection is alive: PING and PONG, one PING at a
 * time. Its owner sends the PINGs and passes the PONGs on; nothing here does I/O or blocks. Of one
 * thread, or under the owner's lock. Times are those of oc_clock_ns.
 */
#ifndef OC_CONTROL_PULSE_H
#define OC_CONTROL_PULSE_H

#include <stdbool.h>
#include <stdint.h>

/* What owners differ in, in nanoseconds. */
typedef struct {
    uint64_t interval;         /* from a PING to the next one at least */
    uint64_t patience;         /* how long a PING may stay open while somebody listens */
    uint64_t step;             /* the most that one look counts: longer gaps are the owner's own */
} oc_rhythm_t;

typedef struct {
    oc_rhythm_t rhythm;
    uint64_t due;              /* the next PING */
    uint64_t looked;           /* when silence was last counted */
    uint64_t quiet;            /* since the PING, while somebody listened */
    uint32_t number;           /* of the last PING */
    bool open;                 /* it has no answer yet … */
    bool missed;               /* … for so long that its owner knows */
} oc_pulse_t;

/* The first PING is due at once. */
void oc_pulse_init(oc_pulse_t *pulse, const oc_rhythm_t *rhythm);

/* Of a new connection: no PING is open, and the first one is due after an interval. */
void oc_pulse_begin(oc_pulse_t *pulse, uint64_t now);

/* Whether a PING is due, and none is open. If so, it has number, and is open now. */
bool oc_pulse_ask(oc_pulse_t *pulse, uint64_t now);

/* A PONG with that number has come. */
void oc_pulse_answer(oc_pulse_t *pulse, uint32_t number);

/*
 * To be called whenever the owner looks, about once a step at least. True once for each PING: it
 * has been open for longer than patience. It stays open, so that an answer may still come.
 */
bool oc_pulse_missed(oc_pulse_t *pulse, uint64_t now);

/* In how many ns its owner, who has nothing else to do, has to look next; UINT64_MAX: not before an answer has come. */
uint64_t oc_pulse_due(const oc_pulse_t *pulse, uint64_t now);

#endif
