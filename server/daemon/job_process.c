/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of a job's process, and messages to and from it. */
#include "server/daemon/job_process.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "server/daemon/channel.h"
#include "server/job/job.h"

#define CHANNEL_BUFFER (1 << 20)

/* Messages that wait for a job's process; more than all its clients would send at a time. */
#define MAX_QUEUED (2 * OC_MAX_RANKS)

/* A message that the channel did not take yet. */
typedef struct outgoing {
    int fd;                        /* to go with it, or -1 */
    struct outgoing *prev, *next;
    _Alignas(oc_channel_message_t) uint8_t message[];   /* no longer than it is */
} outgoing_t;

static void short_id(const oc_job_process_t *process, char text[9])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < 4; i++) {
        text[2 * i] = digits[process->id[i] >> 4];
        text[2 * i + 1] = digits[process->id[i] & 0xf];
    }
    text[8] = '\0';
}

static void outgoing_drop(oc_job_process_t *process)
{
    outgoing_t *first = process->queue;

    DL_DELETE(process->queue, first);
    process->queued--;
    if (first->fd >= 0) {
        oc_fd_close(first->fd);
    }
    free(first);
}

static bool send_first(const oc_job_process_t *process)
{
    const outgoing_t *first = process->queue;

    return oc_channel_send(process->watch.fd, (const oc_channel_message_t *) first->message,
                           first->fd);
}

static void echo(oc_job_process_t *process)
{
    oc_channel_message_t message = {.type = OC_CHANNEL_ECHO, .number = process->echo};

    process->owes_echo = !oc_channel_send(process->watch.fd, &message, -1);
}

