/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns what a flow has under way. Both ends are in one structure, so a segment in flight is a
 * number.
 */
#include "tests/multicast/flow.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tests/multicast/congestion.h"
#include "tests/multicast/fifo.h"
#include "tests/multicast/memory.h"

/* Bytes that wait for the link of their host, as the kernel's TCP has it. */
#define QUEUED_AT_HOST (32u << 10)

/* The kernel's: the least timeout, the most, and what a probe waits beyond two round trips. */
#define LEAST_TIMEOUT (200 * OC_MILLISECOND)
#define MOST_TIMEOUT  (120 * OC_SECOND)
#define PROBE_SLACK   (2 * OC_MILLISECOND)

/* Segments that one acknowledgement stands for, if all are in order. */
#define ACK_EVERY 2u
/*
 * For so long a kernel keeps the acknowledgement of a short segment, unless it goes with data. Here it is not late,
 * so that nobody repeats what has come, but only one in this time has bytes.
 */
#define ACK_DELAY (40 * OC_MILLISECOND)

typedef struct {
    uint64_t end;                /* of its bytes in the flow */
    size_t length;
    uint64_t order;              /* of the last time that it was sent; 0: to be sent */
    bool acked, received;
} segment_t;

struct flow {
    flow_config_t config;
    fifo_t letters;              /* by their ends in the flow */
    uint64_t written, cut;       /* bytes: given to it, made to segments */
    /* segments by number, from first to end, in a ring; of those expected has not come */
    segment_t *segments;
    uint64_t room, first, end, expected, received;
    unsigned unacked;            /* that have come in order and are not acknowledged */
    uint64_t next_lone;          /* from then on an acknowledgement of a short segment has bytes */
    congestion_t congestion;
    size_t under_way, at_host;   /* bytes */
    uint64_t order, newest;      /* of what was sent; of the newest that is acknowledged */
    uint64_t recover;            /* losses below this number have been answered */
    uint64_t rtt, variance, deadline;
    unsigned silences;           /* timeouts in a row */
    bool ticking;
    unsigned long long repeated;
};

/* A segment or an acknowledgement on its way. */
typedef struct {
    flow_t *flow;
    uint64_t number;             /* of the segment; acknowledged: the one that has just come */
    uint64_t expected;           /* all before it have come */
    uint64_t order, sent_at;
    size_t bytes;
} trip_t;

static uint64_t flow_now(const flow_t *flow)
{
    return events_now(flow->config.events);
}

static segment_t *segment_at(const flow_t *flow, uint64_t number)
{
    assert(number >= flow->first && number < flow->end);
    return &flow->segments[number & (flow->room - 1)];
}

static bool is_under_way(const segment_t *segment)
{
    return !segment->acked && segment->order > 0;
}

/* ---- sending ---- */

static void arm(flow_t *flow);
static void push(flow_t *flow);
static void segment_arrived(void *owner, void *thing, unsigned host);
static void ack_arrived(void *owner, void *thing, unsigned host);

static void segment_sent(void *owner, void *thing)
{
    flow_t *flow = owner;
    const trip_t *trip = thing;

    flow->at_host -= trip->bytes;
    push(flow);
}

static void trip_over(void *owner, void *thing)
{
    (void) owner;
    free(thing);
}

static const fabric_client_t segment_client = {segment_sent, segment_arrived, trip_over};
static const fabric_client_t ack_client = {NULL, ack_arrived, trip_over};

static trip_t *new_trip(size_t bytes)
{
    trip_t *trip = memory_new(sizeof(*trip));

    trip->bytes = bytes;
    return trip;
}

static void send_segment(flow_t *flow, uint64_t number)
{
    segment_t *segment = segment_at(flow, number);
    trip_t *trip = new_trip(segment->length + FLOW_HEADER);

    trip->number = number;
    trip->order = segment->order = ++flow->order;
    trip->sent_at = flow_now(flow);
    flow->under_way += segment->length;
    flow->at_host += trip->bytes;
    fabric_send(flow->config.fabric, flow->config.from, flow->config.to, trip->bytes,
                &segment_client, flow, trip);
}

static void grow_segments(flow_t *flow)
{
    uint64_t room = flow->room > 0 ? 2 * flow->room : 16;
    segment_t *segments = memory_new(room * sizeof(*segments));

    for (uint64_t number = flow->first; number < flow->end; number++) {
        segments[number & (room - 1)] = *segment_at(flow, number);
    }
    free(flow->segments);
    flow->segments = segments;
    flow->room = room;
}

