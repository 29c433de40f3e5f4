/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket calls and options. */
#include "net/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#include "base/descriptors.h"

/*
 * All processes of a job may come at once, and a SYN that finds no room is sent again only a second
 * later. The system takes less if its own limit is lower.
 */
#define LISTEN_BACKLOG 16384

/*
 * A host that vanished is noticed after IDLE + COUNT * INTERVAL seconds. The others of its job wait
 * that long; a link that comes back sooner is no error. A process that is stopped or computes
 * does not matter here: its kernel answers.
 */
#define KEEPALIVE_IDLE     5
#define KEEPALIVE_INTERVAL 2
#define KEEPALIVE_COUNT    3

static void socket_set_option(int fd, int level, int option, int value)
{
    (void) setsockopt(fd, level, option, &value, sizeof(value));
}

int oc_listen(oc_sockaddr_t *address, char *error, size_t error_size)
{
    struct sockaddr *any = (struct sockaddr *) &address->address;
    char text[128];
    int fd = oc_fd_make(socket(any->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

    oc_sockaddr_text(address, text, sizeof(text));
    if (fd < 0) {
        snprintf(error, error_size, "cannot make a socket: %s", strerror(errno));
        return -1;
    }
    socket_set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (AF_INET6 == any->sa_family) {
        socket_set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    }
    if (0 != bind(fd, any, address->length) || 0 != listen(fd, LISTEN_BACKLOG)
        || 0 != getsockname(fd, any, &address->length)) {
        snprintf(error, error_size, "cannot listen on %s: %s", text, strerror(errno));
        oc_fd_close(fd);
        return -1;
    }
    return fd;
}

void oc_socket_prepare(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    socket_set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    socket_set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    socket_set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE);
    socket_set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL);
    socket_set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT);
    /* keepalive pauses while data waits to be acknowledged */
    socket_set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT,
                      1000 * (KEEPALIVE_IDLE + KEEPALIVE_INTERVAL * KEEPALIVE_COUNT));
}

int oc_connect_start(const oc_sockaddr_t *address)
{
    const struct sockaddr *any = (const struct sockaddr *) &address->address;
    int fd = oc_fd_make(socket(any->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

    if (fd < 0) {
        return -1;
    }
    oc_socket_prepare(fd);
    if (0 == connect(fd, any, address->length) || EINPROGRESS == errno) {
        return fd;
    }
    oc_fd_close(fd);
    return -1;
}
