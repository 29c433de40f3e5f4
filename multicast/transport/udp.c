/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens, joins and closes the sockets; udp_send.c and udp_receive.c use them.
 *
 * There are two, and an epoll descriptor to sleep on both. One socket could do it all, but its own
 * datagrams come back to it (other ranks on this host need them), and reading them doubles what
 * sending costs. With a port of its own to send from, a filter in the kernel drops them. All
 * transports of a process send from one.
 */
#include "multicast/transport/piece.h"
#include "multicast/transport/udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/descriptors.h"
#include "base/log.h"
#include "multicast/transport/udp_receive.h"
#include "multicast/transport/udp_send.h"
#include "multicast/transport/udp_source.h"
#include "multicast/transport/udp_staging.h"

#define HEADERS 28u   /* bytes of IP and UDP */
#define LARGEST 8972u /* with jumbo frames; more than that only the loopback has */

typedef struct {
    oc_transport_t base;
    oc_udp_sender_t sender;
    oc_udp_source_t own;         /* open if no other was given */
    oc_udp_receiver_t *receiver; /* NULL: not yet */
    int receive_fd;              /* as all descriptors -1 if it is not open yet */
    bool woken_by_room;          /* in the socket to send */
} oc_udp_t;

static unsigned udp_send(oc_transport_t *transport, const oc_outgoing_t *datagrams, unsigned count)
{
    return oc_udp_send(&((oc_udp_t *) transport)->sender, datagrams, count);
}

static unsigned udp_receive(oc_transport_t *transport, unsigned max, oc_arrival_fn_t *arrived,
                            void *arg)
{
    return oc_udp_receive(((oc_udp_t *) transport)->receiver, max, arrived, arg);
}

static bool udp_watch(const oc_udp_t *udp, int operation, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events};

    return 0 == epoll_ctl(udp->base.event_fd, operation, fd, &event);
}

static bool udp_arm(oc_transport_t *transport, bool sending)
{
    oc_udp_t *udp = (oc_udp_t *) transport;
    bool room = sending && !oc_udp_holds_back(&udp->sender);

    if (room != udp->woken_by_room) {
        (void) udp_watch(udp, EPOLL_CTL_MOD, udp->sender.fd, room ? EPOLLOUT : 0);
        udp->woken_by_room = room;
    }
    return !oc_udp_has_more(udp->receiver);
}

static void udp_close(oc_transport_t *transport)
{
    oc_udp_t *udp = (oc_udp_t *) transport;
    const int fds[] = {transport->event_fd, udp->receive_fd};

    if (NULL != udp->receiver) {
        oc_udp_receiver_free(udp->receiver);
    }
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (fds[i] >= 0) {
            oc_fd_close(fds[i]);
        }
    }
    oc_udp_source_close(&udp->own);
    free(udp);
}

static const oc_transport_ops_t udp_ops = {
    .name = "udp",
    .send = udp_send,
    .receive = udp_receive,
    .arm = udp_arm,
    .close = udp_close,
};

static bool udp_set_option(int fd, int level, int option, int value)
{
    return 0 == setsockopt(fd, level, option, &value, sizeof(value));
}

static struct ip_mreqn membership_of(const oc_udp_config_t *config)
{
    return (struct ip_mreqn) {.imr_multiaddr = config->group,
                              .imr_address = config->interface->address,
                              .imr_ifindex = (int) config->interface->index};
}

/*
 * Filters see a datagram from its UDP header on, which begins with the port it came from. A kernel
 * without filters hands out own datagrams, as it may.
 */
static void drop_own(int fd, const oc_origin_t *own, struct in_addr from)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own->port, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t) SKF_NET_OFF + 12), /* source address */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(from.s_addr), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    (void) setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

