/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data process knows nothing of this: the supervisor makes the cgroup, sets its bounds and
 * reads what became of them. memory.high lies at the bound, where there is time to say why the job
 * ends, and memory.max as far above it as RLIMIT_DATA.
 */
#include "server/daemon/job_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "server/daemon/cgroup_text.h"

/*
 * Half of what is between memory.high and memory.max. A process that has socket buffers full of a
 * flood would come to memory.high because of them, and be slowed down so much that it takes minutes
 * to get over it with memory of its own: its clients would see it hang, and nobody would hear why.
 */
#define ROOM (UINT64_C(32) << 20)

static const oc_job_cgroup_t none = {.folder = -1, .processes = -1, .events = -1};

void oc_job_cgroup_close(oc_job_cgroup_t *job)
{
    const int fds[] = {job->folder, job->processes, job->events};

    for (unsigned i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    *job = none;
}

static bool make_folder(oc_cgroup_t *cgroup, oc_job_cgroup_t *job)
{
    snprintf(job->name, sizeof(job->name), OC_CGROUP_JOB "%llu", ++cgroup->number);
    return 0 == mkdirat(cgroup->folder, job->name, 0755);
}

static bool write_size(int folder, const char *name, uint64_t bytes)
{
    char text[32] = "max";

    if (UINT64_MAX != bytes) {
        snprintf(text, sizeof(text), "%" PRIu64, bytes);
    }
    return oc_cgroup_write(folder, name, text);
}

static bool set_sizes(const oc_job_cgroup_t *job, const oc_bound_sizes_t *sizes)
{
    return write_size(job->folder, "memory.max", sizes->max)
           && write_size(job->folder, "memory.high", sizes->high);
}

static bool job_cgroup_prepare(oc_cgroup_t *cgroup, oc_job_cgroup_t *job,
                               const oc_bound_sizes_t *sizes)
{
    job->folder = openat(cgroup->folder, job->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (job->folder < 0 || !set_sizes(job, sizes)) {
        return false;
    }
    /* kernels without swap, or from before 4.19, do not have these */
    (void) oc_cgroup_write(job->folder, "memory.swap.max", "0");
    (void) oc_cgroup_write(job->folder, "memory.oom.group", "1");
    job->processes = openat(job->folder, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    job->events = openat(job->folder, "memory.events", O_RDONLY | O_CLOEXEC);
    return job->processes >= 0 && job->events >= 0;
}

static void job_cgroup_complain(oc_cgroup_t *cgroup)
{
    if (!cgroup->complained) {
        cgroup->complained = true;
        oc_warn("the process of a job gets no cgroup of its own below %s: %s", cgroup->path,
                strerror(errno));
    }
}

void oc_job_cgroup_open(oc_cgroup_t *cgroup, oc_job_cgroup_t *job, const oc_bound_sizes_t *sizes)
{
    *job = none;
    if (cgroup->folder < 0) {
        return;
    }
    if (!make_folder(cgroup, job)) {
        job_cgroup_complain(cgroup);
        *job = none;
    } else if (!job_cgroup_prepare(cgroup, job, sizes)) {
        job_cgroup_complain(cgroup);
        oc_job_cgroup_remove(cgroup, job);
    }
}

void oc_job_cgroup_enter(int processes)
{
    if (processes >= 0) {
        /* that it is not there is found by oc_job_cgroup_bound */
        (void) !write(processes, "0", 1);
    }
}

void oc_job_cgroup_entered(oc_job_cgroup_t *job)
{
    if (job->processes >= 0) {
        close(job->processes);
        job->processes = -1;
    }
}

static bool raise_sizes(oc_job_cgroup_t *job, const oc_bound_sizes_t *sizes)
{
    oc_bound_sizes_t set = *sizes;

    if (sizes->high <= job->high || sizes->max <= job->max) {
        return true;
    }
    /* what is lowered the kernel takes back at once, and keeps the supervisor waiting meanwhile */
    if (0 != job->judged) {
        set.high += ROOM;
        job->judged = sizes->high;
    }
    if (!set_sizes(job, &set)) {
        return false;
    }
    job->high = sizes->high;
    job->max = sizes->max;
    return true;
}

bool oc_job_cgroup_bound(oc_job_cgroup_t *job, const oc_bound_sizes_t *sizes)
{
    char events[128];
    uint64_t populated = 0;

    return job->folder < 0
           || (raise_sizes(job, sizes)
               && oc_cgroup_read(job->folder, "cgroup.events", events, sizeof(events))
               && oc_cgroup_number(events, "populated", &populated) && 1 == populated);
}

/* The kernel remembers for each open file what was read last. */
void oc_job_cgroup_hear(const oc_job_cgroup_t *job)
{
    char events[512];

    (void) !pread(job->events, events, sizeof(events), 0);
}

static bool read_size(int folder, const char *name, uint64_t *bytes)
{
    char text[32], *end;

    if (!oc_cgroup_read(folder, name, text, sizeof(text)) || text[0] < '0' || text[0] > '9') {
        return false;
    }
    *bytes = strtoull(text, &end, 10);
    return '\n' == *end;
}

/* What the kernel takes back, or makes smaller, before it slows a process down. */
static bool read_soft(int folder, uint64_t *bytes)
{
    static const char *const names[] = {"active_file", "inactive_file", "slab_reclaimable", "sock"};
    char text[8192];
    uint64_t number;

    *bytes = 0;
    if (!oc_cgroup_read(folder, "memory.stat", text, sizeof(text))) {
        return false;
    }
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        *bytes += oc_cgroup_number(text, names[i], &number) ? number : 0;
    }
    return true;
}

oc_cgroup_verdict_t oc_job_cgroup_judge(oc_job_cgroup_t *job, uint64_t *held, uint64_t *high)
{
    uint64_t current, soft, now;

    if (job->folder < 0 || !read_size(job->folder, "memory.high", &now)
        || !read_size(job->folder, "memory.current", &current)
        || !read_soft(job->folder, &soft)) {
        return OC_CGROUP_FINE;
    }
    *high = 0 != job->judged ? job->judged : now;
    *held = current > soft ? current - soft : 0;
    if (*held > *high) {
        return OC_CGROUP_OVER;
    }
    if (0 != job->judged) {
        return OC_CGROUP_SLOWED;
    }
    job->judged = now;
    return write_size(job->folder, "memory.high", now + ROOM) ? OC_CGROUP_FINE : OC_CGROUP_SLOWED;
}

void oc_job_cgroup_lift_high(const oc_job_cgroup_t *job)
{
    if (job->folder >= 0) {
        (void) write_size(job->folder, "memory.high", UINT64_MAX);
    }
}

bool oc_job_cgroup_was_killed(const oc_job_cgroup_t *job, uint64_t *max)
{
    char events[512];
    uint64_t killed = 0;

    return job->folder >= 0
           && oc_cgroup_read(job->folder, "memory.events", events, sizeof(events))
           && oc_cgroup_number(events, "oom_kill", &killed) && killed > 0
           && read_size(job->folder, "memory.max", max);
}

void oc_job_cgroup_remove(oc_cgroup_t *cgroup, oc_job_cgroup_t *job)
{
    if ('\0' != job->name[0] && 0 != unlinkat(cgroup->folder, job->name, AT_REMOVEDIR)) {
        oc_warn("%s/%s is left: %s", cgroup->path, job->name, strerror(errno));
    }
    oc_job_cgroup_close(job);
    oc_cgroup_sweep(cgroup);
}
