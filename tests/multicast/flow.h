/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction of a TCP connection on a fabric: letters become segments, which are acknowledged, and sent
 * again where they are lost. Only lengths are carried.
 *
 * Congestion control is CUBIC with slow start. Segments count as lost by the order of sending
 * (RACK, RFC 8985) after selective acknowledgements; when nothing comes back the last one is sent
 * again, and after a timeout all are.
 */
#ifndef OC_TESTS_MULTICAST_FLOW_H
#define OC_TESTS_MULTICAST_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/multicast/events.h"
#include "tests/multicast/fabric.h"

/* Bytes of a segment that are not payload, as of an acknowledgement; payload of a full one. */
#define FLOW_HEADER  66u
#define FLOW_SEGMENT 1448u

typedef struct flow flow_t;

/* All bytes of a letter have come; letters come in order. */
typedef void flow_delivered_fn_t(void *arg, flow_t *flow, void *thing);

typedef struct {
    unsigned from, to;           /* two hosts */
    size_t window;               /* bytes that may be under way */
    events_t *events;            /* stay the caller's, as does the fabric */
    fabric_t *fabric;
    flow_delivered_fn_t *delivered;
    void *arg;
} flow_config_t;

flow_t *flow_new(const flow_config_t *config);
/* Takes back what was not delivered, one after the other. false: there is no more. */
bool flow_take_back(flow_t *flow, void **thing);
/* After the events. */
void flow_free(flow_t *flow);

/* length: bytes, at least 1. */
void flow_send(flow_t *flow, size_t length, void *thing);

/* Bytes that have come. */
uint64_t flow_received(const flow_t *flow);
/* Segments that were sent more than once. */
unsigned long long flow_repeated(const flow_t *flow);

#endif
