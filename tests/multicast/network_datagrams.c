/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns what becomes of datagrams from the call that sends them to the one that receives them. */
#include "tests/multicast/network_datagrams.h"

#include <stdlib.h>

#include "tests/multicast/memory.h"
#include "tests/multicast/network_types.h"

/* ---- sending ---- */

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

/* Datagrams that cross links as one piece, as the kernel has not cut it yet. */
typedef struct {
    unsigned from, count;
    size_t length;               /* of all, without the network's headers */
    parcel_t *parcels[];
} train_t;

static void train_sent(void *owner, void *thing)
{
    network_t *network = owner;
    const train_t *train = thing;
    place_t *place = &network->places[train->from];

    place->sending -= train->length;
    if (place->attached && !place->dead && place->ops.wants_to_send(place->ops.arg)) {
        network_wake(network, train->from);
    }
}

static void train_arrived(void *owner, void *thing, unsigned host);

static void train_released(void *owner, void *thing)
{
    train_t *train = thing;

    (void) owner;
    for (unsigned i = 0; i < train->count; i++) {
        parcel_drop(train->parcels[i]);
    }
    free(train);
}

static const fabric_client_t client = {train_sent, train_arrived, train_released};

static void copy_locally(network_t *network, parcel_t *parcel);

static void add_to_train(network_t *network, train_t *train, const oc_outgoing_t *datagram)
{
    place_t *place = &network->places[train->from];
    parcel_t *parcel = parcel_pack(train->from, datagram->header, OC_DATAGRAM_HEADER,
                                   datagram->payload, datagram->length);

    train->parcels[train->count++] = parcel;
    train->length += parcel->length;
    place->sending += parcel->length;
    place->moves++;
    place->traffic.datagrams++;
    place->traffic.datagram_bytes += parcel->length;
    copy_locally(network, parcel);
}

/* Returns how many of the datagrams, from the first, the socket and one piece have room for. */
static unsigned send_train(network_t *network, unsigned node, const oc_outgoing_t *datagrams,
                           unsigned count)
{
    place_t *place = &network->places[node];
    train_t *train = memory_new(sizeof(*train) + count * sizeof(parcel_t *));
    size_t length;

    train->from = node;
    while (train->count < count) {
        length = OC_DATAGRAM_HEADER + datagrams[train->count].length;
        if (place->sending + length > network->config.send_queue
            || (train->count > 0 && train->length + length > network->config.piece)) {
            break;
        }
        add_to_train(network, train, &datagrams[train->count]);
    }
    count = train->count;
    if (0 == count) {
        free(train);
    } else {
        fabric_send(network->fabric, network->hosts[node], FABRIC_ALL,
                    train->length + count * network->config.datagram_header, &client, network,
                    train);
    }
    return count;
}

static unsigned port_send(oc_transport_t *transport, const oc_outgoing_t *datagrams,
                          unsigned count)
{
    port_t *port = (port_t *) transport;
    unsigned taken = 0, more = 1;

    check_batch(port->network, port->number, datagrams, count);
    while (taken < count && more > 0) {
        more = send_train(port->network, port->number, datagrams + taken, count - taken);
        taken += more;
    }
    return taken;
}

/* ---- receiving ---- */

static void get_datagram(network_t *network, unsigned to, parcel_t *parcel)
{
    place_t *place = &network->places[to];

    if (!place->attached || place->dead) {
        parcel_drop(parcel);
    } else if (place->staged + parcel->length > network->config.staging) {
        place->traffic.lost_at_node++;
        parcel_drop(parcel);
    } else {
        place->staged += parcel->length;
        fifo_push(&place->datagrams, 0, parcel);
        network_wake(network, to);
    }
}

