/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns transports that are not joined yet, in front of real ones. */
#include "tests/engine/late.h"

#include <stdlib.h>

#include "base/clock.h"
#include "multicast/service/cast_transports.h"

typedef struct {
    oc_transport_t base;
    oc_transport_t *inner;
    uint64_t joined;           /* ns: when it is */
    const char *refusal;
} late_t;

static bool is_cut, cut_is_known;
static uint64_t next_delay;
static const char *next_refusal;
unsigned late_opened, late_closed;

static bool is_joined(const late_t *late)
{
    return NULL == late->refusal && oc_clock_ns() >= late->joined;
}

static void note_answer(late_t *late)
{
    if (NULL != late->refusal && oc_clock_ns() >= late->joined) {
        late->base.refused = late->refusal;
    }
}

static unsigned late_send(oc_transport_t *base, const oc_outgoing_t *datagrams, unsigned count)
{
    late_t *late = (late_t *) base;

    return is_joined(late) ? late->inner->ops->send(late->inner, datagrams, count) : 0;
}

static void drop(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length)
{
    (void) arg;
    (void) from;
    (void) bytes;
    (void) length;
}

static unsigned late_receive(oc_transport_t *base, unsigned max, oc_arrival_fn_t *arrived,
                             void *arg)
{
    late_t *late = (late_t *) base;

    note_answer(late);
    late->base.absent = is_cut && cut_is_known;
    if (is_joined(late) && !is_cut) {
        return late->inner->ops->receive(late->inner, max, arrived, arg);
    }
    (void) late->inner->ops->receive(late->inner, max, drop, NULL);
    return 0;
}

static bool late_arm(oc_transport_t *base, bool sending)
{
    late_t *late = (late_t *) base;
    bool waits = !is_joined(late), armed;

    note_answer(late);
    if (NULL != late->base.refused) {
        return false;
    }
    armed = late->inner->ops->arm(late->inner, sending && !waits);
    late->base.event_fd = late->inner->event_fd;
    late->base.events = late->inner->events;
    late->base.due = waits ? late->joined : late->inner->due;
    return armed && (!waits || oc_clock_ns() < late->joined);
}

static void late_close(oc_transport_t *base)
{
    late_t *late = (late_t *) base;

    late_closed++;
    late->inner->ops->close(late->inner);
    free(late);
}

static oc_transport_t *make_late(oc_transport_t *inner, uint64_t number)
{
    static const oc_transport_ops_t ops = {.name = "late", .send = late_send,
                                           .receive = late_receive, .arm = late_arm,
                                           .close = late_close};
    late_t *late = calloc(1, sizeof(*late));

    (void) number;
    if (NULL == late) {
        return NULL;
    }
    late_opened++;
    late->base = *inner;
    late->base.ops = &ops;
    late->inner = inner;
    late->joined = oc_clock_ns() + next_delay;
    late->refusal = next_refusal;
    return &late->base;
}

void late_joins(uint64_t delay, const char *refusal)
{
    next_delay = delay;
    next_refusal = refusal;
    late_opened = late_closed = 0;
    oc_cast_transports_wrap = make_late;
}

void late_is_cut_off(bool cut, bool known)
{
    is_cut = cut;
    cut_is_known = known;
}
