/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams leave as one large send that the kernel, or the device, cuts up (UDP_SEGMENT), because
 * one pass through the network stack is what a datagram costs; or one by one in one call. Larger
 * sends save little more, are a burst for those behind, and are cut up early, at the cost of many,
 * where a queue lets only smaller ones pass.
 *
 * The rate is kept by a debt: each datagram takes its time, and is sent if the time of those before
 * has passed. Time that was not used is kept for CREDIT, else a sender that sleeps would never
 * reach its rate.
 */
#include "multicast/transport/udp_send.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/log.h"

/* older than its name in the C library's headers */
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

#define HEADERS      28     /* bytes of IP and UDP */
#define MAX_SEGMENTS 64     /* of a large send, in all kernels */
#define MAX_LARGE    16384u /* bytes of one, or one datagram: see above */
#define CREDIT       (2 * OC_SEND_RETRY)

void oc_udp_sender_init(oc_udp_sender_t *sender, bool plain)
{
    int size = 0;
    socklen_t length = sizeof(size);

    sender->segments = !plain
                       && 0 == getsockopt(sender->fd, IPPROTO_UDP, UDP_SEGMENT, &size, &length);
    sender->complained = false;
    sender->paid_until = 0;
    sender->wait_until = 0;
}

static size_t udp_send_size_of(const oc_outgoing_t *datagram)
{
    return OC_DATAGRAM_HEADER + datagram->length;
}

static void lost(oc_udp_sender_t *sender, unsigned count)
{
    if (!sender->complained) {
        sender->complained = true;
        oc_info("%u multicast datagrams could not be sent: %s", count, strerror(errno));
    }
}

/* Whether errno says that it will work later; memory comes back without a sign of it. */
static bool no_room(oc_udp_sender_t *sender)
{
    if (ENOBUFS == errno || ENOMEM == errno) {
        sender->wait_until = oc_clock_ns() + OC_SEND_RETRY;
        return true;
    }
    return EAGAIN == errno || EWOULDBLOCK == errno;
}

static void gather(const oc_outgoing_t *datagrams, unsigned count, struct iovec *pieces)
{
    for (unsigned i = 0; i < count; i++) {
        pieces[2 * i] = (struct iovec) {(void *) datagrams[i].header, OC_DATAGRAM_HEADER};
        pieces[2 * i + 1] = (struct iovec) {(void *) datagrams[i].payload, datagrams[i].length};
    }
}

/* How many, from the first, fit in one large send: all of one size, but for a smaller last one. */
static unsigned run_length(const oc_outgoing_t *datagrams, unsigned count)
{
    size_t total = udp_send_size_of(&datagrams[0]);
    unsigned n = 1;

    while (n < count && n < MAX_SEGMENTS && datagrams[n].length <= datagrams[0].length
           && total + udp_send_size_of(&datagrams[n]) <= MAX_LARGE
           && datagrams[n - 1].length == datagrams[0].length) {
        total += udp_send_size_of(&datagrams[n++]);
    }
    return n;
}

static ssize_t send_run(oc_udp_sender_t *sender, const oc_outgoing_t *datagrams, unsigned count)
{
    union {
        char bytes[CMSG_SPACE(sizeof(uint16_t))];
        struct cmsghdr align;
    } control = {.bytes = {0}};
    struct iovec pieces[2 * MAX_SEGMENTS];
    struct msghdr message = {.msg_name = &sender->to, .msg_namelen = sizeof(sender->to),
                             .msg_iov = pieces, .msg_iovlen = 2 * count};
    uint16_t size = (uint16_t) udp_send_size_of(&datagrams[0]);

    gather(datagrams, count, pieces);
    if (count > 1) {
        struct cmsghdr *option;

        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        option = CMSG_FIRSTHDR(&message);
        option->cmsg_level = IPPROTO_UDP;
        option->cmsg_type = UDP_SEGMENT;
        option->cmsg_len = CMSG_LEN(sizeof(size));
        memcpy(CMSG_DATA(option), &size, sizeof(size));
    }
    return sendmsg(sender->fd, &message, MSG_NOSIGNAL);
}

