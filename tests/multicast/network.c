/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the nodes of a simulated network, and lets time pass for them. */
#include "tests/multicast/network.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/multicast/memory.h"
#include "tests/multicast/network_types.h"

#define DATAGRAMS_A_TURN 64

/* Turns in a row that want the next one at once, and do nothing. */
#define MAX_SPINS 100

/* More events than any test makes: something goes round in circles. */
#define MAX_EVENTS 2000000000ull

/* ---- turns ---- */

static void watch_spinning(network_t *network, place_t *place, bool moved, uint64_t next)
{
    place->traffic.turns++;
    place->traffic.idle_turns += !moved;
    place->spins = moved || next > network_now(network) ? 0 : place->spins + 1;
    if (place->spins > MAX_SPINS) {
        network_complain(network, "node %u wants to be called again and again, and does nothing",
                         place->port.number);
    }
}

/* A node that waits for something looks all the time. */
static void tell_missed(network_t *network, place_t *place)
{
    uint64_t from = place->paused_from;

    place->paused_from = UINT64_MAX;
    if (UINT64_MAX != from && NULL != place->ops.missed) {
        place->ops.missed(place->ops.arg, network_now(network) - from);
    }
}

/* Returns when the node wants to be called again. */
static uint64_t let_work(network_t *network, place_t *place)
{
    unsigned long long moves = place->moves;
    uint64_t next;

    tell_missed(network, place);
    for (size_t left = place->messages.count; left > 0; left--) {
        network_hand_message(network, place->port.number);
    }
    (void) place->transport->ops->receive(place->transport, DATAGRAMS_A_TURN, place->ops.datagram,
                                          place->ops.arg);
    next = place->ops.progress(place->ops.arg);
    watch_spinning(network, place, place->moves != moves, next);
    place->busy_until = network_now(network) + (place->moves - moves) * network->config.work;
    return next;
}

static void take_turn(network_t *network, place_t *place)
{
    uint64_t now = network_now(network), next = let_work(network, place);
    uint64_t due = oc_shim_due(place->transport);

    next = due < next ? due : next;
    if (place->datagrams.count > 0) {
        next = now;
    }
    if (next < now + TURN_TIME) {
        next = now + TURN_TIME;
    }
    if (UINT64_MAX != next) {
        network_plan_turn(network, place->port.number, next);
    }
}

static void have_turn(void *owner, const event_t *event)
{
    network_t *network = owner;
    place_t *place = &network->places[event->to];

    /* else an earlier one came in between, or the node has been paused or killed */
    if (event->at == place->turn_at && !place->dead) {
        place->turn_at = UINT64_MAX;
        take_turn(network, place);
    }
}

/* ---- time ---- */

typedef struct {
    void (*function)(void *arg);
    void *arg;
} call_t;

static void make_call(void *owner, const event_t *event)
{
    call_t *call = event->thing;

    (void) owner;
    call->function(call->arg);
    free(call);
}

static void forget_call(void *owner, const event_t *event)
{
    (void) owner;
    free(event->thing);
}

void network_at(network_t *network, uint64_t when, void (*function)(void *arg), void *arg)
{
    static const event_kind_t kind = {make_call, forget_call};
    call_t *call = memory_new(sizeof(*call));

    *call = (call_t) {function, arg};
    events_plan(network->events, (event_t) {.at = when, .kind = &kind, .thing = call});
}

bool network_run(network_t *network, uint64_t until, bool (*is_over)(void *arg), void *arg)
{
    while ('\0' == network->complaint[0]) {
        if (NULL != is_over && is_over(arg)) {
            return true;
        }
        if (!events_step(network->events, until)) {
            return false;
        }
        if (events_past(network->events) > MAX_EVENTS) {
            network_complain(network, "this does not come to an end");
        }
    }
    return false;
}

uint64_t network_now(const network_t *network)
{
    return events_now(network->events);
}

/* ---- life ---- */

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

