/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of a thread from /proc, and its instructions from the processor's counters. */
#include "bench/scale/usage.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/engine/process.h"

/* The first line of a file of that thread. */
static bool read_line(pid_t process, pid_t thread, const char *name, char *line, int size)
{
    char path[96];
    FILE *file;
    bool got;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int) process, (int) thread, name);
    file = fopen(path, "r");
    if (NULL == file) {
        return false;
    }
    got = NULL != fgets(line, size, file);
    fclose(file);
    return got;
}

static int open_counter(pid_t thread)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE, .size = sizeof(attributes),
        .config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1, .exclude_hv = 1};

    return (int) syscall(SYS_perf_event_open, &attributes, thread, -1, -1,
                         PERF_FLAG_FD_CLOEXEC);
}

bool oc_meter_open(oc_meter_t *meter, pid_t process, const char *thread)
{
    *meter = (oc_meter_t) {.process = process, .thread = thread_of(process, thread),
                           .counter = -1};
    if (meter->thread < 0) {
        return false;
    }
    meter->counter = open_counter(meter->thread);
    return true;
}

static bool look(const oc_meter_t *meter, oc_meter_t *now)
{
    double tick = 1.0 / (double) sysconf(_SC_CLK_TCK);
    unsigned long long user, system, nanoseconds;
    char line[1024];
    const char *rest;

    if (!read_line(meter->process, meter->thread, "schedstat", line, sizeof(line))
        || 1 != sscanf(line, "%llu", &nanoseconds)
        || !read_line(meter->process, meter->thread, "stat", line, sizeof(line))) {
        return false;
    }
    /* behind the name, which may be anything */
    rest = strrchr(line, ')');
    if (NULL == rest
        || 2 != sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
                       &system)) {
        return false;
    }
    now->seconds = (double) nanoseconds * 1e-9;
    now->user = (double) user * tick;
    now->system = (double) system * tick;
    return true;
}

bool oc_meter_start(oc_meter_t *meter)
{
    if (meter->counter >= 0) {
        (void) ioctl(meter->counter, PERF_EVENT_IOC_RESET, 0);
    }
    return look(meter, meter);
}

bool oc_meter_stop(oc_meter_t *meter, oc_usage_t *usage)
{
    oc_meter_t now;
    double ticks;
    uint64_t count = 0;

    if (meter->counter >= 0 && sizeof(count) != read(meter->counter, &count, sizeof(count))) {
        count = 0;
    }
    if (!look(meter, &now)) {
        return false;
    }
    ticks = now.user - meter->user + now.system - meter->system;
    usage->seconds = now.seconds - meter->seconds;
    usage->user = ticks > 0 ? (now.user - meter->user) / ticks : 0;
    usage->instructions = (double) count;
    return true;
}

void oc_meter_close(oc_meter_t *meter)
{
    if (meter->counter >= 0) {
        close(meter->counter);
    }
    meter->counter = -1;
}
