/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel counts what a datagram takes in its memory. It gives twice of what it is asked for,
 * because a datagram has structures beside its bytes, and drivers of network devices, the loopback
 * among them, take a power of two for both. Datagrams that the kernel has put together take less;
 * but it cannot be relied on that it does. And what was read counts for a while: up to a quarter of
 * all.
 */
#include "multicast/transport/udp_staging.h"

#include <stdbool.h>
#include <sys/socket.h>

#include "base/descriptors.h"
#include "base/log.h"

/* Headers of all layers and the kernel's own end of the data, and what is not beside the data. */
#define BESIDE 512u
#define APART  256u

static size_t cost_of(size_t datagram_size)
{
    size_t cost = BESIDE;

    while (cost < datagram_size + BESIDE) {
        cost *= 2;
    }
    return cost + APART;
}

static bool staging_ask(int fd, int option, size_t bytes)
{
    int value = (int) bytes;

    return 0 == setsockopt(fd, SOL_SOCKET, option, &value, sizeof(value));
}

/* Returns the bytes that the kernel has for the socket. */
static size_t set_buffer(int fd, size_t bytes)
{
    int given = 0;
    socklen_t length = sizeof(given);

    if (!staging_ask(fd, SO_RCVBUFFORCE, bytes)) {
        (void) staging_ask(fd, SO_RCVBUF, bytes);
    }
    (void) getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &given, &length);
    return (size_t) given;
}

static uint32_t staging_count(size_t given, size_t datagram_size)
{
    return (uint32_t) ((given - given / 4) / cost_of(datagram_size));
}

uint32_t oc_udp_staging_set(int fd, size_t bytes, size_t datagram_size)
{
    size_t given = set_buffer(fd, bytes);

    if (given / 2 < bytes - bytes / 8) {
        oc_info("the kernel has %zu bytes for multicast datagrams that have arrived, not %zu: "
                "fewer are sent at a time, which is slower; raise net.core.rmem_max", given / 2,
                bytes);
    }
    return staging_count(given, datagram_size);
}

uint32_t oc_udp_staging_expect(size_t bytes, size_t datagram_size)
{
    int fd = oc_fd_make(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    uint32_t count = fd >= 0 ? staging_count(set_buffer(fd, bytes), datagram_size) : 0;

    if (fd >= 0) {
        oc_fd_close(fd);
    }
    return count;
}
