/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the sockets of a flood test, and asks the kernel for memberships. */
#include "multicast/transport/flood_socket.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "multicast/transport/udp.h"

static bool flood_set_option(int fd, int level, int option, int value)
{
    return 0 == setsockopt(fd, level, option, &value, sizeof(value));
}

static int new_socket(void)
{
    return oc_fd_make(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/* fd, if all has gone well; else it is closed. */
static int keep_if(bool good, int fd)
{
    if (good || fd < 0) {
        return fd;
    }
    oc_fd_close(fd);
    return -1;
}

int oc_flood_socket_open(const oc_interface_t *interface)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr = interface->address};
    struct ip_mreqn way = {.imr_address = interface->address,
                           .imr_ifindex = (int) interface->index};
    int fd = new_socket();
    bool good = fd >= 0 && 0 == bind(fd, (struct sockaddr *) &own, sizeof(own))
                && 0 == setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &way, sizeof(way))
                && flood_set_option(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 0)
                && flood_set_option(fd, IPPROTO_IP, IP_MULTICAST_TTL, OC_UDP_TTL);

    return keep_if(good, fd);
}

static bool flood_join(int fd, const oc_interface_t *interface, struct in_addr address)
{
    struct ip_mreqn membership = {.imr_multiaddr = address, .imr_address = interface->address,
                                  .imr_ifindex = (int) interface->index};

    return 0 == setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof(membership));
}

int oc_flood_socket_join(const oc_interface_t *interface, struct in_addr address)
{
    int fd = new_socket();

    return keep_if(fd >= 0 && flood_join(fd, interface, address), fd);
}

int oc_flood_socket_listen(const oc_interface_t *interface, struct in_addr address, uint16_t port)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr = address, .sin_port = htons(port)};
    int fd = new_socket();
    bool good = fd >= 0
                && flood_set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1)
                && flood_set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1)
                && 0 == bind(fd, (struct sockaddr *) &own, sizeof(own))
                && flood_set_option(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0)
                && flood_join(fd, interface, address);

    return keep_if(good, fd);
}

static uint64_t in_ns(const struct timespec *time)
{
    return (uint64_t) time->tv_sec * OC_SECOND + (uint64_t) time->tv_nsec;
}

size_t oc_flood_socket_receive(int fd, void *bytes, size_t size, uint64_t *arrived)
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(struct timespec))];
    } control;
    struct iovec piece = {bytes, size};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t length = recvmsg(fd, &message, MSG_DONTWAIT);
    struct timespec time;

    *arrived = 0;
    if (length <= 0) {
        return 0;
    }
    for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); NULL != one;
         one = CMSG_NXTHDR(&message, one)) {
        if (SOL_SOCKET == one->cmsg_level && SCM_TIMESTAMPNS == one->cmsg_type) {
            memcpy(&time, CMSG_DATA(one), sizeof(time));
            *arrived = in_ns(&time);
        }
    }
    return (size_t) length;
}

uint64_t oc_flood_socket_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return in_ns(&now);
}

/*
 * A line for each interface, with its number first, and below it one for each address, which stands
 * in hexadecimal digits as it lies in memory.
 */
bool oc_flood_has_joined(const oc_interface_t *interface, struct in_addr address)
{
    FILE *list = fopen("/proc/self/net/igmp", "re");
    unsigned number, current = 0, group;
    bool found = false;
    char line[256];

    if (NULL == list) {
        return false;
    }
    while (!found && NULL != fgets(line, sizeof(line), list)) {
        if ('\t' != line[0] && 1 == sscanf(line, "%u", &number)) {
            current = number;
        } else if (current == interface->index && 1 == sscanf(line, " %8x", &group)) {
            found = group == address.s_addr;
        }
    }
    fclose(list);
    return found;
}