/* The socket that datagrams arrive at, but those from origin. Returns what failed, or NULL. */
static const char *open_receiving(oc_udp_t *udp, const oc_udp_config_t *config,
                                  const oc_origin_t *origin)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr = config->group,
                              .sin_port = htons(config->port)};
    struct ip_mreqn membership = membership_of(config);
    int fd = oc_fd_make(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

    udp->receive_fd = fd;
    if (fd < 0) {
        return "socket";
    }
    drop_own(fd, origin, config->interface->address);
    udp->base.staging = oc_udp_staging_set(fd, config->staging, udp->base.datagram_size);
    /* bound to the group's address: other traffic to the port stays away */
    if (!udp_set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1)
        || 0 != bind(fd, (struct sockaddr *) &own, sizeof(own))) {
        return "bind";
    }
    /* only what comes through this interface, whatever others on this host have joined */
    if (!udp_set_option(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0)) {
        return "IP_MULTICAST_ALL";
    }
    if (0 != setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof(membership))) {
        return "join";
    }
    errno = ENOMEM;
    return OC_OK == oc_udp_receiver_new(fd, udp->base.datagram_size, config->plain, &udp->receiver)
               ? NULL
               : "memory";
}

static void prepare_sending(oc_udp_t *udp, const oc_udp_config_t *config, int fd)
{
    udp->sender = (oc_udp_sender_t) {
        .fd = fd, .rate = config->rate,
        .to = {.sin_family = AF_INET, .sin_addr = config->group, .sin_port = htons(config->port)}};
    oc_udp_sender_init(&udp->sender, config->plain);
}

static const char *open_all(oc_udp_t *udp, const oc_udp_config_t *config,
                            const oc_udp_source_t *source)
{
    const char *failed;

    prepare_sending(udp, config, source->fd);
    failed = open_receiving(udp, config, &source->origin);
    if (NULL == failed) {
        udp->base.event_fd = oc_fd_make(epoll_create1(EPOLL_CLOEXEC));
        if (udp->base.event_fd < 0 || !udp_watch(udp, EPOLL_CTL_ADD, udp->receive_fd, EPOLLIN)
            || !udp_watch(udp, EPOLL_CTL_ADD, udp->sender.fd, 0)) {
            failed = "epoll";
        }
    }
    return failed;
}

size_t oc_udp_datagram_size(const oc_interface_t *interface)
{
    if (interface->mtu < OC_DATAGRAM_MIN + HEADERS) {
        return 0;
    }
    return interface->mtu > LARGEST + HEADERS ? LARGEST : interface->mtu - HEADERS;
}

static oc_udp_t *new_udp(const oc_interface_t *interface)
{
    oc_udp_t *udp = calloc(1, sizeof(*udp));

    if (NULL != udp) {
        udp->base = (oc_transport_t) {.ops = &udp_ops, .event_fd = -1, .events = POLLIN,
                                      .datagram_size = oc_udp_datagram_size(interface),
                                      .piece = oc_interface_piece(interface)};
        udp->own.fd = -1;
        udp->receive_fd = -1;
    }
    return udp;
}

static void udp_explain(const oc_udp_config_t *config, const char *failed, int cause, char *error,
                        size_t error_size)
{
    char group[INET_ADDRSTRLEN];

    inet_ntop(AF_INET, &config->group, group, sizeof(group));
    snprintf(error, error_size, "cannot use the multicast address %s, port %u, on %s: %s: %s%s",
             group, config->port, config->interface->name, failed, strerror(cause),
             EADDRINUSE == cause ? "; choose another port" : "");
}

oc_status_t oc_udp_open(const oc_udp_config_t *config, oc_transport_t **transport, char *error,
                        size_t error_size)
{
    const oc_interface_t *interface = config->interface;
    const oc_udp_source_t *source = config->source;
    const char *failed;
    oc_udp_t *udp;

    if (0 == oc_udp_datagram_size(interface)) {
        snprintf(error, error_size, "the MTU of %s is %u: multicast needs at least %u",
                 interface->name, interface->mtu, OC_DATAGRAM_MIN + HEADERS);
        return OC_ERR_INVALID;
    }
    udp = new_udp(interface);
    if (NULL == udp) {
        udp_explain(config, "memory", ENOMEM, error, error_size);
        return OC_ERR_NO_MEMORY;
    }
    if (NULL == source
        && OC_OK != oc_udp_source_open(interface, config->send_buffer, &udp->own, error,
                                       error_size)) {
        udp_close(&udp->base);
        return OC_ERR_SYSTEM;
    }
    failed = open_all(udp, config, NULL != source ? source : &udp->own);
    if (NULL != failed) {
        udp_explain(config, failed, errno, error, error_size);
        udp_close(&udp->base);
        return OC_ERR_SYSTEM;
    }
    *transport = &udp->base;
    return OC_OK;
}