/* The device, or the path to it, cannot do it, or its MTU is not what it was. */
static bool cannot_segment(void)
{
    return EINVAL == errno || EIO == errno || EMSGSIZE == errno || EOPNOTSUPP == errno;
}

/* Returns how many were taken; fewer than count: no room, or no segmentation any more. */
static unsigned send_large(oc_udp_sender_t *sender, const oc_outgoing_t *datagrams, unsigned count)
{
    unsigned done = 0;

    while (done < count) {
        unsigned run = run_length(datagrams + done, count - done);

        if (send_run(sender, datagrams + done, run) < 0) {
            if (EINTR == errno) {
                continue;
            }
            if (no_room(sender)) {
                break;
            }
            if (run > 1 && cannot_segment()) {
                oc_debug("the kernel does not segment multicast datagrams here: %s",
                         strerror(errno));
                sender->segments = false;
                break;
            }
            lost(sender, run);
        }
        done += run;
    }
    return done;
}

static unsigned send_each(oc_udp_sender_t *sender, const oc_outgoing_t *datagrams, unsigned count)
{
    struct iovec pieces[2 * OC_MAX_BATCH];
    struct mmsghdr messages[OC_MAX_BATCH];
    unsigned done = 0;

    gather(datagrams, count, pieces);
    memset(messages, 0, count * sizeof(messages[0]));
    for (unsigned i = 0; i < count; i++) {
        messages[i].msg_hdr = (struct msghdr) {
            .msg_name = &sender->to, .msg_namelen = sizeof(sender->to),
            .msg_iov = &pieces[2 * i], .msg_iovlen = 2};
    }
    while (done < count) {
        int n = sendmmsg(sender->fd, messages + done, count - done, MSG_NOSIGNAL);

        if (n > 0) {
            done += (unsigned) n;
        } else if (no_room(sender)) {
            break;
        } else if (EINTR != errno) {
            lost(sender, 1);
            done++;
        }
    }
    return done;
}

/* ns that a datagram takes at the rate. */
static uint64_t cost(const oc_udp_sender_t *sender, const oc_outgoing_t *datagram)
{
    return (udp_send_size_of(datagram) + HEADERS) * 8000 / sender->rate;
}

/* How many may be sent now, of count. */
static unsigned allowed(oc_udp_sender_t *sender, const oc_outgoing_t *datagrams, unsigned count)
{
    uint64_t now, paid;
    unsigned n = 0;

    if (0 == sender->rate) {
        return count;
    }
    now = oc_clock_ns();
    if (sender->paid_until + CREDIT < now) {
        sender->paid_until = now - CREDIT;
    }
    for (paid = sender->paid_until; n < count && paid <= now; n++) {
        paid += cost(sender, &datagrams[n]);
    }
    return n;
}

static void pay(oc_udp_sender_t *sender, const oc_outgoing_t *datagrams, unsigned count)
{
    for (unsigned i = 0; i < count && sender->rate > 0; i++) {
        sender->paid_until += cost(sender, &datagrams[i]);
    }
}

unsigned oc_udp_send(oc_udp_sender_t *sender, const oc_outgoing_t *datagrams, unsigned count)
{
    unsigned may = allowed(sender, datagrams, count > OC_MAX_BATCH ? OC_MAX_BATCH : count);
    unsigned done = 0;

    if (sender->segments) {
        done = send_large(sender, datagrams, may);
    }
    if (!sender->segments && done < may) {
        done += send_each(sender, datagrams + done, may - done);
    }
    pay(sender, datagrams, done);
    return done;
}

bool oc_udp_holds_back(const oc_udp_sender_t *sender)
{
    uint64_t until = sender->wait_until > sender->paid_until ? sender->wait_until
                                                             : sender->paid_until;

    return until > 0 && until > oc_clock_ns();
}
