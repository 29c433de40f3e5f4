/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a data process: adopt clients, serve them, leave when all are gone. */
#include "config.h"

#include "server/daemon/data_process.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/output.h"
#include "server/daemon/channel.h"
#include "server/daemon/spawn.h"
#include "server/host/bound.h"
#include "server/job/gate.h"
#include "server/job/job.h"

/* How long a failed job's process stays for its clients to read why. */
#define FAILED_LINGER (1 * OC_SECOND)

typedef struct {
    oc_watch_t channel_watch;
    oc_loop_t loop;
    oc_job_server_t *job;
    uint32_t adopted;
    bool idle_told;
    bool joined_told;
    bool complained;           /* of the limit of descriptors */
    bool leave;
    oc_bound_t bound;
    bool bound_told;            /* to the supervisor, as it is now */
    uint64_t bound_looked;      /* when */
} data_process_t;

static void ask_supervisor(void *arg, uint32_t token)
{
    data_process_t *process = arg;
    oc_channel_message_t message = {.type = OC_CHANNEL_ASK, .number = token};

    (void) oc_channel_send(process->channel_watch.fd, &message, -1);
}

/* The system has closed the connection of a client that there was no descriptor for. */
static void complain_of_limit(data_process_t *process)
{
    struct rlimit limit = {0};

    if (process->complained) {
        return;
    }
    process->complained = true;
    (void) getrlimit(RLIMIT_NOFILE, &limit);
    oc_warn("clients of a job are turned away: its process may have %llu descriptors, and needs two "
            "for each client, and one more with each further aggregator, over TCP; raise the hard "
            "limit (LimitNOFILE= of a service, ulimit -Hn in a shell)",
            (unsigned long long) limit.rlim_cur);
}

static void data_process_adopt(data_process_t *process, const oc_channel_message_t *message, int fd)
{
    process->adopted++;
    process->idle_told = false;
    if (fd >= 0) {
        oc_job_adopt(process->job, fd, message->bytes, message->length);
    } else {
        complain_of_limit(process);
    }
}

static void data_process_end_by_cgroup(data_process_t *process, const oc_channel_message_t *message)
{
    oc_channel_over_t over;

    if (sizeof(over) == message->length) {
        memcpy(&over, message->bytes, sizeof(over));
        oc_job_burst(process->job, ", with what the kernel has for it,", over.held, over.bound);
    }
}

static void data_process_on_channel(oc_watch_t *watch, uint32_t events)
{
    data_process_t *process = (data_process_t *) watch;
    static oc_channel_message_t message;
    int fd, got;

    (void) events;
    got = oc_channel_receive(watch->fd, &message, &fd);
    if (got < 0) {
        oc_job_drain(process->job, "the server is gone");
        process->leave = true;
        return;
    }
    if (0 == got) {
        return;
    }
    switch (message.type) {
    case OC_CHANNEL_ADOPT:
        data_process_adopt(process, &message, fd);
        break;
    case OC_CHANNEL_DRAIN:
        oc_job_drain(process->job, "the server is going to stop");
        break;
    case OC_CHANNEL_ECHO:
        oc_job_echo(process->job, message.number);
        break;
    case OC_CHANNEL_ASK:
        message.type = OC_CHANNEL_ECHO;
        message.number = process->adopted;
        (void) oc_channel_send(watch->fd, &message, -1);
        break;
    case OC_CHANNEL_OVER:
        data_process_end_by_cgroup(process, &message);
        break;
    case OC_CHANNEL_RETIRE:
        oc_job_retire(process->job);
        break;
    case OC_CHANNEL_LEAVE:
        process->leave = true;
        break;
    default:
        break;
    }
}

/* The supervisor may have sent another client meanwhile: it decides. */
static void tell_idle(data_process_t *process)
{
    oc_channel_message_t message = {.type = OC_CHANNEL_IDLE, .number = process->adopted};

    process->idle_told = oc_channel_send(process->channel_watch.fd, &message, -1);
}

/* To be looked at no more often: what it takes to know is a millionth of a second each time. */
#define BOUND_INTERVAL (10 * OC_MILLISECOND)

static void tell_bound(data_process_t *process)
{
    oc_channel_message_t message = {.type = OC_CHANNEL_BOUND, .length = sizeof(oc_bound_sizes_t)};
    oc_bound_sizes_t sizes;

    oc_bound_sizes(&process->bound, &sizes);
    memcpy(message.bytes, &sizes, sizeof(sizes));
    process->bound_told = oc_channel_send(process->channel_watch.fd, &message, -1);
}

static void watch_bound(data_process_t *process)
{
    uint64_t now = oc_clock_ns(), used;
    oc_load_t load;

    oc_job_load(process->job, &load);
    if (oc_bound_set(&process->bound, &load) || !process->bound_told) {
        tell_bound(process);
    }
    if (now - process->bound_looked < BOUND_INTERVAL) {
        return;
    }
    process->bound_looked = now;
    used = oc_bound_used(&process->bound);
    if (used > process->bound.bytes) {
        oc_job_burst(process->job, "", used, process->bound.bytes);
    }
}

