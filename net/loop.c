/* SPDX-License-Identifier: BSD-3-Clause */
/* epoll behind the loop. */
#include "net/loop.h"

#include <stddef.h>
#include <sys/epoll.h>

#include "base/descriptors.h"

oc_status_t oc_loop_open(oc_loop_t *loop)
{
    loop->next = loop->count = 0;
    loop->epoll_fd = oc_fd_make(epoll_create1(EPOLL_CLOEXEC));
    return loop->epoll_fd < 0 ? OC_ERR_SYSTEM : OC_OK;
}

void oc_loop_close(oc_loop_t *loop)
{
    if (loop->epoll_fd >= 0) {
        oc_fd_close(loop->epoll_fd);
        loop->epoll_fd = -1;
    }
}

oc_status_t oc_loop_add(oc_loop_t *loop, oc_watch_t *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    watch->events = events;
    return 0 == epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) ? OC_OK
                                                                             : OC_ERR_SYSTEM;
}

/* Nothing else is told of the watch's events that have been fetched. */
static void keep_only(oc_loop_t *loop, const oc_watch_t *watch, uint32_t events)
{
    for (int i = loop->next; i < loop->count; i++) {
        if (watch == loop->events[i].data.ptr) {
            loop->events[i].events &= events;
        }
    }
}

void oc_loop_change(oc_loop_t *loop, oc_watch_t *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    if (events != watch->events
        && 0 == epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event)) {
        watch->events = events;
        keep_only(loop, watch, events | EPOLLERR | EPOLLHUP);
    }
}

void oc_loop_remove(oc_loop_t *loop, oc_watch_t *watch)
{
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    keep_only(loop, watch, 0);
}

int oc_loop_once(oc_loop_t *loop, int timeout_ms)
{
    struct epoll_event *event;
    oc_watch_t *watch;

    do {
        if (loop->next >= loop->count) {
            loop->next = 0;
            loop->count = epoll_wait(loop->epoll_fd, loop->events, OC_LOOP_EVENTS, timeout_ms);
        }
        if (loop->count <= 0) {
            return 0;
        }
        event = &loop->events[loop->next++];
    } while (0 == event->events);
    watch = event->data.ptr;
    watch->ready(watch, event->events);
    return 1;
}
