/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One epoll set has the channels of librdmacm and the descriptor of the device's own events. The
 * device as librdmacm has opened it belongs to all identifiers of the process that are bound to it,
 * so only one may take its events: what others of the process have made of it is not touched.
 */
#include "multicast/transport/verbs_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"

/* While nothing is due, a clock is read each so many times, … */
#define GLANCES 64u
/* … and the kernel is asked only so often. */
#define INTERVAL OC_MILLISECOND

#define MAX_EVENTS 8

static int verbs_watch_change(const oc_verbs_watch_t *watch, int action, int fd,
                              oc_verbs_watcher_t *watcher)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = watcher};

    return 0 == epoll_ctl(watch->fd, action, fd, &event) ? 0 : errno;
}

int oc_verbs_watch_open(oc_verbs_watch_t *watch, struct ibv_context *device)
{
    int flags = fcntl(device->async_fd, F_GETFL);

    *watch = (oc_verbs_watch_t) {.fd = -1, .device = device, .due = UINT64_MAX};
    if (flags < 0 || 0 != fcntl(device->async_fd, F_SETFL, flags | O_NONBLOCK)) {
        return errno;
    }
    watch->fd = oc_fd_make(epoll_create1(EPOLL_CLOEXEC));
    if (watch->fd < 0) {
        return errno;
    }
    return verbs_watch_change(watch, EPOLL_CTL_ADD, device->async_fd, NULL);
}

void oc_verbs_watch_close(oc_verbs_watch_t *watch)
{
    if (watch->fd >= 0) {
        oc_fd_close(watch->fd);
    }
}

int oc_verbs_watch_add(oc_verbs_watch_t *watch, oc_verbs_watcher_t *watcher, int channel)
{
    int failed = verbs_watch_change(watch, EPOLL_CTL_ADD, channel, watcher);

    if (0 == failed) {
        DL_APPEND(watch->watchers, watcher);
        watch->due = watcher->due < watch->due ? watcher->due : watch->due;
    }
    return failed;
}

void oc_verbs_watch_remove(oc_verbs_watch_t *watch, oc_verbs_watcher_t *watcher, int channel)
{
    if (NULL != watcher->prev) {
        DL_DELETE(watch->watchers, watcher);
        (void) verbs_watch_change(watch, EPOLL_CTL_DEL, channel, NULL);
    }
}

/* A descriptor that has only errors to tell would keep everybody awake. */
static void verbs_watch_end(oc_verbs_watch_t *watch)
{
    const struct ibv_async_event fatal = {.event_type = IBV_EVENT_DEVICE_FATAL};
    oc_verbs_watcher_t *watcher;

    oc_debug("the device's events have ended (%s)", strerror(errno));
    (void) verbs_watch_change(watch, EPOLL_CTL_DEL, watch->device->async_fd, NULL);
    watch->device = NULL;
    DL_FOREACH (watch->watchers, watcher) {
        watcher->happened(watcher, &fatal);
    }
}

/* Each is acknowledged at once, or what it is about could never be destroyed. */
static void take_device_events(oc_verbs_watch_t *watch)
{
    struct ibv_async_event event;
    oc_verbs_watcher_t *watcher;

    while (0 == ibv_get_async_event(watch->device, &event)) {
        DL_FOREACH (watch->watchers, watcher) {
            watcher->happened(watcher, &event);
        }
        ibv_ack_async_event(&event);
    }
    if (EAGAIN != errno && EINTR != errno) {
        verbs_watch_end(watch);
    }
}

static void step_all(oc_verbs_watch_t *watch, uint64_t now)
{
    oc_verbs_watcher_t *watcher;

    watch->due = UINT64_MAX;
    DL_FOREACH (watch->watchers, watcher) {
        if (now >= watcher->due) {
            watcher->step(watcher, now);
        }
        watch->due = watcher->due < watch->due ? watcher->due : watch->due;
    }
}

void oc_verbs_watch_look(oc_verbs_watch_t *watch, uint64_t now)
{
    struct epoll_event events[MAX_EVENTS];
    int count = epoll_wait(watch->fd, events, MAX_EVENTS, 0);

    watch->looked = now;
    for (int i = 0; i < count; i++) {
        oc_verbs_watcher_t *watcher = events[i].data.ptr;

        if (NULL != watcher) {
            watcher->heed(watcher);
        } else if (NULL != watch->device) {
            take_device_events(watch);
        }
    }
    step_all(watch, now);
}

void oc_verbs_watch_glance(oc_verbs_watch_t *watch)
{
    uint64_t now;

    if (0 != ++watch->calls % GLANCES && UINT64_MAX == watch->due) {
        return;
    }
    now = oc_clock_ns();
    if (now - watch->looked >= INTERVAL) {
        oc_verbs_watch_look(watch, now);
    }
}
