/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One control connection of a client that is not the engine: it says what it is told to, whether
 * that makes sense or not, and looks at whatever the server answers.
 */
#ifndef OC_TESTS_ENGINE_CALLER_H
#define OC_TESTS_ENGINE_CALLER_H

#include <stdbool.h>
#include <stdint.h>

#include "control/stream.h"

typedef struct {
    oc_stream_t stream;
    bool open;
    bool welcomed, refused;    /* by the server */
    bool failed;               /* the server said JOB_ERROR or GROUP_ERROR, or DRAIN */
    unsigned joins, joined;    /* JOINs said, JOINEDs heard */
    unsigned pings, pongs;
    unsigned queries, statuses;
    unsigned watches, sights;  /* WATCHes and LOOKs said, SIGHTs heard */
    uint32_t last_ping;
    bool vague;                /* something was sent that may have been a JOIN or PING */
    char wrong[200];           /* what no server may say: the first such thing, or "" */
} caller_t;

/* Connects to that port of 127.0.0.1; false: it is refused. */
bool caller_open(caller_t *caller, uint16_t port);

/* Ends the connection: in order, or by a reset. Legal when it is not open. */
void caller_close(caller_t *caller, bool reset);

/* Sends a message as it should be, and counts it. */
void caller_say(caller_t *caller, const oc_control_t *message);

/* Counts a message that is sent in some other way, or anything that may be a message. */
void caller_count(caller_t *caller, const oc_control_t *message);
void caller_count_any(caller_t *caller);

/* Sends any bytes, as far as the server takes them within a second. */
void caller_send(caller_t *caller, const uint8_t *bytes, size_t length);

/* Hears what has come. The connection is closed if the server has ended it. */
void caller_hear(caller_t *caller);

#endif