static void job_process_flush(oc_job_process_t *process)
{
    bool waits;

    while (NULL != process->queue && send_first(process)) {
        outgoing_drop(process);
    }
    if (NULL == process->queue && process->owes_echo) {
        echo(process);
    }
    waits = NULL != process->queue || process->owes_echo;
    oc_loop_change(process->loop, &process->watch, waits ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* Takes fd over. Messages keep their order; false when the process takes none any more. */
static bool job_process_tell(oc_job_process_t *process, const oc_channel_message_t *message, int fd)
{
    size_t length = offsetof(oc_channel_message_t, bytes) + message->length;
    outgoing_t *outgoing;

    if (process->watch.fd < 0 || process->queued >= MAX_QUEUED) {
        return false;
    }
    outgoing = malloc(sizeof(*outgoing) + length);
    if (NULL == outgoing) {
        return false;
    }
    memcpy(outgoing->message, message, length);
    outgoing->fd = fd;
    DL_APPEND(process->queue, outgoing);
    process->queued++;
    job_process_flush(process);
    return true;
}

static void close_channel(oc_job_process_t *process)
{
    while (NULL != process->queue) {
        outgoing_drop(process);
    }
    if (process->watch.fd >= 0) {
        oc_loop_remove(process->loop, &process->watch);
        close(process->watch.fd);
        process->watch.fd = -1;
        /* it is expected to end now, which is as good as an answer */
        process->asked_at = oc_clock_ns();
        process->taken = process->adopted;
    }
}

/*
 * A process asks again when it has its answer, so there is one to give at most. Who asks without
 * reading fills nothing here.
 */
static void on_ask(oc_job_process_t *process, uint32_t number)
{
    if (process->queued >= MAX_QUEUED) {
        close_channel(process);
        return;
    }
    process->echo = number;
    process->owes_echo = true;
    job_process_flush(process);
}

static void on_idle(oc_job_process_t *process, uint32_t adopted)
{
    oc_channel_message_t message = {.type = OC_CHANNEL_LEAVE};

    if (adopted == process->adopted) {
        (void) job_process_tell(process, &message, -1);
        close_channel(process);
    }
}

/*
 * Whoever is over is slowed down by up to two seconds for each page: too slow to tell many clients
 * why.
 */
static void job_process_end_by_cgroup(oc_job_process_t *process, const oc_channel_over_t *over)
{
    oc_channel_message_t message = {.type = OC_CHANNEL_OVER, .length = sizeof(*over)};

    memcpy(message.bytes, over, sizeof(*over));
    oc_job_cgroup_lift_high(&process->cgroup);
    process->is_over = true;
    /* one that cannot be told goes on to memory.max */
    (void) job_process_tell(process, &message, -1);
}

/* Without it, people would see a slow job, and no reason. */
static void tell_slowed(oc_job_process_t *process, uint64_t high)
{
    char id[9];

    if (!process->slowed) {
        process->slowed = true;
        short_id(process, id);
        oc_warn("job %s: the kernel takes back memory of its process, socket buffers mostly, and may slow it "
                "down: with them it has more than the %llu bytes that its cgroup may have", id,
                (unsigned long long) high);
    }
}

static void on_cgroup(oc_watch_t *watch, uint32_t events)
{
    oc_job_process_t *process =
        (oc_job_process_t *) ((char *) watch - offsetof(oc_job_process_t, cgroup_watch));
    oc_channel_over_t over;

    (void) events;
    oc_job_cgroup_hear(&process->cgroup);
    if (process->is_over) {
        return;
    }
    switch (oc_job_cgroup_judge(&process->cgroup, &over.held, &over.bound)) {
    case OC_CGROUP_OVER:
        job_process_end_by_cgroup(process, &over);
        break;
    case OC_CGROUP_SLOWED:
        tell_slowed(process, over.bound);
        break;
    default:
        break;
    }
}

static bool job_process_is_alive(pid_t pid)
{
    siginfo_t info = {0};

    return 0 == waitid(P_PID, (id_t) pid, &info, WEXITED | WNOHANG | WNOWAIT) && 0 == info.si_pid;
}

static bool is_sane(const oc_bound_sizes_t *sizes, const oc_bound_sizes_t *least)
{
    return sizes->high >= least->high && sizes->max >= least->max && sizes->max >= sizes->high;
}

static void on_bound(oc_job_process_t *process, const oc_channel_message_t *message)
{
    oc_bound_sizes_t sizes;
    bool bounded;
    char id[9];

    memcpy(&sizes, message->bytes, sizeof(sizes));
    if (sizeof(sizes) != message->length || !is_sane(&sizes, &process->least)) {
        close_channel(process);
        return;
    }
    process->bound = sizes.bytes;
    if (process->is_over) {
        return;
    }
    bounded = oc_job_cgroup_bound(&process->cgroup, &sizes);
    if (!bounded && !process->unbound && job_process_is_alive(process->pid)) {
        process->unbound = true;
        short_id(process, id);
        oc_warn("job %s: its process is not bounded by its cgroup %s", id, process->cgroup.name);
    }
}

static void job_process_on_channel(oc_watch_t *watch, uint32_t events)
{
    oc_job_process_t *process = (oc_job_process_t *) watch;
    static oc_channel_message_t message;
    int got;

    if (events & EPOLLOUT) {
        job_process_flush(process);
    }
    got = oc_channel_receive(watch->fd, &message, NULL);
    if (got < 0) {
        close_channel(process);
    } else if (got > 0 && OC_CHANNEL_ASK == message.type) {
        on_ask(process, message.number);
    } else if (got > 0 && OC_CHANNEL_ECHO == message.type) {
        process->asked_at = 0;
        process->taken = message.number;
    } else if (got > 0 && OC_CHANNEL_IDLE == message.type) {
        on_idle(process, message.number);
    } else if (got > 0 && OC_CHANNEL_JOINED == message.type) {
        process->has_joined = true;
        process->retires_until = 0;
    } else if (got > 0 && OC_CHANNEL_BOUND == message.type) {
        on_bound(process, &message);
    }
}

static void watch_cgroup(oc_job_process_t *process)
{
    process->cgroup_watch = (oc_watch_t) {.fd = process->cgroup.events, .ready = on_cgroup};
    if (process->cgroup.events >= 0) {
        oc_job_cgroup_hear(&process->cgroup);
        (void) oc_loop_add(process->loop, &process->cgroup_watch, EPOLLPRI);
    }
}

static void look_away(oc_job_process_t *process)
{
    if (process->cgroup.events >= 0) {
        oc_loop_remove(process->loop, &process->cgroup_watch);
    }
}

/* Owns channel and cgroup, whatever becomes of it. */
static oc_job_process_t *process_new(oc_loop_t *loop, const oc_hello_t *hello, int channel,
                                     oc_job_cgroup_t *cgroup, pid_t pid)
{
    oc_job_process_t *process = calloc(1, sizeof(*process));
    char id[9];

    if (NULL == process) {
        close(channel);
        oc_job_cgroup_close(cgroup);
        return NULL;
    }
    process->watch = (oc_watch_t) {.fd = channel, .ready = job_process_on_channel};
    process->loop = loop;
    process->pid = pid;
    process->started_at = oc_clock_ns();
    process->cgroup = *cgroup;
    watch_cgroup(process);
    memcpy(process->id, hello->job_id, OC_JOB_ID_SIZE);
    memcpy(process->key, hello->job_key, OC_JOB_KEY_SIZE);
    if (OC_OK != oc_loop_add(loop, &process->watch, EPOLLIN)) {
        close(channel);
        process->watch.fd = -1;
    }
    short_id(process, id);
    oc_info("job %s begins, process %d", id, (int) pid);
    return process;
}

static void tell_begin(oc_job_process_t *process, const oc_data_process_config_t *config)
{
    static oc_channel_message_t message;

    _Static_assert(sizeof(*config) <= sizeof(message.bytes), "it goes in one message");
    message.type = OC_CHANNEL_BEGIN;
    message.length = sizeof(*config);
    memcpy(message.bytes, config, sizeof(*config));
    if (!job_process_tell(process, &message, -1)) {
        close_channel(process);
    }
}

oc_job_process_t *oc_job_process_start(oc_loop_t *loop, const oc_hello_t *hello,
                                       const oc_spawn_t *spawn, oc_cgroup_t *cgroup,
                                       const oc_data_process_config_t *config)
{
    oc_job_process_t *process;
    oc_bound_sizes_t sizes;
    oc_job_cgroup_t own;
    int pair[2], size = CHANNEL_BUFFER;
    pid_t pid;

    if (0 != socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        return NULL;
    }
    (void) setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    oc_bound_first(config->memory_limit, (unsigned) config->aggregators, &sizes);
    oc_job_cgroup_open(cgroup, &own, &sizes);
    pid = oc_spawn(spawn, pair[1], own.processes);
    oc_job_cgroup_entered(&own);
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        oc_job_cgroup_remove(cgroup, &own);
        return NULL;
    }
    process = process_new(loop, hello, pair[0], &own, pid);
    if (NULL != process) {
        oc_bound_least(config->memory_limit, (unsigned) config->aggregators, &process->least);
        tell_begin(process, config);
    }
    return process;
}

bool oc_job_process_adopt(oc_job_process_t *process, int fd, const uint8_t *bytes, size_t length)
{
    static oc_channel_message_t message;

    message.type = OC_CHANNEL_ADOPT;
    message.length = (uint32_t) length;
    memcpy(message.bytes, bytes, length);
    if (!job_process_tell(process, &message, fd)) {
        return false;
    }
    process->adopted++;
    process->adopted_at = oc_clock_ns();
    return true;
}

void oc_job_process_ask(oc_job_process_t *process)
{
    oc_channel_message_t message = {.type = OC_CHANNEL_ASK};

    if (0 == process->asked_at && job_process_tell(process, &message, -1)) {
        process->asked_at = oc_clock_ns();
    }
}

void oc_job_process_retire(oc_job_process_t *process)
{
    oc_channel_message_t message = {.type = OC_CHANNEL_RETIRE};

    process->told++;
    process->retires_until = oc_clock_ns() + OC_RETIRE_TIME;
    (void) job_process_tell(process, &message, -1);
}

bool oc_job_process_retires(const oc_job_process_t *process, uint64_t now)
{
    return now < process->retires_until;
}

void oc_job_process_drain(oc_job_process_t *process)
{
    oc_channel_message_t message = {.type = OC_CHANNEL_DRAIN};

    (void) job_process_tell(process, &message, -1);
}

/* UCX ends the process when it gets no memory, and the kernel when the machine has none. */
static void complain_of_signal(const oc_job_process_t *process, const char *id, int number,
                               const struct rusage *usage)
{
    uint64_t most = (uint64_t) usage->ru_maxrss << 10;

    oc_warn("job %s: its process was ended by signal %d (%s); it had at most %llu MiB of "
            "memory, and may have %llu%s", id, number, strsignal(number),
            (unsigned long long) most >> 20, (unsigned long long) process->bound >> 20,
            most >= process->bound ? ": a higher --memory-limit gives it more" : "");
}

void oc_job_process_ended(oc_job_process_t *process, oc_cgroup_t *cgroup, int status,
                          const struct rusage *usage)
{
    uint64_t max;
    char id[9];

    short_id(process, id);
    if (oc_job_cgroup_was_killed(&process->cgroup, &max)) {
        oc_warn("job %s: its process was ended by the kernel, because with what the kernel had for "
                "it it came to its bound of %llu bytes of memory (memory.max of its cgroup): a "
                "higher --memory-limit gives it more", id, (unsigned long long) max);
    } else if (WIFSIGNALED(status)) {
        complain_of_signal(process, id, WTERMSIG(status), usage);
    } else {
        oc_info("job %s is over", id);
    }
    look_away(process);
    oc_job_cgroup_remove(cgroup, &process->cgroup);
    oc_job_process_free(process);
}

void oc_job_process_free(oc_job_process_t *process)
{
    close_channel(process);
    look_away(process);
    oc_job_cgroup_close(&process->cgroup);
    free(process);
}
