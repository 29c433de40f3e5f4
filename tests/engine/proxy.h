/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process between clients and a server that passes control connections on, until it is told
 * otherwise.
 */
#ifndef OC_TESTS_ENGINE_PROXY_H
#define OC_TESTS_ENGINE_PROXY_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#define MAX_PROXY_CONNECTIONS 32

/* Lies in shared memory; a bit for each connection, in the order of their coming. */
typedef struct {
    pid_t pid;
    char address[64];         /* where clients connect to */
    atomic_uint frozen;       /* nothing passes, and nobody learns of an end */
    atomic_uint cut;          /* both sides see the end of the connection */
    atomic_uint reset;        /* the same, as an error */
    atomic_uint connections;  /* that have come */
} proxy_t;

void proxy_start(proxy_t *proxy, uint16_t server_port);
void proxy_stop(proxy_t *proxy);

#endif
