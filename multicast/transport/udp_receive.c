/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads several messages in one call. With UDP_GRO the kernel hands out many datagrams of one
 * sender, from one port, as one large message; it says how long each of them is, but for the last.
 * There is room for several of the largest, of which only what has been used takes memory.
 */
#include "multicast/transport/udp_receive.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "multicast/transport/udp_source.h"

/* older than its name in the C library's headers */
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define LARGE_MESSAGE 65536u /* bytes: all that IP carries */
#define MANY_LARGE    16
#define MANY_SMALL    64

typedef union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
} control_t;

struct oc_udp_receiver {
    int fd;
    size_t datagram_size;
    unsigned num_messages;     /* that one call reads at most */
    size_t message_size;
    unsigned read, next;       /* messages that were read, and the one that is handed out */
    size_t offset;             /* in that */
    uint8_t *staging;
    struct iovec pieces[MANY_SMALL];
    control_t controls[MANY_SMALL];
    struct sockaddr_in names[MANY_SMALL];
    oc_origin_t from;          /* of the message that is handed out, from its first datagram on */
    struct mmsghdr messages[MANY_SMALL];
};

oc_status_t oc_udp_receiver_new(int fd, size_t datagram_size, bool plain,
                                oc_udp_receiver_t **result)
{
    oc_udp_receiver_t *receiver = calloc(1, sizeof(*receiver));
    bool large;
    int one = 1;

    if (NULL == receiver) {
        return OC_ERR_NO_MEMORY;
    }
    large = !plain && 0 == setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one));
    receiver->fd = fd;
    receiver->datagram_size = datagram_size;
    receiver->num_messages = large ? MANY_LARGE : MANY_SMALL;
    receiver->message_size = large ? LARGE_MESSAGE : datagram_size;
    receiver->staging = malloc(receiver->num_messages * receiver->message_size);
    if (NULL == receiver->staging) {
        free(receiver);
        return OC_ERR_NO_MEMORY;
    }
    *result = receiver;
    return OC_OK;
}

void oc_udp_receiver_free(oc_udp_receiver_t *receiver)
{
    free(receiver->staging);
    free(receiver);
}

/* What goes wrong has no datagram, and is over when it has been told. */
static void refill(oc_udp_receiver_t *receiver)
{
    int n;

    for (unsigned i = 0; i < receiver->num_messages; i++) {
        receiver->pieces[i] = (struct iovec) {receiver->staging + i * receiver->message_size,
                                              receiver->message_size};
        receiver->messages[i].msg_hdr = (struct msghdr) {
            .msg_name = &receiver->names[i], .msg_namelen = sizeof(receiver->names[i]),
            .msg_iov = &receiver->pieces[i], .msg_iovlen = 1,
            .msg_control = receiver->controls[i].bytes,
            .msg_controllen = sizeof(receiver->controls[i].bytes)};
    }
    n = recvmmsg(receiver->fd, receiver->messages, receiver->num_messages, MSG_DONTWAIT, NULL);
    receiver->read = n > 0 ? (unsigned) n : 0;
    receiver->next = 0;
    receiver->offset = 0;
}

/* Of each datagram in a message but the last. */
static size_t segment_size(struct mmsghdr *message)
{
    struct cmsghdr *option;
    int size;

    for (option = CMSG_FIRSTHDR(&message->msg_hdr); NULL != option;
         option = CMSG_NXTHDR(&message->msg_hdr, option)) {
        if (IPPROTO_UDP == option->cmsg_level && UDP_GRO == option->cmsg_type) {
            memcpy(&size, CMSG_DATA(option), sizeof(size));
            return size > 0 ? (size_t) size : message->msg_len;
        }
    }
    return message->msg_len;
}

bool oc_udp_has_more(const oc_udp_receiver_t *receiver)
{
    return receiver->next < receiver->read;
}

/* Hands out one datagram of the message at hand. Returns whether there was one to hand out. */
static bool udp_receive_hand_out(oc_udp_receiver_t *receiver, oc_arrival_fn_t *arrived, void *arg)
{
    struct mmsghdr *message = &receiver->messages[receiver->next];
    const uint8_t *bytes = receiver->staging + receiver->next * receiver->message_size
                           + receiver->offset;
    size_t length = segment_size(message), rest = message->msg_len - receiver->offset;
    bool fits;

    if (0 == receiver->offset) {
        receiver->from = oc_udp_origin(&receiver->names[receiver->next]);
    }
    length = length < rest ? length : rest;
    fits = 0 == (message->msg_hdr.msg_flags & MSG_TRUNC) && length <= receiver->datagram_size;
    receiver->offset += length;
    if (!fits || receiver->offset >= message->msg_len) {
        receiver->next++;
        receiver->offset = 0;
    }
    if (fits) {
        arrived(arg, &receiver->from, bytes, length);
    }
    return fits;
}

unsigned oc_udp_receive(oc_udp_receiver_t *receiver, unsigned max, oc_arrival_fn_t *arrived,
                        void *arg)
{
    unsigned count = 0;

    /* what is dropped counts too, or else a flood of it would keep the caller here */
    for (unsigned seen = 0; seen < max; seen++) {
        if (!oc_udp_has_more(receiver)) {
            refill(receiver);
            if (!oc_udp_has_more(receiver)) {
                break;
            }
        }
        count += udp_receive_hand_out(receiver, arrived, arg);
    }
    return count;
}
