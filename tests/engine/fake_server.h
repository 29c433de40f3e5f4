/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server that misbehaves: a process that speaks the control protocol and has a real UCX worker,
 * with one aggregator that never reduces anything.
 */
#ifndef OC_TESTS_ENGINE_FAKE_SERVER_H
#define OC_TESTS_ENGINE_FAKE_SERVER_H

#include <stdint.h>
#include <sys/types.h>

typedef enum {
    FAKE_READY,          /* says READY as it should */
    FAKE_SILENT,         /* joins, and never says READY */
    FAKE_IDLE,           /* welcomes, and never says JOINED */
    FAKE_OTHER,          /* a message that is not READY, in its place */
    FAKE_SHORT,          /* a READY that is cut off */
    FAKE_FORGED,         /* READY, behind FORGED_READIES that somebody else has made or changed */
    FAKE_CROWDED,        /* the same, but for 3.5 s the system has no room for more connections */
    FAKE_LATE_REFUSAL,   /* answers a second group with nothing but a refusal, after it has left */
} fake_t;

#define FORGED_READIES 5u

typedef struct {
    pid_t pid;
    char address[64];
} fake_server_t;

void fake_server_start(fake_server_t *server, fake_t behaviour);
void fake_server_start_at(fake_server_t *server, uint16_t port, fake_t behaviour);
void fake_server_stop(const fake_server_t *server);

#endif
