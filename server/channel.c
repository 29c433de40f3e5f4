/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and descriptors over a socket pair. */
#include "server/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

typedef union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
} control_buffer_t;

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

int oc_channel_receive(int channel, oc_channel_message_t *message, int *fd)
{
    struct iovec io = {.iov_base = message, .iov_len = sizeof(*message)};
    control_buffer_t control;
    struct msghdr header = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control,
                            .msg_controllen = sizeof(control.space)};
    struct cmsghdr *attached;
    ssize_t got;

    *fd = -1;
    do {
        got = recvmsg(channel, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && EINTR == errno);
    if (got < 0 && EAGAIN == errno) {
        return 0;
    }
    attached = got > 0 ? CMSG_FIRSTHDR(&header) : NULL;
    if (NULL != attached && SCM_RIGHTS == attached->cmsg_type) {
        memcpy(fd, CMSG_DATA(attached), sizeof(*fd));
    }
    return got < (ssize_t) offsetof(oc_channel_message_t, bytes) ? -1 : 1;
}
