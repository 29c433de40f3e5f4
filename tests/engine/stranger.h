/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stranger: a process of no job that speaks UCX, and sends what it is told to whoever's address it
 * is given. Ranks tell it, so that a test can be sure of the moment.
 */
#ifndef OC_TESTS_ENGINE_STRANGER_H
#define OC_TESTS_ENGINE_STRANGER_H

#include "tests/engine/harness.h"

#define STRANGER_BYTES (1u << 20)

typedef struct stranger stranger_t;

/* How UCX gets a worker address through shared memory. */
typedef struct {
    size_t length;
    uint8_t bytes[4096];
} place_t;

typedef enum {
    SEND_AT_ONCE,     /* with its data */
    SEND_ANNOUNCED,   /* the data is fetched by the receiver */
    SEND_AND_STALL,   /* announced, and then the stranger does nothing any more: no data comes */
} send_way_t;

/* Forks it; before the ranks are. It ends with this process, or when it is stopped. */
stranger_t *stranger_start(void);
void stranger_stop(stranger_t *stranger);

/* Sends, and waits until the message has gone; NULL for bytes: a pattern. One rank at a time. */
void stranger_send(stranger_t *stranger, const rank_t *rank, const place_t *to, uint64_t tag,
                   const void *bytes, size_t length, send_way_t way);

/* Where the server on that port receives the data of this rank's job: its first aggregator. */
void place_of_server(const rank_t *rank, uint16_t port, place_t *place);
/* Where this rank receives; its client has a worker. */
void place_of_rank(const rank_t *rank, place_t *place);

#endif
