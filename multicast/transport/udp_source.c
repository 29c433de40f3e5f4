/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens the socket to send from. It is bound to the interface's address, which is what others are
 * told; nothing is ever read from it.
 */
#include "multicast/transport/udp_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "multicast/transport/udp.h"

oc_origin_t oc_udp_origin(const struct sockaddr_in *address)
{
    oc_origin_t origin = {.address = {[10] = 0xff, [11] = 0xff}, .port = ntohs(address->sin_port)};

    memcpy(origin.address + 12, &address->sin_addr, 4);
    return origin;
}

static bool udp_source_set_option(int fd, int level, int option, int value)
{
    return 0 == setsockopt(fd, level, option, &value, sizeof(value));
}

/* Returns what failed, or NULL. */
static const char *bind_source(oc_udp_source_t *source, const oc_interface_t *interface)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr = interface->address};
    struct ip_mreqn way = {.imr_address = interface->address,
                           .imr_ifindex = (int) interface->index};
    socklen_t length = sizeof(own);

    if (source->fd < 0) {
        return "socket";
    }
    if (0 != bind(source->fd, (struct sockaddr *) &own, sizeof(own))
        || 0 != getsockname(source->fd, (struct sockaddr *) &own, &length)) {
        return "bind";
    }
    source->origin = oc_udp_origin(&own);
    if (0 != setsockopt(source->fd, IPPROTO_IP, IP_MULTICAST_IF, &way, sizeof(way))) {
        return "IP_MULTICAST_IF";
    }
    /* other ranks on this host get it too */
    if (!udp_source_set_option(source->fd, IPPROTO_IP, IP_MULTICAST_LOOP, 1)
        || !udp_source_set_option(source->fd, IPPROTO_IP, IP_MULTICAST_TTL, OC_UDP_TTL)) {
        return "IP_MULTICAST_TTL";
    }
    /* never fragments; the interface's MTU counts, which is what datagram_size is made from */
    if (!udp_source_set_option(source->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)) {
        return "IP_MTU_DISCOVER";
    }
    source->reach = OC_UDP_TTL;
    return NULL;
}

oc_status_t oc_udp_source_open(const oc_interface_t *interface, size_t send_buffer,
                               oc_udp_source_t *source, char *error, size_t error_size)
{
    const char *failed;

    source->fd = oc_fd_make(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    failed = bind_source(source, interface);
    if (NULL != failed) {
        snprintf(error, error_size, "cannot send from %s: %s: %s", interface->name, failed,
                 strerror(errno));
        oc_udp_source_close(source);
        return OC_ERR_SYSTEM;
    }
    (void) udp_source_set_option(source->fd, SOL_SOCKET, SO_SNDBUF, (int) send_buffer);
    /* nobody reads what strangers send to this port */
    (void) udp_source_set_option(source->fd, SOL_SOCKET, SO_RCVBUF, 0);
    return OC_OK;
}

void oc_udp_source_confine(oc_udp_source_t *source, bool confined)
{
    int reach = confined ? 0 : OC_UDP_TTL;

    if (reach != source->reach
        && udp_source_set_option(source->fd, IPPROTO_IP, IP_MULTICAST_TTL, reach)) {
        source->reach = reach;
    }
}

void oc_udp_source_close(oc_udp_source_t *source)
{
    if (source->fd >= 0) {
        oc_fd_close(source->fd);
    }
    source->fd = -1;
}
