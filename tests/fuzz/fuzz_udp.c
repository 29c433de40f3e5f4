/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: whatever the kernel may hand out as messages of datagrams, of any length and cut in any
 * way. Each datagram is handed out once, in order, with its sender, and none that is too long or cut off.
 */
/* Test: default 5; all 60 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include "multicast/transport/udp_receive.h"
#include "multicast/transport/udp_source.h"
#include "tests/fuzz/input.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define DATAGRAM_SIZE 64u
#define MAX_MESSAGES  64
#define NO_SEGMENTS   INT32_MIN

typedef struct {
    size_t length, segment;      /* of each datagram but the last */
    int told;                    /* what the kernel says that is; NO_SEGMENTS: nothing */
    bool cut;                    /* MSG_TRUNC */
    uint16_t port;
} message_t;

static input_t input;
static message_t messages[MAX_MESSAGES];
static unsigned num_messages;
static bool plain;

/* What is expected next. */
static unsigned next;
static size_t offset;

/* What all messages consist of, as far as they are long. */
static uint8_t pattern[UINT16_MAX];

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t length);
int __wrap_recvmmsg(int fd, struct mmsghdr *to, unsigned count, int flags, struct timespec *timeout);

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    (void) fd, (void) value, (void) length;
    check(IPPROTO_UDP == level && UDP_GRO == option && !plain);
    return 0;
}

static void tell(struct msghdr *header, int size)
{
    struct cmsghdr *option;

    header->msg_controllen = 0;
    if (NO_SEGMENTS != size) {
        header->msg_controllen = CMSG_SPACE(sizeof(size));
        option = CMSG_FIRSTHDR(header);
        option->cmsg_level = IPPROTO_UDP;
        option->cmsg_type = UDP_GRO;
        option->cmsg_len = CMSG_LEN(sizeof(size));
        memcpy(CMSG_DATA(option), &size, sizeof(size));
    }
}

static void deliver(struct mmsghdr *to, message_t *message)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    uint64_t how = input_number(&input, 1);
    size_t room = to->msg_hdr.msg_iov->iov_len, length = input_number(&input, how & 4 ? 2 : 1);

    *message = (message_t) {.told = how & 1 ? (int) input_number(&input, how & 2 ? 4 : 1)
                                            : NO_SEGMENTS,
                            .cut = length > room, .port = (uint16_t) input_number(&input, 1)};
    message->length = message->cut ? room : length;
    message->segment = message->told > 0 ? (size_t) message->told : message->length;
    memcpy(to->msg_hdr.msg_iov->iov_base, pattern, message->length);
    name.sin_port = htons(message->port);
    memcpy(to->msg_hdr.msg_name, &name, sizeof(name));
    tell(&to->msg_hdr, message->told);
    to->msg_hdr.msg_flags = message->cut ? MSG_TRUNC : 0;
    to->msg_len = (unsigned) message->length;
}

/* Whether the rest of a message is dropped: its next datagram is none that may be handed out. */
static bool is_dropped(const message_t *message)
{
    size_t rest = message->length - offset;

    return message->cut
           || (message->segment < rest ? message->segment : rest) > DATAGRAM_SIZE;
}

static void skip_dropped(void)
{
    while (next < num_messages && is_dropped(&messages[next])) {
        next++;
        offset = 0;
    }
}

int __wrap_recvmmsg(int fd, struct mmsghdr *to, unsigned count, int flags, struct timespec *timeout)
{
    (void) fd, (void) timeout;
    skip_dropped();
    check(0 != (flags & MSG_DONTWAIT) && count <= MAX_MESSAGES && next == num_messages);
    num_messages = next = 0;
    offset = 0;
    while (num_messages < count && input.at < input.end) {
        deliver(&to[num_messages], &messages[num_messages]);
        num_messages++;
    }
    errno = EAGAIN;
    return num_messages > 0 ? (int) num_messages : -1;
}

static void arrived(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length)
{
    message_t *message;
    size_t expected;

    skip_dropped();
    check(next < num_messages && NULL == arg);
    message = &messages[next];
    expected = message->length - offset;
    expected = message->segment < expected ? message->segment : expected;
    check(length == expected && from->port == message->port
          && 0 == memcmp(bytes, pattern + offset, length));
    offset += length;
    if (offset >= message->length) {
        next++;
        offset = 0;
    }
}

/* No two pieces of it are alike. */
static void make_pattern(void)
{
    static bool made;

    for (size_t i = 0; !made && i + 1 < sizeof(pattern); i += 2) {
        pattern[i] = (uint8_t) (i / 2);
        pattern[i + 1] = (uint8_t) (i >> 9);
    }
    made = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static oc_udp_receiver_t *receivers[2]; /* each is empty again in the end */
    oc_udp_receiver_t *receiver;
    unsigned max;

    input = (input_t) {data, data + size};
    make_pattern();
    plain = input_number(&input, 1) & 1;
    num_messages = next = 0;
    offset = 0;
    check(NULL != receivers[plain]
          || OC_OK == oc_udp_receiver_new(-1, DATAGRAM_SIZE, plain, &receivers[plain]));
    receiver = receivers[plain];
    do {
        max = (unsigned) input_number(&input, 1);
        check(oc_udp_receive(receiver, max, arrived, NULL) <= max);
        if (!oc_udp_has_more(receiver)) {
            skip_dropped();
            check(next == num_messages);
        }
    } while (input.at < input.end);
    while (oc_udp_has_more(receiver)) {
        (void) oc_udp_receive(receiver, 1, arrived, NULL);
    }
    skip_dropped();
    check(next == num_messages);
    return 0;
}
