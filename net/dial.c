/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking up, connecting, and giving an address up. */
#include "net/dial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "net/socket.h"

/* An address that does not answer is left for the next one after this time. */
#define ATTEMPT_TIMEOUT (1 * OC_SECOND)

static void on_connected(oc_watch_t *watch, uint32_t events);

static void stop_resolving(oc_dial_t *dial)
{
    if (NULL != dial->resolver) {
        oc_loop_remove(dial->loop, &dial->watch);
        dial->watch.fd = -1;
        oc_resolver_abandon(dial->resolver);
        dial->resolver = NULL;
    }
}

static void stop_connecting(oc_dial_t *dial)
{
    if (dial->watch.fd >= 0) {
        oc_loop_remove(dial->loop, &dial->watch);
        oc_fd_close(dial->watch.fd);
        dial->watch.fd = -1;
    }
}

static void try_next(oc_dial_t *dial, int error)
{
    int fd;

    stop_connecting(dial);
    while (dial->candidate < dial->num_candidates) {
        fd = oc_connect_start(&dial->candidates[dial->candidate++]);
        if (fd < 0) {
            error = errno;
            continue;
        }
        dial->watch = (oc_watch_t) {.fd = fd, .ready = on_connected};
        dial->attempt_deadline = oc_clock_ns() + ATTEMPT_TIMEOUT;
        if (OC_OK == oc_loop_add(dial->loop, &dial->watch, EPOLLOUT)) {
            return;
        }
        oc_fd_close(fd);
        dial->watch.fd = -1;
        error = ENOMEM;
    }
    dial->done(dial->arg, -1, strerror(error));
}

static void on_connected(oc_watch_t *watch, uint32_t events)
{
    oc_dial_t *dial = (oc_dial_t *) watch;
    socklen_t length = sizeof(int);
    int error = 0, fd = watch->fd;

    (void) events;
    (void) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (0 != error) {
        try_next(dial, error);
        return;
    }
    oc_loop_remove(dial->loop, watch);
    watch->fd = -1;
    dial->done(dial->arg, fd, NULL);
}

static void begin_connecting(oc_dial_t *dial)
{
    if (0 == dial->num_candidates) {
        dial->done(dial->arg, -1, dial->unknown);
    } else {
        try_next(dial, EHOSTUNREACH);
    }
}

static void on_resolved(oc_watch_t *watch, uint32_t events)
{
    oc_dial_t *dial = (oc_dial_t *) watch;

    (void) events;
    if (!oc_resolver_done(dial->resolver)) {
        return;
    }
    dial->candidates = oc_resolver_addresses(dial->resolver, 0, &dial->num_candidates,
                                             dial->unknown, sizeof(dial->unknown));
    stop_resolving(dial);
    if (NULL != dial->done) {
        begin_connecting(dial);
    }
}

oc_status_t oc_dial_open(oc_dial_t *dial, oc_loop_t *loop, const char *text, char *error,
                         size_t error_size)
{
    oc_server_t server = {.weight = OC_WEIGHT_ONE};
    oc_server_list_t list = {.servers = &server, .count = 1};
    oc_status_t status;

    *dial = (oc_dial_t) {.watch.fd = -1, .loop = loop};
    status = oc_host_port_parse(text, &server.name, error, error_size);
    if (OC_OK != status) {
        return status;
    }
    dial->resolver = oc_resolver_begin(&list);
    if (NULL == dial->resolver) {
        snprintf(error, error_size, "no thread can be started to look up \"%s\"", text);
        return OC_ERR_SYSTEM;
    }
    dial->watch = (oc_watch_t) {.fd = oc_resolver_event_fd(dial->resolver), .ready = on_resolved};
    snprintf(error, error_size, "out of memory");
    return oc_loop_add(loop, &dial->watch, EPOLLIN);
}

void oc_dial_connect(oc_dial_t *dial, void (*done)(void *arg, int fd, const char *reason),
                     void *arg)
{
    dial->done = done;
    dial->arg = arg;
    if (NULL == dial->resolver) {
        begin_connecting(dial);
    }
}

bool oc_dial_is_resolving(const oc_dial_t *dial)
{
    return NULL != dial->resolver;
}

void oc_dial_tick(oc_dial_t *dial)
{
    if (NULL == dial->resolver && dial->watch.fd >= 0 && dial->candidate < dial->num_candidates
        && oc_clock_ns() > dial->attempt_deadline) {
        try_next(dial, ETIMEDOUT);
    }
}

void oc_dial_close(oc_dial_t *dial)
{
    stop_resolving(dial);
    stop_connecting(dial);
    free(dial->candidates);
    dial->candidates = NULL;
    dial->num_candidates = 0;
}
