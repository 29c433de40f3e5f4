/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cgroup of one data process: a bound for all that it has of memory, which the kernel keeps. At
 * memory.high the process is slowed down, and the supervisor hears of it; at memory.max the kernel
 * ends it.
 */
#ifndef OC_SERVER_DAEMON_JOB_CGROUP_H
#define OC_SERVER_DAEMON_JOB_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "server/daemon/cgroup.h"
#include "server/host/bound.h"

typedef struct {
    int folder;                /* -1: there is none */
    int processes;             /* for who goes into it; -1 once it has */
    int events;                /* readable (EPOLLPRI) when one of its bounds was met */
    uint64_t high, max;        /* as the process has said last; 0: it has not */
    uint64_t judged;           /* memory.high before it was given more room; 0: it was not */
    char name[32];
} oc_job_cgroup_t;

/* A new one, with bounds for the time before the first client; without one if there can be none. */
void oc_job_cgroup_open(oc_cgroup_t *cgroup, oc_job_cgroup_t *job, const oc_bound_sizes_t *sizes);

/* In a child that has to go into it, or -1, before exec; only what is safe after a fork. */
void oc_job_cgroup_enter(int processes);

/* The child has been made. */
void oc_job_cgroup_entered(oc_job_cgroup_t *job);

/*
 * As the process says; bounds that it has said are never lowered, since the kernel would take back
 * memory of the process meanwhile. false: there is one, but nobody is in it, or its bounds cannot
 * be set.
 */
bool oc_job_cgroup_bound(oc_job_cgroup_t *job, const oc_bound_sizes_t *sizes);

/* Takes notice of an event: the next one makes events readable again. */
void oc_job_cgroup_hear(const oc_job_cgroup_t *job);

typedef enum {
    OC_CGROUP_FINE,
    OC_CGROUP_SLOWED,          /* by the kernel, because of what it will take back */
    OC_CGROUP_OVER
} oc_cgroup_verdict_t;

/*
 * After an event. The process is over if it holds more than memory.high: what the kernel can take
 * back does not count, nor socket buffers, which it makes smaller by itself. Because of these it is
 * not slowed down at once, but given some room beyond memory.high; the first bound still counts.
 */
oc_cgroup_verdict_t oc_job_cgroup_judge(oc_job_cgroup_t *job, uint64_t *held, uint64_t *high);

/* The process is to end, and not to be slowed down any more; memory.max stays. */
void oc_job_cgroup_lift_high(const oc_job_cgroup_t *job);

/* Whether the kernel has ended the process because of memory.max, which is in *max then. */
bool oc_job_cgroup_was_killed(const oc_job_cgroup_t *job, uint64_t *max);

/* When its process has been reaped. */
void oc_job_cgroup_remove(oc_cgroup_t *cgroup, oc_job_cgroup_t *job);

/* Leaves it as it is. */
void oc_job_cgroup_close(oc_job_cgroup_t *job);

#endif