static void cut_segment(flow_t *flow)
{
    uint64_t left = flow->written - flow->cut;
    size_t length = left < FLOW_SEGMENT ? (size_t) left : FLOW_SEGMENT;

    if (flow->end - flow->first == flow->room) {
        grow_segments(flow);
    }
    flow->cut += length;
    flow->end++;
    *segment_at(flow, flow->end - 1) = (segment_t) {.end = flow->cut, .length = length};
}

/* The next one to send: lost, or new. false: there is none. */
static bool next_number(flow_t *flow, uint64_t *number)
{
    for (*number = flow->first; *number < flow->end; (*number)++) {
        const segment_t *segment = segment_at(flow, *number);

        if (!segment->acked && 0 == segment->order) {
            flow->repeated++;
            return true;
        }
    }
    if (flow->cut == flow->written) {
        return false;
    }
    cut_segment(flow);
    return true;
}

static bool has_room(const flow_t *flow)
{
    double window = flow->congestion.window * FLOW_SEGMENT;

    return (0 == flow->under_way || (double) (flow->under_way + FLOW_SEGMENT) <= window)
           && flow->at_host < QUEUED_AT_HOST;
}

static void push(flow_t *flow)
{
    uint64_t number;

    while (has_room(flow) && next_number(flow, &number)) {
        send_segment(flow, number);
        arm(flow);
    }
}

void flow_send(flow_t *flow, size_t length, void *thing)
{
    assert(length > 0);
    flow->written += length;
    fifo_push(&flow->letters, flow->written, thing);
    push(flow);
}

/* ---- receiving ---- */

static void acknowledge(flow_t *flow, const trip_t *trip, size_t bytes)
{
    trip_t *ack = new_trip(bytes);

    ack->number = trip->number;
    ack->order = trip->order;
    ack->sent_at = trip->sent_at;
    ack->expected = flow->expected;
    flow->unacked = 0;
    fabric_send(flow->config.fabric, flow->config.to, flow->config.from, ack->bytes, &ack_client,
                flow, ack);
}

static size_t bytes_of_lone(flow_t *flow, const trip_t *trip)
{
    if (trip->bytes < FLOW_HEADER + FLOW_SEGMENT && flow_now(flow) < flow->next_lone) {
        return 0;
    }
    flow->next_lone = flow_now(flow) + ACK_DELAY;
    return FLOW_HEADER;
}

static void take_in(flow_t *flow, uint64_t number)
{
    segment_at(flow, number)->received = true;
    while (flow->expected < flow->end && segment_at(flow, flow->expected)->received) {
        flow->received = segment_at(flow, flow->expected++)->end;
    }
}

static void segment_arrived(void *owner, void *thing, unsigned host)
{
    flow_t *flow = owner;
    const trip_t *trip = thing;
    bool in_order = trip->number == flow->expected;

    (void) host;
    if (trip->number < flow->expected) {
        acknowledge(flow, trip, FLOW_HEADER);
        return;
    }
    take_in(flow, trip->number);
    flow->unacked++;
    if (!in_order || flow->unacked >= ACK_EVERY) {
        acknowledge(flow, trip, FLOW_HEADER);
    } else if (flow->cut == flow->received) {
        acknowledge(flow, trip, bytes_of_lone(flow, trip));
    }
    while (flow->letters.count > 0 && fifo_first(&flow->letters).number <= flow->received) {
        flow->config.delivered(flow->config.arg, flow, fifo_pull(&flow->letters).thing);
    }
}

/* ---- acknowledgements ---- */

static void measure(flow_t *flow, uint64_t sample)
{
    uint64_t away = sample > flow->rtt ? sample - flow->rtt : flow->rtt - sample;

    if (0 == flow->rtt) {
        flow->rtt = sample;
        flow->variance = sample / 2;
    } else {
        flow->variance = (3 * flow->variance + away) / 4;
        flow->rtt = (7 * flow->rtt + sample) / 8;
    }
}

/* Returns the bytes that are acknowledged now, and were not. */
static size_t settle(flow_t *flow, uint64_t number)
{
    segment_t *segment = segment_at(flow, number);

    if (segment->acked) {
        return 0;
    }
    if (is_under_way(segment)) {
        flow->under_way -= segment->length;
    }
    segment->acked = true;
    return segment->length;
}

static void lose(flow_t *flow, segment_t *segment)
{
    segment->order = 0;
    flow->under_way -= segment->length;
}

/* On a fabric nothing overtakes: what was sent before something that has come is lost. */
static void find_losses(flow_t *flow)
{
    bool any = false;

    for (uint64_t number = flow->first; number < flow->end; number++) {
        segment_t *segment = segment_at(flow, number);

        if (is_under_way(segment) && segment->order < flow->newest) {
            lose(flow, segment);
            any = any || number >= flow->recover;
        }
    }
    if (any) {
        flow->recover = flow->end;
        congestion_lost(&flow->congestion, flow_now(flow));
    }
}