static void tell_joined(data_process_t *process)
{
    oc_channel_message_t message = {.type = OC_CHANNEL_JOINED};

    if (!process->joined_told && oc_job_has_joined(process->job)) {
        process->joined_told = oc_channel_send(process->channel_watch.fd, &message, -1);
    }
}

static void data_process_serve(data_process_t *process)
{
    uint64_t failed_at = 0;

    while (!process->leave) {
        oc_output_catch_up();
        (void) oc_loop_once(&process->loop, oc_job_timeout(process->job));
        oc_job_tick(process->job);
        watch_bound(process);
        tell_joined(process);
        if (oc_job_failed(process->job)) {
            failed_at = 0 == failed_at ? oc_clock_ns() : failed_at;
            process->leave = 0 == oc_job_sessions(process->job)
                             || oc_clock_ns() - failed_at > FAILED_LINGER;
        } else if (process->adopted > 0 && 0 == oc_job_sessions(process->job)
                   && !process->idle_told && !oc_job_awaits(process->job)) {
            tell_idle(process);
        }
    }
}

/* Clients that wait for an answer are told why there will be none. */
static int refuse_all(int channel, const char *reason)
{
    oc_channel_message_t message;
    int fd;

    oc_error("cannot serve a job: %s", reason);
    while (oc_channel_receive(channel, &message, &fd) > 0) {
        if (fd >= 0) {
            oc_refuse(fd, OC_ERR_SYSTEM, reason);
        }
    }
    return EXIT_FAILURE;
}

static int run_job(int channel, const oc_data_process_config_t *begin)
{
    data_process_t process = {.channel_watch = {.fd = channel, .ready = data_process_on_channel}};
    oc_job_config_t config = {
        .net_devices = '\0' != begin->net_devices[0] ? begin->net_devices : NULL,
        .num_aggregators = (unsigned) begin->aggregators,
        .memory_limit = begin->memory_limit,
        .identity = begin->identity,
        .parent = begin->parent,
        .listen = &begin->listen,
        .timeline = begin->timeline,
        .local = begin->local,
        .ask = ask_supervisor,
        .arg = &process,
    };
    char error[256];

    oc_bound_offer_to_kernel();
    if (OC_OK != oc_loop_open(&process.loop)
        || OC_OK != oc_loop_add(&process.loop, &process.channel_watch, EPOLLIN)) {
        return refuse_all(channel, "the server has no descriptors or no memory for events left");
    }
    if (OC_OK != oc_job_open(&process.loop, &config, &process.job, error, sizeof(error))) {
        return refuse_all(channel, error);
    }
    oc_bound_open(&process.bound, begin->memory_limit, (unsigned) begin->aggregators);
    data_process_serve(&process);
    oc_job_close(process.job);
    oc_loop_close(&process.loop);
    close(channel);
    return EXIT_SUCCESS;
}

/* false: the supervisor is gone, or another program. */
static bool hear_begin(int channel, oc_data_process_config_t *config)
{
    struct pollfd event = {.fd = channel, .events = POLLIN};
    static oc_channel_message_t message;
    int fd;

    while (poll(&event, 1, -1) < 0 && EINTR == errno) {
        continue;
    }
    if (oc_channel_receive(channel, &message, &fd) <= 0 || OC_CHANNEL_BEGIN != message.type
        || sizeof(*config) != message.length) {
        return false;
    }
    memcpy(config, message.bytes, sizeof(*config));
    return 0 == strncmp(config->version, PACKAGE_VERSION, sizeof(config->version));
}

int oc_data_process_run(void)
{
    static oc_data_process_config_t config;

    if (!oc_spawned_prepare()) {
        fprintf(stderr, "optcast-server: only the server itself starts data processes\n");
        return EXIT_FAILURE;
    }
    if (!hear_begin(OC_SPAWN_CHANNEL, &config)) {
        return EXIT_FAILURE;
    }
    oc_log_set_level((oc_log_level_t) config.log_level);
    return run_job(OC_SPAWN_CHANNEL, &config);
}

static bool data_process_copy(char *to, size_t size, const char *name, const char *from,
                              char *error, size_t error_size)
{
    if (snprintf(to, size, "%s", NULL != from ? from : "") < (int) size) {
        return true;
    }
    snprintf(error, error_size, "%s is longer than %zu bytes", name, size - 1);
    return false;
}

oc_status_t oc_data_process_configure(const oc_server_settings_t *settings,
                                      oc_data_process_config_t *config, char *error,
                                      size_t error_size)
{
    *config = (oc_data_process_config_t) {
        .version = PACKAGE_VERSION,
        .aggregators = settings->aggregators,
        .memory_limit = settings->memory_limit,
        .log_level = settings->log_level,
        .local = settings->local,
    };
    return data_process_copy(config->parent, sizeof(config->parent), "parent", settings->parent,
                             error, error_size)
                   && data_process_copy(config->timeline, sizeof(config->timeline), "timeline",
                                        settings->timeline, error, error_size)
               ? OC_OK
               : OC_ERR_INVALID;
}
