/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between processes on a fabric, over TCP connections as UCX makes them: one for each pair of processes,
 * with its first message, which waits for two round trips: that of TCP, and one in which both ends
 * exchange their addresses. Only lengths are carried.
 */
#ifndef OC_TESTS_MULTICAST_STREAMS_H
#define OC_TESTS_MULTICAST_STREAMS_H

#include <stddef.h>

#include "tests/multicast/events.h"
#include "tests/multicast/fabric.h"

/*
 * All of a message has come. Those from one process to another come in order. thing is what
 * streams_send was given.
 */
typedef void streams_delivered_fn_t(void *arg, unsigned from, unsigned to, void *thing);
/* A message will not come: the streams are freed. */
typedef void streams_dropped_fn_t(void *arg, void *thing);

typedef struct {
    unsigned num_processes;
    const unsigned *host_of;     /* by process; outlives the streams, as do events and fabric */
    size_t window;               /* bytes that a connection may have under way, each way */
    size_t overhead;             /* bytes that each message has beside its own */
    events_t *events;
    fabric_t *fabric;
    streams_delivered_fn_t *delivered;
    streams_dropped_fn_t *dropped;
    void *arg;
} streams_config_t;

typedef struct streams streams_t;

streams_t *streams_new(const streams_config_t *config);
/* After the events. NULL is allowed. */
void streams_free(streams_t *streams);

/* Between processes of two hosts. length: bytes. */
void streams_send(streams_t *streams, unsigned from, unsigned to, size_t length, void *thing);

/* Others that a process has a connection with. */
unsigned streams_peers(const streams_t *streams, unsigned process);

#endif
