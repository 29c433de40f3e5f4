/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What will happen in virtual time, in the order of time; of two events at one time the one that
 * was planned first. Not thread-safe.
 */
#ifndef OC_TESTS_MULTICAST_EVENTS_H
#define OC_TESTS_MULTICAST_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct event event_t;

/* What events of a kind do. The event is only valid during the call. */
typedef struct {
    void (*happen)(void *owner, const event_t *event);
    /* Frees what the event has, which will not happen. NULL: it has nothing. */
    void (*forget)(void *owner, const event_t *event);
} event_kind_t;

struct event {
    uint64_t at;                 /* ns; what lies in the past happens now */
    uint64_t order;              /* set by events_plan */
    const event_kind_t *kind;
    void *owner;                 /* what the kind's functions are called with */
    uint32_t from, to;           /* what these and thing mean is the kind's */
    void *thing;
};

typedef struct events events_t;

/* Time begins then. */
events_t *events_new(uint64_t now);
/* Forgets what has not happened. */
void events_free(events_t *events);

void events_plan(events_t *events, event_t event);

uint64_t events_now(const events_t *events);
/* How many have happened. */
uint64_t events_past(const events_t *events);

/*
 * Lets the next event happen, if it is not later than that. false: there is none, and it is that
 * time now.
 */
bool events_step(events_t *events, uint64_t until);

#endif
