/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns what becomes of messages from the call that posts them to the turn that hands them out. As with UCX
 * long ones leave only when their receiver has looked: it is asked, answers, and then the sender
 * sends.
 */
#include "tests/multicast/network_messages.h"

#include "tests/multicast/network_types.h"

/* A message leaves its process at most so long after it was posted, if that has turns. ns */
#define LEAVE_TIME 2000

/* The longest that leaves without asking, and what a question or an answer takes. Bytes */
#define LONG_MESSAGE 8192
#define AGREEMENT    100

static void arrive(void *owner, const event_t *event)
{
    network_t *network = owner;
    place_t *place = &network->places[event->to];

    if (place->dead) {
        parcel_drop(event->thing);
    } else {
        fifo_push(&place->messages, event->from, event->thing);
        network_wake(network, event->to);
    }
}

static void forget(void *owner, const event_t *event)
{
    (void) owner;
    parcel_drop(event->thing);
}

static const event_kind_t arriving = {arrive, forget};

/* A message that may count has left its process. false: it will never arrive. */
static bool has_left(network_t *network, parcel_t *parcel)
{
    const meddler_t *meddler = &network->config.meddler;
    place_t *place = &network->places[parcel->from];

    if (parcel->counts && 0 == --place->unsent) {
        network_wake(network, parcel->from);
    }
    if (NULL != meddler->message
        && !meddler->message(meddler->arg, parcel->from, parcel->to, parcel->bytes,
                             parcel->length)) {
        place->outstanding[parcel->to] -= parcel->length;
        parcel_drop(parcel);
        return false;
    }
    return true;
}

static void arrive_later(network_t *network, parcel_t *parcel)
{
    uint64_t spread = network->config.message_max - network->config.message_min + 1;

    events_plan(network->events,
                (event_t) {.at = events_now(network->events) + network->config.message_min
                                 + oc_random_below(&network->random, spread),
                           .kind = &arriving, .owner = network, .from = parcel->from,
                           .to = parcel->to, .thing = parcel});
}

/* ---- in random times ---- */

/* When a message can leave: both sides have to look if it is long, and the sender always. */
static uint64_t leaves_at(const network_t *network, const parcel_t *parcel)
{
    const place_t *from = &network->places[parcel->from], *to = &network->places[parcel->to];
    uint64_t at = from->paused_until;

    if (parcel->length > LONG_MESSAGE && !to->dead && to->paused_until > at) {
        at = to->paused_until;
    }
    return at;
}

/* A process that does not look sends nothing, either. */
static void leave(void *owner, const event_t *event)
{
    network_t *network = owner;
    event_t again = *event;
    parcel_t *parcel = event->thing;

    if (network->places[parcel->from].dead) {
        parcel_drop(parcel);
        return;
    }
    if (leaves_at(network, parcel) > events_now(network->events)) {
        again.at = leaves_at(network, parcel) + TURN_TIME;
        events_plan(network->events, again);
    } else if (has_left(network, parcel)) {
        arrive_later(network, parcel);
    }
}

static const event_kind_t leaving = {leave, forget};

/* ---- over TCP ---- */

static void send_stage(network_t *network, parcel_t *parcel, parcel_stage_t stage)
{
    bool back = PARCEL_MAY_COME == stage;

    parcel->stage = stage;
    if (PARCEL_WHOLE == stage && !has_left(network, parcel)) {
        return;
    }
    if (network->hosts[parcel->from] == network->hosts[parcel->to]) {
        arrive_later(network, parcel);
    } else {
        streams_send(network->streams, back ? parcel->to : parcel->from,
                     back ? parcel->from : parcel->to,
                     PARCEL_WHOLE == stage ? parcel->length : AGREEMENT, parcel);
    }
}

void network_stream_delivered(void *arg, unsigned from, unsigned to, void *thing)
{
    network_t *network = arg;

    arrive(network, &(event_t) {.from = from, .to = to, .thing = thing});
}

void network_stream_dropped(void *arg, void *thing)
{
    (void) arg;
    parcel_drop(thing);
}

static void send_over_tcp(network_t *network, parcel_t *parcel)
{
    bool is_remote = network->hosts[parcel->from] != network->hosts[parcel->to];

    send_stage(network, parcel,
               parcel->length > LONG_MESSAGE && is_remote ? PARCEL_ASKS : PARCEL_WHOLE);
}

/* ---- doors ---- */

void network_post(network_t *network, unsigned from, unsigned to, const void *head,
                  size_t head_length, const void *data, size_t data_length, bool counts)
{
    place_t *place = &network->places[from];
    parcel_t *parcel = parcel_pack(from, head, head_length, data, data_length);

    if (to >= network->config.num_nodes || to == from) {
        network_complain(network, "node %u posts a message to node %u", from, to);
        parcel_drop(parcel);
        return;
    }
    place->moves++;
    parcel->to = to;
    parcel->counts = counts;
    place->unsent += counts;
    place->traffic.messages++;
    place->traffic.message_bytes += parcel->length;
    place->outstanding[to] += parcel->length;
    if (place->outstanding[to] > place->traffic.most_outstanding) {
        place->traffic.most_outstanding = place->outstanding[to];
    }
    if (NULL != network->streams) {
        send_over_tcp(network, parcel);
        return;
    }
    events_plan(network->events,
                (event_t) {.at = events_now(network->events)
                                 + oc_random_below(&network->random, LEAVE_TIME),
                           .kind = &leaving, .owner = network, .thing = parcel});
}

void network_hand_message(network_t *network, unsigned node)
{
    place_t *place = &network->places[node];
    parcel_t *parcel = fifo_pull(&place->messages).thing;

    place->moves++;
    if (PARCEL_ASKS == parcel->stage) {
        send_stage(network, parcel, PARCEL_MAY_COME);
        return;
    }
    if (PARCEL_MAY_COME == parcel->stage) {
        send_stage(network, parcel, PARCEL_WHOLE);
        return;
    }
    if (NOWHERE != parcel->from) {
        network->places[parcel->from].outstanding[node] -= parcel->length;
    }
    place->ops.message(place->ops.arg, parcel->bytes, parcel->length);
    parcel_drop(parcel);
}

void network_forge_message(network_t *network, unsigned to, const uint8_t *bytes, size_t length,
                           uint64_t when)
{
    events_plan(network->events,
                (event_t) {.at = when, .kind = &arriving, .owner = network, .from = NOWHERE,
                           .to = to, .thing = parcel_pack(NOWHERE, bytes, length, NULL, 0)});
}

size_t network_room(const network_t *network, unsigned from, unsigned to)
{
    size_t used = network->places[from].outstanding[to];

    return used < network->config.message_room ? network->config.message_room - used : 0;
}

unsigned network_unsent(const network_t *network, unsigned node)
{
    return network->places[node].unsent;
}