void network_real(network_config_t *config, unsigned num_nodes)
{
    network_defaults(config, num_nodes);
    config->datagram_header = 42;
    config->tcp = true;
    config->tcp_window = 256 << 10;
    config->message_min = 1000;
    config->message_max = 3000;
    config->work = 500;
    config->jitter = 2000;
}

static void place_nodes(network_t *network, const unsigned *hosts)
{
    unsigned count = network->config.num_nodes;

    network->hosts = memory_new(count * sizeof(unsigned));
    network->first_node = memory_new(count * sizeof(unsigned));
    network->next_node = memory_new(count * sizeof(unsigned));
    memset(network->first_node, 0xff, count * sizeof(unsigned));
    for (unsigned i = count; i > 0; i--) {
        unsigned node = i - 1, host = NULL == hosts ? node : hosts[node];

        network->hosts[node] = host;
        network->next_node[node] = network->first_node[host];
        network->first_node[host] = node;
        network->num_hosts = host >= network->num_hosts ? host + 1 : network->num_hosts;
    }
}

static void make_links(network_t *network)
{
    const network_config_t *config = &network->config;
    fabric_config_t fabric = {.num_hosts = network->num_hosts, .leaf_hosts = config->leaf_hosts,
                              .pod_hosts = config->pod_hosts, .rate = config->rate,
                              .trunk_rate = config->trunk_rate, .latency = config->latency,
                              .port_queue = config->port_queue, .burst = config->burst,
                              .jitter = config->jitter, .seed = config->seed + 1};
    streams_config_t streams = {.num_processes = config->num_nodes, .host_of = network->hosts,
                                .window = config->tcp_window, .overhead = 16,
                                .events = network->events,
                                .delivered = network_stream_delivered,
                                .dropped = network_stream_dropped, .arg = network};

    streams.fabric = network->fabric = fabric_new(&fabric, network->events);
    network->streams = config->tcp ? streams_new(&streams) : NULL;
}

network_t *network_new(const network_config_t *config)
{
    static const event_kind_t turn = {have_turn, NULL};
    network_t *network = memory_new(sizeof(*network));

    network->config = *config;
    network->events = events_new(OC_SECOND);
    network->turn = &turn;
    network->random.state = config->seed;
    network->places = memory_new(config->num_nodes * sizeof(place_t));
    place_nodes(network, config->hosts);
    make_links(network);
    for (unsigned i = 0; i < config->num_nodes; i++) {
        network->places[i].turn_at = UINT64_MAX;
        network->places[i].paused_from = UINT64_MAX;
        network->places[i].outstanding = memory_new(config->num_nodes * sizeof(size_t));
        network_open_transport(network, i);
    }
    return network;
}

void network_attach(network_t *network, unsigned node, const node_t *ops)
{
    network->places[node].ops = *ops;
    network->places[node].attached = true;
    network_wake(network, node);
}

static void drop_all(fifo_t *fifo)
{
    while (fifo->count > 0) {
        parcel_drop(fifo_pull(fifo).thing);
    }
    fifo_free(fifo);
}

void network_free(network_t *network)
{
    for (unsigned i = 0; i < network->config.num_nodes; i++) {
        place_t *place = &network->places[i];

        place->transport->ops->close(place->transport);
        drop_all(&place->datagrams);
        drop_all(&place->messages);
        free(place->outstanding);
    }
    events_free(network->events);
    streams_free(network->streams);
    fabric_free(network->fabric);
    free(network->places);
    free(network->hosts);
    free(network->first_node);
    free(network->next_node);
    free(network);
}

const traffic_t *network_traffic(const network_t *network, unsigned node)
{
    place_t *place = &network->places[node];

    place->traffic.lost_at_port = fabric_down(network->fabric, network->hosts[node])->lost;
    return &place->traffic;
}

fabric_t *network_fabric(network_t *network)
{
    return network->fabric;
}

events_t *network_events(network_t *network)
{
    return network->events;
}

unsigned network_peers(const network_t *network, unsigned node)
{
    return NULL == network->streams ? 0 : streams_peers(network->streams, node);
}
