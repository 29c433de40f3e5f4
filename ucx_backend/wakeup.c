/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the owner of a worker sleeps on. UCX's own descriptor may be readable though there is
 * nothing to do: over TCP, until a peer has confirmed a connection, an endpoint may ask to be told
 * when its socket takes bytes, which it always does. That is so where both have connected to each
 * other and one's connection serves both, and where something tried to go out meanwhile.
 * The peer may be a process that computes, or one that wants the processor which we would burn. A
 * descriptor that was readable in vain so often is not believed for a while, and a timer wakes the
 * sleeper instead.
 */
#include "ucx_backend/wakeup.h"

#include <poll.h>
#include <sys/timerfd.h>

#include "base/descriptors.h"
#include "ucx_backend/ucx_status.h"

/* How often in a row it may be readable with nothing to do: a race makes it so once or twice. */
#define MAX_VAIN 16

/* How long (ns) to sleep by the timer: other peers' messages wait as long. */
#define NAP (400 * 1000l)

bool oc_wakeup_open(oc_wakeup_t *wakeup)
{
    wakeup->timer_fd = oc_fd_make(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    return wakeup->timer_fd >= 0;
}

void oc_wakeup_close(oc_wakeup_t *wakeup)
{
    if (wakeup->timer_fd >= 0) {
        oc_fd_close(wakeup->timer_fd);
    }
}

static bool is_readable(int fd)
{
    struct pollfd event = {.fd = fd, .events = POLLIN};

    return 1 == poll(&event, 1, 0);
}

static oc_status_t set_timer(const oc_wakeup_t *wakeup)
{
    static const struct itimerspec limit = {.it_value.tv_nsec = NAP};

    return 0 == timerfd_settime(wakeup->timer_fd, 0, &limit, NULL) ? OC_OK : OC_ERR_SYSTEM;
}

oc_status_t oc_worker_arm(oc_worker_t *worker, int *fd)
{
    oc_wakeup_t *wakeup = &worker->wakeup;
    ucs_status_t status;

    if (NULL != worker->completed || worker->endpoint_failed || NULL != worker->closing) {
        return OC_IN_PROGRESS;
    }
    status = ucp_worker_arm(worker->worker);
    if (UCS_OK != status) {
        return UCS_ERR_BUSY == status ? OC_IN_PROGRESS : oc_status_from_ucs(status);
    }
    *fd = wakeup->event_fd;
    if (!is_readable(wakeup->event_fd)) {
        wakeup->vain = 0;
        return OC_OK;
    }
    if (wakeup->vain < MAX_VAIN) {
        wakeup->vain++;
        return OC_IN_PROGRESS;
    }
    *fd = wakeup->timer_fd;
    return set_timer(wakeup);
}
