/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the injection of faults between a transport and its user. */
#include "tests/faults/shim.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/random.h"

/* A reordered datagram that nothing overtakes waits for less than what counts as lost on any network. */
#define REORDER_PATIENCE (OC_MILLISECOND / 5)

/* A datagram that waits. */
typedef struct {
    oc_origin_t from;
    uint8_t *bytes;
    size_t length;
    uint64_t due;
    unsigned overtakers;     /* until it is due in any case; 0: only time counts */
} held_t;

/* Losses in one direction. */
typedef struct {
    double start;            /* probability that one begins, when none goes on */
    unsigned length, left;   /* of a burst */
} losses_t;

typedef struct {
    oc_transport_t base;
    oc_transport_t *inner;
    oc_faults_t faults;
    oc_random_t random;
    losses_t arriving, leaving;
    oc_shim_clock_t *now;
    void *arg;
    held_t held[OC_SHIM_MAX_HELD];
    unsigned num_held;
    size_t held_bytes;
    unsigned num_arrived;
    /* during a call of receive */
    oc_arrival_fn_t *arrived;
    void *arrived_arg;
    unsigned handed_out;
} shim_t;

/* ---- losses ---- */

/*
 * With bursts of n, a loss that begins with probability p follows (1 - p) / p datagrams on average
 * that get through: the share n / (n + (1 - p) / p) is lost, which is solved for p.
 */
static void losses_init(losses_t *losses, double share, unsigned burst)
{
    losses->length = burst;
    losses->left = 0;
    losses->start = share > 0 ? share / (share + burst * (1 - share)) : 0;
}

static bool is_lost(losses_t *losses, oc_random_t *random)
{
    if (losses->left > 0) {
        losses->left--;
        return true;
    }
    if (!oc_random_chance(random, losses->start)) {
        return false;
    }
    losses->left = losses->length - 1;
    return true;
}

/* ---- datagrams that wait ---- */

/* false: there is no room. */
static bool hold(shim_t *shim, const oc_origin_t *from, const uint8_t *bytes, size_t length,
                 uint64_t due, unsigned overtakers)
{
    held_t *held = &shim->held[shim->num_held];

    if (OC_SHIM_MAX_HELD == shim->num_held || length > OC_SHIM_MAX_BYTES - shim->held_bytes) {
        return false;
    }
    held->bytes = malloc(length > 0 ? length : 1);
    if (NULL == held->bytes) {
        return false;
    }
    if (length > 0) {
        memcpy(held->bytes, bytes, length);
    }
    held->from = *from;
    held->length = length;
    held->due = due;
    held->overtakers = overtakers;
    shim->held_bytes += length;
    shim->num_held++;
    return true;
}

static void drop_held(shim_t *shim, unsigned number)
{
    shim->held_bytes -= shim->held[number].length;
    free(shim->held[number].bytes);
    shim->held[number] = shim->held[--shim->num_held];
}

static void hand_out(shim_t *shim, const oc_origin_t *from, const uint8_t *bytes,
                     size_t length)
{
    shim->handed_out++;
    shim->arrived(shim->arrived_arg, from, bytes, length);
}

static void release_due(shim_t *shim)
{
    uint64_t now = shim->num_held > 0 ? shim->now(shim->arg) : 0;
    unsigned i = 0;

    while (i < shim->num_held) {
        if (shim->held[i].due <= now) {
            hand_out(shim, &shim->held[i].from, shim->held[i].bytes, shim->held[i].length);
            drop_held(shim, i);
        } else {
            i++;
        }
    }
}

/* A datagram has passed those that wait. */
static void overtake(shim_t *shim)
{
    for (unsigned i = 0; i < shim->num_held; i++) {
        if (shim->held[i].overtakers > 0 && 0 == --shim->held[i].overtakers) {
            shim->held[i].due = 0;
        }
    }
}

/* ---- the transport ---- */

static unsigned some_overtakers(shim_t *shim)
{
    return 1 + (unsigned) oc_random_below(&shim->random, OC_SHIM_OVERTAKERS);
}

/* Whether a datagram that arrives waits. */
static bool is_held_back(shim_t *shim, const oc_origin_t *from, const uint8_t *bytes,
                         size_t length, uint64_t now)
{
    uint64_t longest = shim->faults.delay_ms * OC_MILLISECOND;

    if (oc_random_chance(&shim->random, shim->faults.delay)) {
        return hold(shim, from, bytes, length, now + 1 + oc_random_below(&shim->random, longest),
                    0);
    }
    return oc_random_chance(&shim->random, shim->faults.reorder)
           && hold(shim, from, bytes, length, now + REORDER_PATIENCE, some_overtakers(shim));
}

