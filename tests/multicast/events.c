/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns virtual time: a binary heap whose first event is the next one. */
#include "tests/multicast/events.h"

#include <stdlib.h>

#include "tests/multicast/memory.h"

struct events {
    uint64_t now, order, past;
    event_t *heap;
    size_t count, room;
};

events_t *events_new(uint64_t now)
{
    events_t *events = memory_new(sizeof(*events));

    events->now = now;
    return events;
}

void events_free(events_t *events)
{
    for (size_t i = 0; i < events->count; i++) {
        const event_t *event = &events->heap[i];

        if (NULL != event->kind->forget) {
            event->kind->forget(event->owner, event);
        }
    }
    free(events->heap);
    free(events);
}

static bool is_before(const event_t *a, const event_t *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

void events_plan(events_t *events, event_t event)
{
    size_t at = events->count++;

    if (events->count > events->room) {
        events->room = 2 * events->count;
        events->heap = memory_resize(events->heap, events->room * sizeof(event_t));
    }
    event.order = events->order++;
    while (at > 0 && is_before(&event, &events->heap[(at - 1) / 2])) {
        events->heap[at] = events->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    events->heap[at] = event;
}

static event_t take_first(events_t *events)
{
    event_t first = events->heap[0], last = events->heap[--events->count];
    size_t at = 0, child;

    while ((child = 2 * at + 1) < events->count) {
        if (child + 1 < events->count
            && is_before(&events->heap[child + 1], &events->heap[child])) {
            child++;
        }
        if (!is_before(&events->heap[child], &last)) {
            break;
        }
        events->heap[at] = events->heap[child];
        at = child;
    }
    events->heap[at] = last;
    return first;
}

uint64_t events_now(const events_t *events)
{
    return events->now;
}

uint64_t events_past(const events_t *events)
{
    return events->past;
}

bool events_step(events_t *events, uint64_t until)
{
    event_t event;

    if (0 == events->count || events->heap[0].at > until) {
        events->now = events->now < until ? until : events->now;
        return false;
    }
    event = take_first(events);
    events->now = event.at > events->now ? event.at : events->now;
    events->past++;
    event.kind->happen(event.owner, &event);
    return true;
}
