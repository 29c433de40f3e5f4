/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sockets on which UCX listens for a worker. UCX names neither them nor their ports, so they
 * are those that were not there before it was made, and whose address is part of the worker's.
 */
#ifndef OC_UCX_BACKEND_LISTENERS_H
#define OC_UCX_BACKEND_LISTENERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct {
    ino_t *sockets;             /* that this process has, ascending */
    size_t count, capacity;
    int error;                  /* errno: they could not be found */
} oc_sockets_t;

/* Freed by oc_sockets_forget, whatever became of it. */
void oc_sockets_remember(oc_sockets_t *before);
void oc_sockets_forget(oc_sockets_t *before);

typedef struct {
    int *fds;                   /* UCX's; the array is freed by whoever has it */
    unsigned count;
    unsigned unknown;           /* others of TCP that listen since then: nobody knows whose */
    int error;                  /* errno: there may be more */
} oc_listeners_t;

/*
 * Those of the worker with this address. A socket of somebody else that came meanwhile is not taken
 * for one, unless its address and its port happen to be among the bytes; it is one of the unknown.
 */
void oc_listeners_find(const oc_sockets_t *before, const void *address, size_t length,
                       oc_listeners_t *listeners);

#endif
