/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which hosts may connect to the aggregators of a job: those of its processes, of its leaves and of
 * the server above. They are admitted before their processes are told where the aggregators are.
 */
#include "server/job/hosts.h"

#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"

/*
 * Up to so many, each host is admitted as it comes. More of them wait for each other for a moment:
 * the whole filter is made anew, and for thousands that takes longer than all else about a process.
 */
#define FEW       256
#define GATHERING (5 * OC_MILLISECOND)

static void hosts_renew(oc_job_server_t *job)
{
    job->hosts_wait = false;
    oc_admission_renew(job->admission);
}

static void on_gathered(oc_watch_t *watch, uint32_t events)
{
    oc_job_server_t *job =
        (oc_job_server_t *) ((char *) watch - offsetof(oc_job_server_t, hosts_watch));
    uint64_t expirations;

    (void) events;
    if (sizeof(expirations) == read(watch->fd, &expirations, sizeof(expirations))) {
        hosts_renew(job);
        job->hosts_gathered(job);
    }
}

oc_status_t oc_hosts_open(oc_job_server_t *job, void (*gathered)(oc_job_server_t *job), char *error,
                          size_t error_size)
{
    oc_status_t status = OC_ERR_NO_MEMORY;
    int fd = oc_fd_make(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));

    job->hosts_gathered = gathered;
    job->hosts_watch = (oc_watch_t) {.fd = fd, .ready = on_gathered};
    job->origins.count = (uint8_t) oc_origin_addresses(job->config.net_devices,
                                                       job->origins.addresses, OC_MAX_ORIGINS);
    job->admission = oc_admission_open();
    if (fd < 0) {
        status = OC_ERR_SYSTEM;
    } else if (NULL != job->admission) {
        status = oc_loop_add(job->loop, &job->hosts_watch, EPOLLIN);
    }
    if (OC_OK != status) {
        snprintf(error, error_size, "cannot tell hosts of the job from others: no descriptors or "
                 "no memory are left");
    }
    return status;
}

void oc_hosts_close(oc_job_server_t *job)
{
    if (job->hosts_watch.fd >= 0) {
        oc_loop_remove(job->loop, &job->hosts_watch);
        oc_fd_close(job->hosts_watch.fd);
    }
    oc_admission_close(job->admission);
}

void oc_hosts_admit(oc_job_server_t *job, int fd, const oc_origins_t *origins)
{
    struct itimerspec timer = {.it_value.tv_nsec = GATHERING};

    (void) oc_admission_note(job->admission, origins->addresses, origins->count);
    if (!oc_admission_note_peer(job->admission, fd) || job->hosts_wait) {
        return;
    }
    job->hosts_wait = oc_admission_count(job->admission) > FEW
                      && 0 == timerfd_settime(job->hosts_watch.fd, 0, &timer, NULL);
    if (!job->hosts_wait) {
        hosts_renew(job);
    }
}
