/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small event loop over epoll. It runs inside MPI processes too, where a general event
 * library could meet another copy of itself. One thread per loop.
 */
#ifndef OC_NET_LOOP_H
#define OC_NET_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

#include "base/status.h"

/* Events that one call of the system fetches at most. */
#define OC_LOOP_EVENTS 64

typedef struct oc_loop {
    int epoll_fd;
    struct epoll_event events[OC_LOOP_EVENTS];    /* that have been fetched … */
    int next, count;           /* … and wait for their turn */
} oc_loop_t;

/* Embedded in whatever owns the descriptor. ready gets EPOLL* bits. */
typedef struct oc_watch {
    int fd;
    uint32_t events;           /* that are looked for: the loop's own */
    void (*ready)(struct oc_watch *watch, uint32_t events);
} oc_watch_t;

oc_status_t oc_loop_open(oc_loop_t *loop);
void oc_loop_close(oc_loop_t *loop);

oc_status_t oc_loop_add(oc_loop_t *loop, oc_watch_t *watch, uint32_t events);
void oc_loop_change(oc_loop_t *loop, oc_watch_t *watch, uint32_t events);
void oc_loop_remove(oc_loop_t *loop, oc_watch_t *watch);

/*
 * Waits for one event at most timeout_ms (-1: without end) and calls its ready. A callback may free
 * any watch that it has removed: no event of it is left behind. An event that was fetched with
 * others may be over when its turn comes: descriptors do not block. Returns 1, or 0 after the
 * timeout or a signal.
 */
int oc_loop_once(oc_loop_t *loop, int timeout_ms);

#endif
