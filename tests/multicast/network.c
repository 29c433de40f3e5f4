/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns virtual time, links, and what is under way on them. */
#include "tests/multicast/network.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/random.h"

/* A node that was woken looks so much later, and takes that long for a turn. */
#define TURN_TIME 1000

#define DATAGRAMS_A_TURN 64

/* A message leaves its process at most so long after it was posted, if that has turns. */
#define LEAVE_TIME 2000

/* Longer ones leave only when their receiver looks, as with UCX. Bytes */
#define LONG_MESSAGE 8192

/* Turns in a row that want the next one at once, and do nothing. */
#define MAX_SPINS 100

/* More events than any test makes: something goes round in circles. */
#define MAX_EVENTS 100000000ull

/* Bytes under way, for one receiver or all. */
typedef struct {
    unsigned users;
    bool counts;             /* of a message: among the unsent ones */
    size_t length;
    uint8_t bytes[];
} parcel_t;

typedef enum {
    EVENT_SWITCH,     /* a datagram is at the switch */
    EVENT_DATAGRAM,   /* is at its receiver */
    EVENT_LEAVE,      /* a message leaves its process */
    EVENT_MESSAGE,    /* is at its receiver */
    EVENT_TURN,
    EVENT_CALL,
} event_kind_t;

typedef struct {
    uint64_t at, order;      /* order: of two at one time */
    event_kind_t kind;
    unsigned from, to;
    parcel_t *parcel;
    void (*call)(void *arg);
    void *arg;
} event_t;

typedef struct {
    unsigned from;
    parcel_t *parcel;
} delivery_t;

/* First in, first out. */
typedef struct {
    delivery_t *items;
    size_t first, count, room, bytes;
} queue_t;

typedef struct {
    oc_transport_t base;
    network_t *network;
    unsigned number;
} link_t;

typedef struct {
    link_t link;             /* below the shim */
    oc_transport_t *transport;
    node_t ops;
    bool attached, dead;
    uint64_t link_free;      /* when all that it has sent is out */
    uint64_t port_free;      /* when the switch has sent all for it */
    uint64_t turn_at;        /* UINT64_MAX: none is planned */
    uint64_t paused_until;
    queue_t datagrams, messages;
    size_t outstanding[MAX_NODES];
    unsigned unsent, spins;
    unsigned long long moves;     /* what came in and went out */
    traffic_t traffic;
} place_t;

struct network {
    network_config_t config;
    uint64_t now, order, num_past;
    event_t *events;         /* a heap: the next one is the first */
    size_t num_events, room;
    place_t places[MAX_NODES];
    oc_random_t random;
    char complaint[512];
};

static void *get_memory(void *old, size_t size)
{
    void *memory = realloc(old, size);

    if (NULL == memory) {
        abort();
    }
    return memory;
}

/* ---- events ---- */

