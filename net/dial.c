/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting, and giving an address up. */
#include "net/dial.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "net/socket.h"

/*
 * An address that does not answer is left for the next one after this time, and after the last one
 * the first gets another try: of a connection that found no room the system asks again after 1, 3
 * and 7 seconds only, and nobody waits so long.
 */
#define ATTEMPT_TIMEOUT (1 * OC_SECOND)

void oc_dial_init(oc_dial_t *dial, oc_sockaddr_t *candidates, unsigned num_candidates)
{
    *dial = (oc_dial_t) {.candidates = candidates, .num_candidates = num_candidates, .fd = -1,
                         .error = EHOSTUNREACH};
}

oc_status_t oc_dial_next(oc_dial_t *dial, uint64_t now)
{
    oc_dial_stop(dial);
    while (dial->next < dial->num_candidates) {
        dial->fd = oc_connect_start(&dial->candidates[dial->next++]);
        if (dial->fd >= 0) {
            dial->started = now;
            return OC_IN_PROGRESS;
        }
        dial->error = errno;
    }
    return OC_ERR_UNREACHABLE;
}

static oc_status_t time_out(oc_dial_t *dial)
{
    dial->next %= dial->num_candidates;
    dial->error = ETIMEDOUT;
    return OC_ERR_TIMEOUT;
}

oc_status_t oc_dial_look(oc_dial_t *dial, uint64_t now, bool wanted)
{
    struct pollfd event = {.fd = dial->fd, .events = POLLOUT};
    socklen_t length = sizeof(int);
    int error = 0;

    assert(dial->fd >= 0 && dial->next <= dial->num_candidates);
    if (poll(&event, 1, 0) <= 0) {
        return wanted && now > dial->started + ATTEMPT_TIMEOUT ? time_out(dial) : OC_IN_PROGRESS;
    }
    (void) getsockopt(dial->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (0 == error) {
        return OC_OK;
    }
    dial->error = error;
    return OC_ERR_UNREACHABLE;
}

int oc_dial_take(oc_dial_t *dial)
{
    int fd = dial->fd;

    dial->fd = -1;
    return fd;
}

void oc_dial_again(oc_dial_t *dial)
{
    assert(dial->fd < 0 && dial->next > 0);
    dial->next--;
}

void oc_dial_stop(oc_dial_t *dial)
{
    if (dial->fd >= 0) {
        oc_fd_close(dial->fd);
        dial->fd = -1;
    }
}

void oc_dial_close(oc_dial_t *dial)
{
    oc_dial_stop(dial);
    free(dial->candidates);
    dial->candidates = NULL;
    dial->num_candidates = dial->next = 0;
}