/* Counts what arrives until then. */
static bool is_cut(shim_t *shim)
{
    bool cut = 0 != shim->faults.cut && shim->num_arrived == shim->faults.cut;

    shim->num_arrived += !cut;
    return cut;
}

static void arrive(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length)
{
    shim_t *shim = arg;
    uint64_t now = shim->now(shim->arg);

    if (is_cut(shim) || is_lost(&shim->arriving, &shim->random)) {
        return;
    }
    if (!is_held_back(shim, from, bytes, length, now)) {
        hand_out(shim, from, bytes, length);
        overtake(shim);
    }
    if (oc_random_chance(&shim->random, shim->faults.duplicate)) {
        (void) hold(shim, from, bytes, length, now + REORDER_PATIENCE, some_overtakers(shim));
    }
    release_due(shim);
}

static unsigned shim_receive(oc_transport_t *transport, unsigned max, oc_arrival_fn_t *arrived,
                             void *arg)
{
    shim_t *shim = (shim_t *) transport;

    shim->arrived = arrived;
    shim->arrived_arg = arg;
    shim->handed_out = 0;
    (void) shim->inner->ops->receive(shim->inner, max, arrive, shim);
    shim->base.refused = shim->inner->refused;
    shim->base.absent = shim->inner->absent;
    release_due(shim);
    return shim->handed_out;
}

/* What lies between two losses goes on together: as large a batch as can be. */
static unsigned shim_send(oc_transport_t *transport, const oc_outgoing_t *datagrams,
                          unsigned count)
{
    shim_t *shim = (shim_t *) transport;
    unsigned done = 0;

    while (done < count) {
        unsigned run = 0, taken = 0;
        bool lost = false;

        while (done + run < count && !lost) {
            lost = is_lost(&shim->leaving, &shim->random);
            run += !lost;
        }
        if (run > 0) {
            taken = shim->inner->ops->send(shim->inner, datagrams + done, run);
        }
        done += taken;
        if (taken < run) {
            return done;
        }
        done += lost;
    }
    return done;
}

static bool shim_arm(oc_transport_t *transport, bool sending)
{
    shim_t *shim = (shim_t *) transport;
    bool armed;

    uint64_t due = oc_shim_due(transport);

    if (due <= shim->now(shim->arg)) {
        return false;
    }
    armed = shim->inner->ops->arm(shim->inner, sending);
    if (0 != shim->inner->due && shim->inner->due < due) {
        due = shim->inner->due;
    }
    shim->base.due = UINT64_MAX == due ? 0 : due;
    shim->base.refused = shim->inner->refused;
    shim->base.absent = shim->inner->absent;
    shim->base.event_fd = shim->inner->event_fd;
    shim->base.events = shim->inner->events;
    return armed;
}

static void shim_close(oc_transport_t *transport)
{
    shim_t *shim = (shim_t *) transport;

    while (shim->num_held > 0) {
        drop_held(shim, shim->num_held - 1);
    }
    shim->inner->ops->close(shim->inner);
    free(shim);
}

uint64_t oc_shim_due(const oc_transport_t *transport)
{
    const shim_t *shim = (const shim_t *) transport;
    uint64_t due = UINT64_MAX;

    for (unsigned i = 0; i < shim->num_held; i++) {
        due = shim->held[i].due < due ? shim->held[i].due : due;
    }
    return due;
}

oc_transport_t *oc_shim_new(oc_transport_t *inner, const oc_faults_t *faults, uint64_t salt,
                            oc_shim_clock_t *now, void *arg)
{
    static const oc_transport_ops_t ops = {.name = "shim",
                                           .send = shim_send,
                                           .receive = shim_receive,
                                           .arm = shim_arm,
                                           .close = shim_close};
    oc_random_t mixer = {.state = salt};
    shim_t *shim = calloc(1, sizeof(*shim));

    if (NULL == shim) {
        return NULL;
    }
    shim->base = *inner;
    shim->base.ops = &ops;
    shim->inner = inner;
    shim->faults = *faults;
    if (0 == faults->delay_ms) {
        shim->faults.delay_ms = OC_FAULTS_DELAY_MS;
    }
    /* mixed, or seed 1 with salt 2 would be as seed 2 with salt 1 */
    shim->random.state = faults->seed ^ oc_random(&mixer);
    losses_init(&shim->arriving, faults->drop, faults->burst > 0 ? faults->burst : 1);
    losses_init(&shim->leaving, faults->drop_sent, faults->burst > 0 ? faults->burst : 1);
    shim->now = now;
    shim->arg = arg;
    return &shim->base;
}