static bool is_before(const event_t *a, const event_t *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void plan(network_t *network, event_t event)
{
    size_t at = network->num_events++;

    if (network->num_events > network->room) {
        network->room = 2 * network->num_events;
        network->events = get_memory(network->events, network->room * sizeof(event_t));
    }
    event.order = network->order++;
    while (at > 0 && is_before(&event, &network->events[(at - 1) / 2])) {
        network->events[at] = network->events[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    network->events[at] = event;
}

static event_t take_event(network_t *network)
{
    event_t first = network->events[0], last = network->events[--network->num_events];
    size_t at = 0, child;

    while ((child = 2 * at + 1) < network->num_events) {
        if (child + 1 < network->num_events
            && is_before(&network->events[child + 1], &network->events[child])) {
            child++;
        }
        if (!is_before(&network->events[child], &last)) {
            break;
        }
        network->events[at] = network->events[child];
        at = child;
    }
    network->events[at] = last;
    return first;
}

/* ---- parcels ---- */

static parcel_t *new_parcel(size_t length)
{
    parcel_t *parcel = get_memory(NULL, sizeof(*parcel) + length);

    parcel->users = 1;
    parcel->length = length;
    return parcel;
}

static parcel_t *pack(const void *head, size_t head_length, const void *data, size_t data_length)
{
    parcel_t *parcel = new_parcel(head_length + data_length);

    if (head_length > 0) {
        memcpy(parcel->bytes, head, head_length);
    }
    if (data_length > 0) {
        memcpy(parcel->bytes + head_length, data, data_length);
    }
    return parcel;
}

static void drop(parcel_t *parcel)
{
    if (NULL != parcel && 0 == --parcel->users) {
        free(parcel);
    }
}

static void push(queue_t *queue, unsigned from, parcel_t *parcel)
{
    if (queue->count == queue->room) {
        size_t room = 2 * queue->room + 16;
        delivery_t *items = get_memory(NULL, room * sizeof(*items));

        for (size_t i = 0; i < queue->count; i++) {
            items[i] = queue->items[(queue->first + i) % queue->room];
        }
        free(queue->items);
        queue->items = items;
        queue->first = 0;
        queue->room = room;
    }
    queue->items[(queue->first + queue->count++) % queue->room] = (delivery_t) {from, parcel};
    queue->bytes += parcel->length;
}

static delivery_t pull(queue_t *queue)
{
    delivery_t delivery = queue->items[queue->first];

    queue->first = (queue->first + 1) % queue->room;
    queue->count--;
    queue->bytes -= delivery.parcel->length;
    return delivery;
}

static void empty(queue_t *queue)
{
    while (queue->count > 0) {
        drop(pull(queue).parcel);
    }
    free(queue->items);
}

/* ---- turns ---- */

static void plan_turn(network_t *network, unsigned number, uint64_t at)
{
    place_t *place = &network->places[number];

    at = at < place->paused_until ? place->paused_until : at;
    if (place->attached && !place->dead && at < place->turn_at) {
        place->turn_at = at;
        plan(network, (event_t) {.at = at, .kind = EVENT_TURN, .to = number});
    }
}

static void hand_message(place_t *place, network_t *network)
{
    delivery_t delivery = pull(&place->messages);

    if (delivery.from < MAX_NODES) {
        network->places[delivery.from].outstanding[place->link.number] -= delivery.parcel->length;
    }
    place->moves++;
    place->ops.message(place->ops.arg, delivery.parcel->bytes, delivery.parcel->length);
    drop(delivery.parcel);
}

static void watch_spinning(network_t *network, place_t *place, bool moved, uint64_t next)
{
    place->traffic.turns++;
    place->traffic.idle_turns += !moved;
    place->spins = moved || next > network->now ? 0 : place->spins + 1;
    if (place->spins > MAX_SPINS) {
        network_complain(network, "node %u wants to be called again and again, and does nothing",
                         place->link.number);
    }
}

static void take_turn(network_t *network, unsigned number)
{
    place_t *place = &network->places[number];
    unsigned long long moves = place->moves;
    uint64_t next, due;

    for (size_t left = place->messages.count; left > 0; left--) {
        hand_message(place, network);
    }
    (void) place->transport->ops->receive(place->transport, DATAGRAMS_A_TURN, place->ops.datagram,
                                          place->ops.arg);
    next = place->ops.progress(place->ops.arg);
    watch_spinning(network, place, place->moves != moves, next);
    due = oc_shim_due(place->transport);
    next = due < next ? due : next;
    if (place->datagrams.count > 0) {
        next = network->now;
    }
    if (next < network->now + TURN_TIME) {
        next = network->now + TURN_TIME;
    }
    if (UINT64_MAX != next) {
        plan_turn(network, number, next);
    }
}

void network_wake(network_t *network, unsigned node)
{
    plan_turn(network, node, network->now + TURN_TIME);
}

/* ---- datagrams ---- */

static uint64_t time_on_link(const network_t *network, size_t bytes)
{
    return bytes * OC_SECOND / network->config.rate;
}

/* Bytes that still wait for a link that is free then. */
static size_t backlog(const network_t *network, uint64_t free_at)
{
    uint64_t time = free_at > network->now ? free_at - network->now : 0;

    return (size_t) ((double) time * (double) network->config.rate / OC_SECOND);
}

static void check_batch(network_t *network, unsigned node, const oc_outgoing_t *datagrams,
                        unsigned count)
{
    if (0 == count || count > OC_MAX_BATCH) {
        network_complain(network, "node %u sends %u datagrams at once", node, count);
    }
    for (unsigned i = 0; i < count; i++) {
        if (datagrams[i].length + OC_DATAGRAM_HEADER > network->config.datagram_size) {
            network_complain(network, "node %u sends a datagram with a payload of %zu bytes", node,
                             datagrams[i].length);
        }
        if (i + 1 < count && datagrams[i].length != datagrams[0].length) {
            network_complain(network, "node %u sends payloads of %zu and %zu bytes together", node,
                             datagrams[0].length, datagrams[i].length);
        }
    }
}

static unsigned link_send(oc_transport_t *transport, const oc_outgoing_t *datagrams,
                          unsigned count)
{
    link_t *link = (link_t *) transport;
    network_t *network = link->network;
    place_t *place = &network->places[link->number];
    unsigned taken = 0;

    check_batch(network, link->number, datagrams, count);
    if (place->link_free < network->now) {
        place->link_free = network->now;
    }
    while (taken < count
           && backlog(network, place->link_free) + OC_DATAGRAM_HEADER + datagrams[taken].length
                  <= network->config.send_queue) {
        const oc_outgoing_t *one = &datagrams[taken++];
        parcel_t *parcel = pack(one->header, OC_DATAGRAM_HEADER, one->payload, one->length);

        place->link_free += time_on_link(network, parcel->length);
        place->moves++;
        place->traffic.datagrams++;
        place->traffic.datagram_bytes += parcel->length;
        plan(network, (event_t) {.at = place->link_free, .kind = EVENT_SWITCH,
                                 .from = link->number, .parcel = parcel});
    }
    return taken;
}

/* The switch has a datagram for a node. */
static void forward(network_t *network, unsigned from, unsigned to, parcel_t *parcel)
{
    const meddler_t *meddler = &network->config.meddler;
    place_t *place = &network->places[to];

    if (!place->attached || place->dead) {
        return;
    }
    if (place->port_free < network->now) {
        place->port_free = network->now;
    }
    if (backlog(network, place->port_free) + parcel->length > network->config.port_queue) {
        place->traffic.lost_at_port++;
        return;
    }
    place->port_free += time_on_link(network, parcel->length);
    if (NULL == meddler->datagram) {
        parcel->users++;
    } else {
        parcel = pack(parcel->bytes, parcel->length, NULL, 0);
        if (!meddler->datagram(meddler->arg, from, to, parcel->bytes, parcel->length)) {
            drop(parcel);
            return;
        }
    }
    plan(network, (event_t) {.at = place->port_free + network->config.latency,
                             .kind = EVENT_DATAGRAM, .from = from, .to = to, .parcel = parcel});
}

static void be_at_switch(network_t *network, const event_t *event)
{
    place_t *sender = &network->places[event->from];

    for (unsigned to = 0; to < network->config.num_nodes; to++) {
        if (to != event->from || network->config.loopback) {
            forward(network, event->from, to, event->parcel);
        }
    }
    drop(event->parcel);
    if (sender->attached && !sender->dead && sender->ops.wants_to_send(sender->ops.arg)) {
        network_wake(network, event->from);
    }
}

static void get_datagram(network_t *network, const event_t *event)
{
    place_t *place = &network->places[event->to];

    if (!place->attached || place->dead) {
        drop(event->parcel);
    } else if (place->datagrams.bytes + event->parcel->length > network->config.staging) {
        place->traffic.lost_at_node++;
        drop(event->parcel);
    } else {
        push(&place->datagrams, event->from, event->parcel);
        network_wake(network, event->to);
    }
}

oc_origin_t network_origin(unsigned node)
{
    return (oc_origin_t) {.address = {10, [15] = (uint8_t) node}, .port = 1000 + node};
}

static unsigned link_receive(oc_transport_t *transport, unsigned max, oc_arrival_fn_t *arrived,
                             void *arg)
{
    link_t *link = (link_t *) transport;
    place_t *place = &link->network->places[link->number];
    unsigned count = 0;
    oc_origin_t from;

    while (count < max && place->datagrams.count > 0) {
        delivery_t delivery = pull(&place->datagrams);

        count++;
        place->moves++;
        from = network_origin(delivery.from);
        arrived(arg, &from, delivery.parcel->bytes, delivery.parcel->length);
        drop(delivery.parcel);
    }
    return count;
}

static bool link_arm(oc_transport_t *transport, bool sending)
{
    (void) transport;
    (void) sending;
    return true;
}

static void link_close(oc_transport_t *transport)
{
    (void) transport;
}

/* ---- messages ---- */

void network_post(network_t *network, unsigned from, unsigned to, const void *head,
                  size_t head_length, const void *data, size_t data_length, bool counts)
{
    place_t *place = &network->places[from];
    parcel_t *parcel = pack(head, head_length, data, data_length);

    if (to >= network->config.num_nodes || to == from) {
        network_complain(network, "node %u posts a message to node %u", from, to);
        drop(parcel);
        return;
    }
    place->moves++;
    parcel->counts = counts;
    place->unsent += counts;
    place->traffic.messages++;
    place->traffic.message_bytes += parcel->length;
    place->outstanding[to] += parcel->length;
    if (place->outstanding[to] > place->traffic.most_outstanding) {
        place->traffic.most_outstanding = place->outstanding[to];
    }
    plan(network,
         (event_t) {.at = network->now + oc_random_below(&network->random, LEAVE_TIME),
                    .kind = EVENT_LEAVE, .from = from, .to = to, .parcel = parcel});
}

/* When a message can leave: both sides have to look if it is long, and the sender always. */
static uint64_t leaves_at(const network_t *network, const event_t *event)
{
    const place_t *from = &network->places[event->from], *to = &network->places[event->to];
    uint64_t at = from->paused_until;

    if (event->parcel->length > LONG_MESSAGE && !to->dead && to->paused_until > at) {
        at = to->paused_until;
    }
    return at;
}

/* A process that does not look sends nothing, either. */
static void leave(network_t *network, event_t event)
{
    const meddler_t *meddler = &network->config.meddler;
    place_t *place = &network->places[event.from];
    uint64_t at = leaves_at(network, &event);
    uint64_t spread = network->config.message_max - network->config.message_min + 1;

    if (place->dead) {
        drop(event.parcel);
        return;
    }
    if (at > network->now) {
        event.at = at + TURN_TIME;
        plan(network, event);
        return;
    }
    if (event.parcel->counts && 0 == --place->unsent) {
        network_wake(network, event.from);
    }
    if (NULL != meddler->message
        && !meddler->message(meddler->arg, event.from, event.to, event.parcel->bytes,
                             event.parcel->length)) {
        place->outstanding[event.to] -= event.parcel->length;
        drop(event.parcel);
        return;
    }
    event.at = network->now + network->config.message_min
               + oc_random_below(&network->random, spread);
    event.kind = EVENT_MESSAGE;
    plan(network, event);
}

static void get_message(network_t *network, const event_t *event)
{
    place_t *place = &network->places[event->to];

    if (place->dead) {
        drop(event->parcel);
    } else {
        push(&place->messages, event->from, event->parcel);
        network_wake(network, event->to);
    }
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

/* ---- faults ---- */

void network_pause(network_t *network, unsigned node, uint64_t until)
{
    place_t *place = &network->places[node];

    place->paused_until = until;
    place->turn_at = UINT64_MAX;
    plan_turn(network, node, until);
}

void network_kill(network_t *network, unsigned node)
{
    network->places[node].dead = true;
}

bool network_is_dead(const network_t *network, unsigned node)
{
    return network->places[node].dead;
}

void network_at(network_t *network, uint64_t when, void (*call)(void *arg), void *arg)
{
    plan(network, (event_t) {.at = when, .kind = EVENT_CALL, .call = call, .arg = arg});
}

void network_forge_datagram(network_t *network, unsigned from, unsigned to, const uint8_t *bytes,
                            size_t length, uint64_t when)
{
    plan(network, (event_t) {.at = when, .kind = EVENT_DATAGRAM, .from = from, .to = to,
                             .parcel = pack(bytes, length, NULL, 0)});
}

void network_forge_message(network_t *network, unsigned to, const uint8_t *bytes, size_t length,
                           uint64_t when)
{
    plan(network, (event_t) {.at = when, .kind = EVENT_MESSAGE, .from = NOWHERE, .to = to,
                             .parcel = pack(bytes, length, NULL, 0)});
}

/* ---- life ---- */

static void happen(network_t *network, const event_t *event)
{
    place_t *place = &network->places[event->to];

    switch (event->kind) {
    case EVENT_SWITCH:
        be_at_switch(network, event);
        break;
    case EVENT_DATAGRAM:
        get_datagram(network, event);
        break;
    case EVENT_LEAVE:
        leave(network, *event);
        break;
    case EVENT_MESSAGE:
        get_message(network, event);
        break;
    case EVENT_TURN:
        /* else an earlier one came in between, or the node has been paused or killed */
        if (event->at == place->turn_at && !place->dead) {
            place->turn_at = UINT64_MAX;
            take_turn(network, event->to);
        }
        break;
    default:
        event->call(event->arg);
    }
}

bool network_run(network_t *network, uint64_t until, bool (*is_over)(void *arg), void *arg)
{
    while ('\0' == network->complaint[0]) {
        event_t event;

        if (NULL != is_over && is_over(arg)) {
            return true;
        }
        if (0 == network->num_events || network->events[0].at > until) {
            network->now = network->now < until ? until : network->now;
            return false;
        }
        event = take_event(network);
        if (event.at > network->now) {
            network->now = event.at;
        }
        happen(network, &event);
        if (++network->num_past > MAX_EVENTS) {
            network_complain(network, "this does not come to an end");
        }
    }
    return false;
}

void network_complain(network_t *network, const char *format, ...)
{
    va_list arguments;

    if ('\0' != network->complaint[0]) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(network->complaint, sizeof(network->complaint), format, arguments);
    va_end(arguments);
}

const char *network_complaint(const network_t *network)
{
    return network->complaint;
}

uint64_t network_now(const network_t *network)
{
    return network->now;
}

const traffic_t *network_traffic(const network_t *network, unsigned node)
{
    return &network->places[node].traffic;
}

oc_transport_t *network_transport(network_t *network, unsigned node)
{
    return network->places[node].transport;
}

static uint64_t tell_time(void *arg)
{
    return network_now(arg);
}

void network_defaults(network_config_t *config, unsigned num_nodes)
{
    memset(config, 0, sizeof(*config));
    config->num_nodes = num_nodes;
    config->seed = 1;
    config->datagram_size = 1472;
    config->rate = 1250000000;
    config->latency = 5000;
    config->send_queue = 256 << 10;
    config->port_queue = 1u << 30;
    config->staging = 1u << 30;
    config->message_min = 5000;
    config->message_max = 50000;
    config->message_room = 1 << 20;
}

network_t *network_new(const network_config_t *config)
{
    static const oc_transport_ops_t ops = {.name = "simulated", .send = link_send,
                                           .receive = link_receive, .arm = link_arm,
                                           .close = link_close};
    network_t *network = calloc(1, sizeof(*network));

    if (NULL == network || config->num_nodes > MAX_NODES) {
        abort();
    }
    network->config = *config;
    network->now = OC_SECOND;
    network->random.state = config->seed;
    for (unsigned i = 0; i < config->num_nodes; i++) {
        place_t *place = &network->places[i];

        place->turn_at = UINT64_MAX;
        place->link = (link_t) {.base = {.ops = &ops, .datagram_size = config->datagram_size,
                                         .event_fd = -1},
                                .network = network, .number = i};
        place->transport = oc_shim_new(&place->link.base, &config->faults, i, tell_time, network);
        if (NULL == place->transport) {
            abort();
        }
    }
    return network;
}

void network_attach(network_t *network, unsigned node, const node_t *ops)
{
    network->places[node].ops = *ops;
    network->places[node].attached = true;
    network_wake(network, node);
}

void network_free(network_t *network)
{
    for (unsigned i = 0; i < network->config.num_nodes; i++) {
        place_t *place = &network->places[i];

        place->transport->ops->close(place->transport);
        empty(&place->datagrams);
        empty(&place->messages);
    }
    for (size_t i = 0; i < network->num_events; i++) {
        drop(network->events[i].parcel);
    }
    free(network->events);
    free(network);
}
