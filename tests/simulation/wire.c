/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns what is under way between hosts. */
#include "tests/simulation/wire.h"

#include "base/clock.h"
#include "tests/multicast/fifo.h"
#include "tests/simulation/world.h"

/* As the sockets of the engine have it. */
#define PATIENCE (11 * OC_SECOND)

#define RETRY (20 * OC_MILLISECOND)

typedef struct {
    void (*arrive)(void *thing);
    void *thing;
} parcel_on_wire_t;

struct wire {
    unsigned from, to;
    void (*broken)(void *owner);
    void *owner;
    fifo_t parcels;              /* with the time at which each is due */
    uint64_t last, blocked;      /* blocked since; 0: it is not */
    bool cut;
};

wire_t *wire_new(unsigned from, unsigned to, void (*broken)(void *owner), void *owner)
{
    wire_t *wire = memory_new(sizeof(*wire));

    *wire = (wire_t) {.from = from, .to = to, .broken = broken, .owner = owner};
    return wire;
}

unsigned long long wire_delay(void)
{
    switch (world_random(100)) {
    case 0:
        return world_random(20 * OC_MILLISECOND);
    case 1:
    case 2:
    case 3:
        return world_random(500000);
    default:
        return 2000 + world_random(30000);
    }
}

bool wire_is_blocked(unsigned from, unsigned to)
{
    const host_t *a = world_host(from), *b = world_host(to);

    return from != to && (a->unplugged || a->dark || b->unplugged || b->dark || 0 != (a->apart & 1u << to));
}

static void on_due(void *owner, const event_t *event);

static const event_kind_t due = {.happen = on_due};

static void wire_wait(wire_t *wire)
{
    if (0 == wire->blocked) {
        wire->blocked = world_now();
    }
    if (world_now() - wire->blocked < PATIENCE) {
        world_plan(RETRY + world_random(RETRY), &due, wire, NULL);
        return;
    }
    wire_cut(wire);
    if (NULL != wire->broken) {
        wire->broken(wire->owner);
    }
}

static void on_due(void *owner, const event_t *event)
{
    wire_t *wire = owner;
    parcel_on_wire_t *parcel;
    uint64_t next;

    (void) event;
    if (0 == wire->parcels.count) {
        return;
    }
    if (wire_is_blocked(wire->from, wire->to)) {
        wire_wait(wire);
        return;
    }
    wire->blocked = 0;
    parcel = fifo_pull(&wire->parcels).thing;
    if (wire->parcels.count > 0) {
        next = fifo_first(&wire->parcels).number;
        world_plan(next > world_now() ? next - world_now() : 0, &due, wire, NULL);
    }
    parcel->arrive(parcel->thing);
    free(parcel);
}

void wire_send(wire_t *wire, void (*arrive)(void *thing), void *thing)
{
    uint64_t at = world_now() + wire_delay();
    parcel_on_wire_t *parcel;

    if (wire->cut) {
        return;
    }
    parcel = memory_new(sizeof(*parcel));
    *parcel = (parcel_on_wire_t) {.arrive = arrive, .thing = thing};
    wire->last = at > wire->last ? at : wire->last;
    fifo_push(&wire->parcels, wire->last, parcel);
    if (1 == wire->parcels.count) {
        world_plan(wire->last - world_now(), &due, wire, NULL);
    }
}

void wire_cut(wire_t *wire)
{
    wire->cut = true;
    while (wire->parcels.count > 0) {
        free(fifo_pull(&wire->parcels).thing);
    }
}

bool wire_is_cut(const wire_t *wire)
{
    return wire->cut;
}

bool wire_is_empty(const wire_t *wire)
{
    return 0 == wire->parcels.count;
}
