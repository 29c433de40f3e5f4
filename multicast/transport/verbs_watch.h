/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notices what happens to a device and to memberships: also while a rank polls and never sleeps,
 * and cheaply. One for all transports of a process. For verbs.c and verbs_source.c only.
 */
#ifndef OC_MULTICAST_TRANSPORT_VERBS_WATCH_H
#define OC_MULTICAST_TRANSPORT_VERBS_WATCH_H

#include <infiniband/verbs.h>
#include <stdint.h>

typedef struct oc_verbs_watcher oc_verbs_watcher_t;

/* Whoever is told. Its functions must not add or remove watchers. */
struct oc_verbs_watcher {
    /* Takes all events of its own channel. */
    void (*heed)(oc_verbs_watcher_t *watcher);
    /* Something has happened to the device: also to another port, or to somebody's queue pair. */
    void (*happened)(oc_verbs_watcher_t *watcher, const struct ibv_async_event *event);
    /* It is due. Sets due to a time that is later. */
    void (*step)(oc_verbs_watcher_t *watcher, uint64_t now);
    uint64_t due;              /* ns; UINT64_MAX: never */
    oc_verbs_watcher_t *prev, *next;
};

typedef struct {
    int fd;                    /* to sleep on: it can be read if there is something to see */
    struct ibv_context *device; /* NULL: its events have ended */
    oc_verbs_watcher_t *watchers;
    uint64_t due;              /* of the first watcher that is due, when it was looked last */
    uint64_t looked;           /* when that was */
    unsigned calls;
} oc_verbs_watch_t;

/* Returns 0 or an errno. */
int oc_verbs_watch_open(oc_verbs_watch_t *watch, struct ibv_context *device);

/* The watchers are told nothing more. Nothing happens if it was never opened: fd is -1. */
void oc_verbs_watch_close(oc_verbs_watch_t *watch);

/* channel: what heed takes events from. Returns 0 or an errno. */
int oc_verbs_watch_add(oc_verbs_watch_t *watch, oc_verbs_watcher_t *watcher, int channel);

/* Before its channel is closed. Nothing happens if it was not added. */
void oc_verbs_watch_remove(oc_verbs_watch_t *watch, oc_verbs_watcher_t *watcher, int channel);

/* Tells the watchers what has happened, and those that are due. Does not wait. */
void oc_verbs_watch_look(oc_verbs_watch_t *watch, uint64_t now);

/* Looks if it has not done so for a while: to be called again and again. */
void oc_verbs_watch_glance(oc_verbs_watch_t *watch);

/* Outside of its functions: a watcher is due by then. */
static inline void oc_verbs_watch_hurry(oc_verbs_watch_t *watch, uint64_t due)
{
    watch->due = due < watch->due ? due : watch->due;
}

#endif
