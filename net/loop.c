/* SPDX-License-Identifier: BSD-3-Clause */
/* epoll behind the loop. */
#include "net/loop.h"

#include <stddef.h>
#include <sys/epoll.h>

#include "base/descriptors.h"

oc_status_t oc_loop_open(oc_loop_t *loop)
{
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

    return 0 == epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) ? OC_OK
                                                                             : OC_ERR_SYSTEM;
}

void oc_loop_change(oc_loop_t *loop, oc_watch_t *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event);
}

void oc_loop_remove(oc_loop_t *loop, oc_watch_t *watch)
{
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
}

int oc_loop_once(oc_loop_t *loop, int timeout_ms)
{
    struct epoll_event event;
    oc_watch_t *watch;

    if (epoll_wait(loop->epoll_fd, &event, 1, timeout_ms) <= 0) {
        return 0;
    }
    watch = event.data.ptr;
    watch->ready(watch, event.events);
    return 1;
}