/* A copy, which the meddler may change or lose, for one of the nodes of a host. */
static void deliver(network_t *network, unsigned to, parcel_t *parcel)
{
    const meddler_t *meddler = &network->config.meddler;
    parcel_t *copy = parcel;

    if (NULL == meddler->datagram) {
        parcel->users++;
    } else {
        copy = parcel_pack(parcel->from, parcel->bytes, parcel->length, NULL, 0);
        if (!meddler->datagram(meddler->arg, parcel->from, to, copy->bytes, copy->length)) {
            parcel_drop(copy);
            return;
        }
    }
    get_datagram(network, to, copy);
}

static void train_arrived(void *owner, void *thing, unsigned host)
{
    network_t *network = owner;
    const train_t *train = thing;

    for (unsigned node = network->first_node[host]; NOWHERE != node;
         node = network->next_node[node]) {
        for (unsigned i = 0; i < train->count; i++) {
            deliver(network, node, train->parcels[i]);
        }
    }
}

static void arrive_at_one(void *owner, const event_t *event)
{
    get_datagram(owner, event->to, event->thing);
}

static void arrive_locally(void *owner, const event_t *event)
{
    deliver(owner, event->to, event->thing);
    parcel_drop(event->thing);
}

static void forget(void *owner, const event_t *event)
{
    (void) owner;
    parcel_drop(event->thing);
}

static const event_kind_t at_one = {arrive_at_one, forget};
static const event_kind_t locally = {arrive_locally, forget};

/* The sender's host gives copies to its other nodes, and to the sender if that is so. */
static void copy_locally(network_t *network, parcel_t *parcel)
{
    unsigned host = network->hosts[parcel->from];

    for (unsigned node = network->first_node[host]; NOWHERE != node;
         node = network->next_node[node]) {
        if (node != parcel->from || network->config.loopback) {
            parcel->users++;
            events_plan(network->events, (event_t) {.at = events_now(network->events) + TURN_TIME,
                                                    .kind = &locally, .owner = network,
                                                    .to = node, .thing = parcel});
        }
    }
}

void network_forge_datagram(network_t *network, unsigned from, unsigned to, const uint8_t *bytes,
                            size_t length, uint64_t when)
{
    events_plan(network->events, (event_t) {.at = when, .kind = &at_one, .owner = network, .to = to,
                                            .thing = parcel_pack(from, bytes, length, NULL, 0)});
}

oc_origin_t network_origin(unsigned node)
{
    return (oc_origin_t) {.address = {10, [14] = (uint8_t) (node >> 8), [15] = (uint8_t) node},
                          .port = 1000 + node};
}

static unsigned port_receive(oc_transport_t *transport, unsigned max, oc_arrival_fn_t *arrived,
                             void *arg)
{
    port_t *port = (port_t *) transport;
    place_t *place = &port->network->places[port->number];
    unsigned count = 0;
    oc_origin_t from;

    while (count < max && place->datagrams.count > 0) {
        parcel_t *parcel = fifo_pull(&place->datagrams).thing;

        count++;
        place->staged -= parcel->length;
        place->moves++;
        from = network_origin(parcel->from);
        arrived(arg, &from, parcel->bytes, parcel->length);
        parcel_drop(parcel);
    }
    return count;
}

static bool port_arm(oc_transport_t *transport, bool sending)
{
    (void) transport;
    (void) sending;
    return true;
}

static void port_close(oc_transport_t *transport)
{
    (void) transport;
}

static uint64_t tell_time(void *arg)
{
    return events_now(((const network_t *) arg)->events);
}

void network_open_transport(network_t *network, unsigned node)
{
    static const oc_transport_ops_t ops = {.name = "simulated", .send = port_send,
                                           .receive = port_receive, .arm = port_arm,
                                           .close = port_close};
    place_t *place = &network->places[node];

    place->port = (port_t) {.base = {.ops = &ops, .datagram_size = network->config.datagram_size,
                                     .event_fd = -1},
                            .network = network, .number = node};
    place->transport = oc_shim_new(&place->port.base, &network->config.faults, node, tell_time,
                                   network);
    if (NULL == place->transport) {
        abort();
    }
}

oc_transport_t *network_transport(network_t *network, unsigned node)
{
    return network->places[node].transport;
}
