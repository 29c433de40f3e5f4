/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns connections of processes, and what waits until they are made. */
#include "tests/multicast/streams.h"

#include <stdbool.h>
#include <stdlib.h>
#include <uthash.h>

#include "tests/multicast/fifo.h"
#include "tests/multicast/flow.h"
#include "tests/multicast/memory.h"

/*
 * Bytes of the messages that make a connection, which both ends send in turn: two packets of TCP, and the
 * addresses of UCX.
 */
static const size_t greetings[] = {8, 8, 400, 400};

#define NUM_GREETINGS (sizeof(greetings) / sizeof(greetings[0]))

/* Of the one that has connected, and of the other. */
typedef struct {
    flow_t *flow;                /* from here */
    unsigned process;
    bool open;
    fifo_t waiting;              /* by length */
} end_t;

typedef struct {
    uint64_t key;
    streams_t *streams;
    end_t ends[2];
    unsigned greeted;            /* greetings that have come */
    UT_hash_handle hh;
} connection_t;

struct streams {
    streams_config_t config;
    unsigned *peers;             /* by process */
    connection_t *connections;
};

static void greet(connection_t *connection, unsigned number)
{
    flow_send(connection->ends[number % 2].flow, greetings[number], NULL);
}

static void open_end(end_t *end)
{
    end->open = true;
    while (end->waiting.count > 0) {
        fifo_item_t item = fifo_pull(&end->waiting);

        flow_send(end->flow, item.number, item.thing);
    }
}

static void be_greeted(connection_t *connection)
{
    unsigned number = connection->greeted++;

    if (number + 1 < NUM_GREETINGS) {
        greet(connection, number + 1);
    }
    if (number + 2 >= NUM_GREETINGS) {
        open_end(&connection->ends[(number + 1) % 2]);
    }
}

static void get_letter(void *arg, flow_t *flow, void *thing)
{
    connection_t *connection = arg;
    const streams_config_t *config = &connection->streams->config;
    unsigned from = flow == connection->ends[0].flow ? 0 : 1;

    if (NULL == thing) {
        be_greeted(connection);
    } else {
        config->delivered(config->arg, connection->ends[from].process,
                          connection->ends[1 - from].process, thing);
    }
}

streams_t *streams_new(const streams_config_t *config)
{
    streams_t *streams = memory_new(sizeof(*streams));

    streams->config = *config;
    streams->peers = memory_new(config->num_processes * sizeof(*streams->peers));
    return streams;
}

static void free_end(streams_t *streams, end_t *end)
{
    void *thing;

    while (flow_take_back(end->flow, &thing)) {
        if (NULL != thing) {
            streams->config.dropped(streams->config.arg, thing);
        }
    }
    while (end->waiting.count > 0) {
        streams->config.dropped(streams->config.arg, fifo_pull(&end->waiting).thing);
    }
    flow_free(end->flow);
    fifo_free(&end->waiting);
}

void streams_free(streams_t *streams)
{
    connection_t *connection, *next;

    if (NULL == streams) {
        return;
    }
    HASH_ITER(hh, streams->connections, connection, next) {
        HASH_DEL(streams->connections, connection);
        free_end(streams, &connection->ends[0]);
        free_end(streams, &connection->ends[1]);
        free(connection);
    }
    free(streams->peers);
    free(streams);
}

static void make_end(connection_t *connection, unsigned number, unsigned process, unsigned other)
{
    streams_t *streams = connection->streams;
    flow_config_t config = {.from = streams->config.host_of[process],
                            .to = streams->config.host_of[other],
                            .window = streams->config.window,
                            .events = streams->config.events,
                            .fabric = streams->config.fabric,
                            .delivered = get_letter,
                            .arg = connection};

    connection->ends[number].process = process;
    connection->ends[number].flow = flow_new(&config);
    streams->peers[process]++;
}

static connection_t *find_connection(streams_t *streams, unsigned from, unsigned to)
{
    uint64_t low = from < to ? from : to, high = from < to ? to : from, key = low << 32 | high;
    connection_t *connection;

    HASH_FIND(hh, streams->connections, &key, sizeof(key), connection);
    if (NULL != connection) {
        return connection;
    }
    connection = memory_new(sizeof(*connection));
    connection->key = key;
    connection->streams = streams;
    make_end(connection, 0, from, to);
    make_end(connection, 1, to, from);
    HASH_ADD(hh, streams->connections, key, sizeof(key), connection);
    greet(connection, 0);
    return connection;
}

void streams_send(streams_t *streams, unsigned from, unsigned to, size_t length, void *thing)
{
    connection_t *connection = find_connection(streams, from, to);
    end_t *end = &connection->ends[connection->ends[0].process == from ? 0 : 1];
    size_t bytes = length + streams->config.overhead;

    if (end->open) {
        flow_send(end->flow, bytes, thing);
    } else {
        fifo_push(&end->waiting, bytes, thing);
    }
}

unsigned streams_peers(const streams_t *streams, unsigned process)
{
    return streams->peers[process];
}
