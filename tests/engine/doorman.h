/* SPDX-License-Identifier: BSD-3-Clause */
/* A process before a server: it lets the control connections of some processes of a job through, and not those of others. */
#ifndef OC_TESTS_ENGINE_DOORMAN_H
#define OC_TESTS_ENGINE_DOORMAN_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

/* Lies in shared memory; a bit for each process of the job. They count when a connection says HELLO. */
typedef struct {
    pid_t pid;
    atomic_uint barred;       /* it is closed */
    atomic_uint ignored;      /* it stays, and nobody ever says anything on it */
} doorman_t;

/* On 127.0.0.1: from the first port to the other. */
void doorman_start(doorman_t *doorman, uint16_t port, uint16_t server_port);
void doorman_stop(doorman_t *doorman);

#endif
