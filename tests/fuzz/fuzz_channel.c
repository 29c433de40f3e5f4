/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: what a data process that somebody has taken over could tell the supervisor: any bytes, with
 * any number of descriptors. A message has the length that it says, and no descriptor stays open unseen.
 */
/* Test: default 5; all 60 */
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/daemon/channel.h"
#include "tests/fuzz/input.h"

#define HEAD offsetof(oc_channel_message_t, bytes)
#define MOST 5

static int ends[2] = {-1, -1};

/* A descriptor that stays open has had this number. */
static int lowest_free(void)
{
    int fd = fcntl(ends[0], F_DUPFD_CLOEXEC, 0);

    check(fd >= 0 && 0 == close(fd));
    return fd;
}

static void send_raw(const uint8_t *data, size_t size, unsigned descriptors)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(MOST * sizeof(int))];
    } control = {.space = {0}};
    struct iovec io = {.iov_base = (void *) data, .iov_len = size};
    struct msghdr header = {.msg_iov = &io, .msg_iovlen = 1};
    int fds[MOST];

    if (descriptors > 0) {
        for (unsigned i = 0; i < descriptors; i++) {
            fds[i] = ends[0];
        }
        header.msg_control = &control;
        header.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(descriptors * sizeof(int));
        memcpy(CMSG_DATA(&control.header), fds, descriptors * sizeof(int));
    }
    check((ssize_t) size == sendmsg(ends[0], &header, MSG_DONTWAIT));
}

static bool is_message(const uint8_t *data, size_t size)
{
    uint32_t told;

    if (size < HEAD || size > sizeof(oc_channel_message_t)) {
        return false;
    }
    memcpy(&told, data + offsetof(oc_channel_message_t, length), sizeof(told));
    return size - HEAD == told;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static oc_channel_message_t message;
    input_t input = {data, data + size};
    unsigned how = (unsigned) input_number(&input, 1);
    int before, fd = -1, got;

    if (ends[0] < 0) {
        check(0 == socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
    }
    if (input.at == input.end) {
        return 0; /* would be the end */
    }
    size = (size_t) (input.end - input.at);
    before = lowest_free();
    send_raw(input.at, size, how / 2 % (MOST + 1));
    got = oc_channel_receive(ends[1], &message, how & 1 ? &fd : NULL);
    check(1 == got || -1 == got);
    if (1 == got) {
        check(is_message(input.at, size) && 0 == memcmp(&message, input.at, size)
              && (fd >= 0) == (0 != (how & 1) && how / 2 % (MOST + 1) > 0));
    } else {
        check(fd < 0 && !is_message(input.at, size));
    }
    if (fd >= 0) {
        check(fd == before && 0 == close(fd));
    }
    check(before == lowest_free() && 0 == oc_channel_receive(ends[1], &message, NULL));
    return 0;
}
