/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A packet socket on one interface. The filter runs in the kernel and is in place before the first
 * packet; what is passed to this program begins with the header of IP.
 */
#include "multicast/transport/watch_packets.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "base/descriptors.h"

#define PROTOCOL_AT    9       /* in the header of IP */
#define FRAGMENT_AT    6
#define DESTINATION_AT 16
#define PORT_AT        2       /* in that of UDP */
#define UDP_HEADER     8

#define FIXED_CODE 12          /* instructions beside those for addresses */
#define PACKET_SIZE 256        /* longer ones are not looked for */
#define MOST_AT_ONCE 256       /* others may send as fast as this can read */

/* A jump from instruction at to one behind it. */
static uint8_t distance(unsigned at, unsigned to)
{
    return (uint8_t) (to - at - 1);
}

/* Addresses are compared one by one, from instruction 2 on; the last one decides. */
static unsigned match_addresses(struct sock_filter *code, const oc_watch_filter_t *filter,
                                unsigned refuse)
{
    unsigned at = 2, accept = at + 1 + filter->num_addresses;

    code[at++] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, DESTINATION_AT);
    for (unsigned i = 0; i < filter->num_addresses; i++, at++) {
        bool last = i + 1 == filter->num_addresses;

        code[at] = (struct sock_filter)
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(filter->addresses[i].s_addr),
                     distance(at, accept), last ? distance(at, refuse) : 0);
    }
    return at;
}

static bool attach(int fd, const oc_watch_filter_t *filter)
{
    struct sock_filter code[FIXED_CODE + OC_WATCH_ADDRESSES];
    unsigned length = FIXED_CODE + filter->num_addresses, refuse = length - 1, at;
    struct sock_fprog program = {(unsigned short) length, code};

    code[0] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_B | BPF_ABS, PROTOCOL_AT);
    code[1] = (struct sock_filter)
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, distance(1, refuse));
    at = match_addresses(code, filter, refuse);
    assert(at + 8 == refuse);
    code[at] = (struct sock_filter) BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0);
    code[at + 1] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_H | BPF_IND, PORT_AT);
    code[at + 2] = (struct sock_filter)
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, filter->port, 0, distance(at + 2, refuse));
    code[at + 3] = (struct sock_filter)
        BPF_STMT(BPF_LD | BPF_B | BPF_IND, UDP_HEADER + filter->byte_at);
    code[at + 4] = (struct sock_filter)
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, filter->below, distance(at + 4, refuse), 0);
    code[at + 5] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_H | BPF_ABS, FRAGMENT_AT);
    code[at + 6] = (struct sock_filter)
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x1fff, distance(at + 6, refuse), 0);
    code[at + 7] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, PACKET_SIZE);
    code[refuse] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, 0);
    return 0 == setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

/* Cards drop what nobody wants. This makes them pass it without a word to the network. */
static bool pass(int fd, unsigned interface, struct in_addr address)
{
    uint32_t group = ntohl(address.s_addr) & 0x7fffff;
    struct packet_mreq wanted = {
        .mr_ifindex = (int) interface, .mr_type = PACKET_MR_MULTICAST, .mr_alen = ETH_ALEN,
        .mr_address = {0x01, 0x00, 0x5e, (uint8_t) (group >> 16), (uint8_t) (group >> 8),
                       (uint8_t) group}};

    return 0 == setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &wanted, sizeof(wanted));
}

static bool prepare(int fd, const oc_interface_t *interface, const oc_watch_filter_t *filter)
{
    struct sockaddr_ll own = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP),
                              .sll_ifindex = (int) interface->index};

    if (!attach(fd, filter) || 0 != bind(fd, (struct sockaddr *) &own, sizeof(own))) {
        return false;
    }
    for (unsigned i = 0; i < filter->num_addresses; i++) {
        if (!pass(fd, interface->index, filter->addresses[i])) {
            return false;
        }
    }
    return true;
}

int oc_watch_packets_open(const oc_interface_t *interface, const oc_watch_filter_t *filter)
{
    int fd = oc_fd_make(socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

    if (fd >= 0 && !prepare(fd, interface, filter)) {
        oc_fd_close(fd);
        return -1;
    }
    return fd;
}

void oc_watch_packets_read(int fd, oc_watched_fn_t *watched, void *arg)
{
    uint8_t packet[PACKET_SIZE] = {0};

    for (unsigned i = 0; i < MOST_AT_ONCE; i++) {
        ssize_t length = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);
        size_t headers = (size_t) (packet[0] & 0xf) * 4 + UDP_HEADER;

        if (length <= 0) {
            return;
        }
        if ((size_t) length > headers) {
            watched(arg, packet + headers, (size_t) length - headers);
        }
    }
}
