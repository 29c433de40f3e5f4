/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection to the parent, which says nothing and is closed. */
#include "server/job/probe.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/descriptors.h"
#include "base/log.h"
#include "net/socket.h"

static void warn(const char *parent, const char *reason)
{
    oc_warn("the parent server %s cannot be reached: %s; jobs are turned away until it can be",
            parent, reason);
}

/* 0, or why it could not be done. */
static int try_address(const oc_sockaddr_t *address)
{
    struct pollfd event = {.fd = oc_connect_start(address), .events = POLLOUT};
    socklen_t length = sizeof(int);
    int error = errno;

    if (event.fd < 0) {
        return error;
    }
    while (poll(&event, 1, -1) < 0 && EINTR == errno) {
        continue;
    }
    (void) getsockopt(event.fd, SOL_SOCKET, SO_ERROR, &error, &length);
    oc_fd_close(event.fd);
    return error;
}

void oc_probe_run(const char *parent)
{
    oc_host_port_t name;
    oc_sockaddr_t address;
    char sentence[320];
    uint64_t begin = oc_clock_ns(), seconds;
    int error;

    if (OC_OK != oc_host_port_parse(parent, &name, sentence, sizeof(sentence))
        || OC_OK != oc_resolve(&name, &address, sentence, sizeof(sentence))) {
        warn(parent, sentence);
        return;
    }
    seconds = (oc_clock_ns() - begin) / OC_SECOND;
    if (seconds >= OC_NAME_PATIENCE / OC_SECOND) {
        oc_warn("the name of the parent server %s was looked up only after %llu seconds, and a job "
                "waits %llu: jobs are turned away; name it by its address, or put the name into "
                "/etc/hosts", parent, (unsigned long long) seconds, OC_NAME_PATIENCE / OC_SECOND);
    }
    error = try_address(&address);
    if (0 != error) {
        warn(parent, strerror(error));
    }
}