static size_t settle_all(flow_t *flow, const trip_t *trip)
{
    size_t acked = 0;

    if (trip->order > flow->newest) {
        flow->newest = trip->order;
        measure(flow, flow_now(flow) - trip->sent_at);
    }
    if (trip->number >= flow->first) {
        acked += settle(flow, trip->number);
    }
    for (uint64_t number = flow->first; number < trip->expected; number++) {
        acked += settle(flow, number);
    }
    while (flow->first < flow->end && segment_at(flow, flow->first)->acked) {
        flow->first++;
    }
    return acked;
}

static void ack_arrived(void *owner, void *thing, unsigned host)
{
    flow_t *flow = owner;
    bool limited = 2.0 * (double) flow->under_way >= flow->congestion.window * FLOW_SEGMENT;
    size_t acked = settle_all(flow, thing);

    (void) host;
    find_losses(flow);
    if (acked > 0) {
        flow->silences = 0;
        flow->deadline = 0;
    }
    if (acked > 0 && limited && flow->first >= flow->recover) {
        congestion_acked(&flow->congestion, (double) acked / FLOW_SEGMENT, flow_now(flow),
                         flow->rtt);
    }
    push(flow);
    arm(flow);
}

/* ---- silence ---- */

static uint64_t timeout_of(const flow_t *flow)
{
    uint64_t timeout = 0 == flow->rtt ? OC_SECOND : flow->rtt + 4 * flow->variance;

    timeout = timeout < LEAST_TIMEOUT ? LEAST_TIMEOUT : timeout;
    for (unsigned i = 1; i < flow->silences && timeout < MOST_TIMEOUT; i++) {
        timeout *= 2;
    }
    return timeout;
}

/* Before the timeout the last segment is sent again, whose acknowledgement tells what is lost. */
static uint64_t patience_of(const flow_t *flow)
{
    uint64_t timeout = timeout_of(flow), patience = 2 * flow->rtt + PROBE_SLACK;

    if (flow->under_way <= FLOW_SEGMENT) {
        patience += LEAST_TIMEOUT;
    }
    return 0 == flow->silences && flow->rtt > 0 && patience < timeout ? patience : timeout;
}

static void lose_all(flow_t *flow)
{
    for (uint64_t number = flow->first; number < flow->end; number++) {
        segment_t *segment = segment_at(flow, number);

        if (is_under_way(segment)) {
            lose(flow, segment);
        }
    }
    flow->recover = flow->end;
    congestion_timeout(&flow->congestion, flow_now(flow));
}

static void probe(flow_t *flow)
{
    uint64_t number = flow->end - 1;

    while (!is_under_way(segment_at(flow, number))) {
        number--;
    }
    flow->under_way -= segment_at(flow, number)->length;
    flow->repeated++;
    send_segment(flow, number);
}

static void break_silence(flow_t *flow)
{
    bool is_probe = patience_of(flow) < timeout_of(flow);

    flow->silences++;
    flow->deadline = 0;
    if (is_probe) {
        probe(flow);
    } else {
        lose_all(flow);
        push(flow);
    }
}

static void tick(void *owner, const event_t *event)
{
    flow_t *flow = owner;

    (void) event;
    flow->ticking = false;
    if (flow->under_way > 0 && flow_now(flow) >= flow->deadline) {
        break_silence(flow);
    }
    arm(flow);
}

static const event_kind_t timer = {tick, NULL};

/* One event for each flow: it waits again for what it finds not due yet. */
static void arm(flow_t *flow)
{
    if (0 == flow->under_way) {
        flow->deadline = 0;
        return;
    }
    if (0 == flow->deadline) {
        flow->deadline = flow_now(flow) + patience_of(flow);
    }
    if (!flow->ticking) {
        flow->ticking = true;
        events_plan(flow->config.events,
                    (event_t) {.at = flow->deadline, .kind = &timer, .owner = flow});
    }
}

/* ---- life ---- */

flow_t *flow_new(const flow_config_t *config)
{
    flow_t *flow = memory_new(sizeof(*flow));

    flow->config = *config;
    congestion_init(&flow->congestion, (double) config->window / FLOW_SEGMENT);
    return flow;
}

bool flow_take_back(flow_t *flow, void **thing)
{
    if (0 == flow->letters.count) {
        return false;
    }
    *thing = fifo_pull(&flow->letters).thing;
    return true;
}

void flow_free(flow_t *flow)
{
    fifo_free(&flow->letters);
    free(flow->segments);
    free(flow);
}

uint64_t flow_received(const flow_t *flow)
{
    return flow->received;
}

unsigned long long flow_repeated(const flow_t *flow)
{
    return flow->repeated;
}
