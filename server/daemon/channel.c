/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and descriptors over a socket pair. */
#include "server/daemon/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/descriptors.h"

/*
 * What the kernel hands over in one message, however many are sent, for room for one and padding.
 */
#define MOST_DESCRIPTORS 2

typedef union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
} control_buffer_t;

_Static_assert(sizeof(control_buffer_t) < CMSG_LEN((MOST_DESCRIPTORS + 1) * sizeof(int)),
               "no more fit");

bool oc_channel_send(int channel, const oc_channel_message_t *message, int fd)
{
    struct iovec io = {.iov_base = (void *) message,
                       .iov_len = offsetof(oc_channel_message_t, bytes) + message->length};
    struct msghdr header = {.msg_iov = &io, .msg_iovlen = 1};
    control_buffer_t control;
    ssize_t sent;

    if (fd >= 0) {
        memset(&control, 0, sizeof(control));
        header.msg_control = &control;
        header.msg_controllen = sizeof(control.space);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
    }
    do {
        sent = sendmsg(channel, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && EINTR == errno);
    return sent == (ssize_t) io.iov_len;
}

/* Those that came with a message: the first one is the caller's, if wanted. */
static int take_descriptors(struct msghdr *header, bool wanted)
{
    struct cmsghdr *attached = CMSG_FIRSTHDR(header);
    int fds[MOST_DESCRIPTORS];
    size_t count;

    if (NULL == attached || SOL_SOCKET != attached->cmsg_level
        || SCM_RIGHTS != attached->cmsg_type) {
        return -1;
    }
    count = (attached->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(fds, CMSG_DATA(attached), count * sizeof(int));
    for (size_t i = wanted ? 1 : 0; i < count; i++) {
        oc_fd_close(fds[i]);
    }
    return wanted && count > 0 ? fds[0] : -1;
}

static bool is_whole(const oc_channel_message_t *message, ssize_t got)
{
    size_t head = offsetof(oc_channel_message_t, bytes);

    return got >= (ssize_t) head && message->length == (size_t) got - head;
}

int oc_channel_receive(int channel, oc_channel_message_t *message, int *fd)
{
    struct iovec io = {.iov_base = message, .iov_len = sizeof(*message)};
    control_buffer_t control;
    struct msghdr header = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control,
                            .msg_controllen = sizeof(control.space)};
    ssize_t got;
    bool whole;
    int taken;

    do {
        got = recvmsg(channel, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && EINTR == errno);
    whole = is_whole(message, got) && 0 == (header.msg_flags & MSG_TRUNC);
    taken = got < 0 ? -1 : take_descriptors(&header, whole && NULL != fd);
    if (NULL != fd) {
        *fd = taken;
    }
    if (got < 0 && EAGAIN == errno) {
        return 0;
    }
    return whole ? 1 : -1;
}
