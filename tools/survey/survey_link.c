/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in, messages out. */
#include "tools/survey/survey_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/descriptors.h"

void oc_survey_link_init(oc_survey_link_t *link, int fd)
{
    link->fd = fd;
    link->used = 0;
    (void) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void oc_survey_link_close(oc_survey_link_t *link)
{
    if (link->fd >= 0) {
        oc_fd_close(link->fd);
    }
    link->fd = -1;
}

static bool link_await(const oc_survey_link_t *link, short events, uint64_t end)
{
    struct pollfd event = {.fd = link->fd, .events = events};
    uint64_t now = oc_clock_ns();

    return now < end && poll(&event, 1, (int) ((end - now) / OC_MILLISECOND) + 1) >= 0;
}

static bool is_later(void)
{
    return EAGAIN == errno || EWOULDBLOCK == errno || EINTR == errno;
}

bool oc_survey_link_send(oc_survey_link_t *link, const oc_survey_message_t *message, uint64_t end)
{
    uint8_t bytes[OC_SURVEY_FRAME];
    size_t length = oc_survey_encode(message, bytes), sent = 0;

    while (sent < length) {
        ssize_t now = send(link->fd, bytes + sent, length - sent, MSG_NOSIGNAL);

        if (now < 0 && (!is_later() || !link_await(link, POLLOUT, end))) {
            return false;
        }
        sent += now > 0 ? (size_t) now : 0;
    }
    return true;
}

oc_status_t oc_survey_link_take(oc_survey_link_t *link, oc_survey_message_t *message)
{
    size_t used = 0;
    oc_status_t status = oc_survey_decode(link->bytes, link->used, message, &used);

    if (OC_IN_PROGRESS == status) {
        ssize_t got = recv(link->fd, link->bytes + link->used, sizeof(link->bytes) - link->used, 0);

        if (got <= 0) {
            return got < 0 && is_later() ? OC_IN_PROGRESS : OC_ERR_UNREACHABLE;
        }
        link->used += (size_t) got;
        status = oc_survey_decode(link->bytes, link->used, message, &used);
    }
    if (OC_OK == status) {
        link->used -= used;
        memmove(link->bytes, link->bytes + used, link->used);
    }
    return status;
}

oc_status_t oc_survey_link_await(oc_survey_link_t *link, oc_survey_message_t *message,
                                 uint64_t end)
{
    oc_status_t status;

    while (OC_IN_PROGRESS == (status = oc_survey_link_take(link, message))) {
        if (!link_await(link, POLLIN, end)) {
            return OC_ERR_TIMEOUT;
        }
    }
    return status;
}
