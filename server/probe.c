/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection to the parent, which says nothing and is closed. */
#include "server/probe.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "net/socket.h"

static void warn(const oc_probe_t *probe, const char *reason)
{
    oc_warn("the parent server %s cannot be reached: %s; jobs are turned away until it can be",
            probe->parent, reason);
}

void oc_probe_end(oc_probe_t *probe)
{
    if (probe->watch.fd >= 0) {
        oc_loop_remove(probe->loop, &probe->watch);
        close(probe->watch.fd);
        probe->watch.fd = -1;
    }
}

static void on_connected(oc_watch_t *watch, uint32_t events)
{
    oc_probe_t *probe = (oc_probe_t *) watch;
    socklen_t length = sizeof(int);
    int error = 0;

    (void) events;
    (void) getsockopt(watch->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (0 != error) {
        warn(probe, strerror(error));
    }
    oc_probe_end(probe);
}

void oc_probe_begin(oc_probe_t *probe, oc_loop_t *loop, const char *parent)
{
    oc_host_port_t name;
    oc_sockaddr_t address;
    char error[320];

    *probe = (oc_probe_t) {.watch = {.fd = -1, .ready = on_connected}, .loop = loop,
                           .parent = parent};
    if (OC_OK != oc_host_port_parse(parent, &name, error, sizeof(error))
        || OC_OK != oc_resolve(&name, &address, error, sizeof(error))) {
        warn(probe, error);
        return;
    }
    probe->watch.fd = oc_connect_start(&address);
    if (probe->watch.fd < 0) {
        warn(probe, strerror(errno));
    } else if (OC_OK != oc_loop_add(loop, &probe->watch, EPOLLOUT)) {
        close(probe->watch.fd);
        probe->watch.fd = -1;
    }
}
