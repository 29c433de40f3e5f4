/* SPDX-License-Identifier: BSD-3-Clause */
/* The control side of the daemon: who is admitted, which jobs there are, and the end. */
#include "config.h"

#include "server/daemon/supervisor.h"

#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/output.h"
#include "net/address.h"
#include "net/admission.h"
#include "net/devices.h"
#include "server/daemon/data_process.h"
#include "server/daemon/hang.h"
#include "server/daemon/job_process.h"
#include "server/daemon/waiting.h"
#include "server/job/gate.h"
#include "server/job/key.h"
#include "server/job/probe.h"

/* So long a job that nobody has joined is left in peace, whoever else comes. */
#define MIN_AGE (10 * OC_SECOND)

typedef struct {
    const oc_server_settings_t *settings;
    oc_data_process_config_t config; /* of each data process; also where this one listens */
    oc_spawn_t spawn;
    oc_cgroup_t cgroup;
    oc_loop_t loop;
    oc_gate_t *gate;
    oc_watch_t signal_watch;
    oc_job_process_t *jobs;
    int num_jobs;
    oc_waiting_t waiting;          /* for a place among them */
    uint64_t drain_deadline;       /* 0: not draining */
    bool announced;                /* that it serves */
    bool stop;
} supervisor_t;

/* In a child: of what the supervisor has, only the standard streams are kept. */
static void supervisor_let_go(supervisor_t *supervisor)
{
    oc_job_process_t *job, *next;
    sigset_t none;

    /* the loop is shared with the parent until it is closed: nothing may be removed from it */
    oc_loop_close(&supervisor->loop);
    DL_FOREACH_SAFE (supervisor->jobs, job, next) {
        oc_job_process_free(job);
    }
    oc_gate_close(supervisor->gate);
    supervisor->gate = NULL;
    close(supervisor->signal_watch.fd);
    oc_spawn_close(&supervisor->spawn);
    oc_cgroup_close(&supervisor->cgroup);
    /* a terminal's interrupt goes to the supervisor, which decides */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * In a process of its own, which ends with this one: the parent's name may take a name server's
 * time, for which neither clients nor signals can wait here, nor the end of this process.
 */
static void probe_parent(supervisor_t *supervisor)
{
    pid_t own = getpid(), pid = fork();

    if (pid < 0) {
        oc_warn("whether the parent server %s can be reached was not tried: no process can be "
                "started", supervisor->settings->parent);
    }
    if (0 != pid) {
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "optcast-probe");
    if (getppid() == own) {
        supervisor_let_go(supervisor);
        oc_probe_run(supervisor->settings->parent);
    }
    _exit(EXIT_SUCCESS);
}

static oc_job_process_t *job_start(supervisor_t *supervisor, const oc_hello_t *hello)
{
    oc_job_process_t *job = oc_job_process_start(&supervisor->loop, hello, &supervisor->spawn,
                                                 &supervisor->cgroup, &supervisor->config);

    if (NULL != job) {
        DL_APPEND(supervisor->jobs, job);
        supervisor->num_jobs++;
    }
    return job;
}

static oc_job_process_t *job_find(supervisor_t *supervisor, const uint8_t *id)
{
    oc_job_process_t *job;

    DL_FOREACH (supervisor->jobs, job) {
        if (job->watch.fd >= 0 && 0 == memcmp(job->id, id, OC_JOB_ID_SIZE)) {
            return job;
        }
    }
    return NULL;
}

static bool may_retire(const oc_job_process_t *job, uint64_t now)
{
    return !job->has_joined && job->watch.fd >= 0 && !oc_job_process_retires(job, now)
           && now - job->started_at > MIN_AGE;
}

/* The oldest of those that were told least often: who did not go may be unable to. */
static oc_job_process_t *next_to_retire(const supervisor_t *supervisor, uint64_t now)
{
    oc_job_process_t *job, *next = NULL;

    DL_FOREACH (supervisor->jobs, job) {
        if (may_retire(job, now) && (NULL == next || job->told < next->told)) {
            next = job;
        }
    }
    return next;
}

/*
 * Jobs that nobody has joined give way to others, when they have had time to do so. One for each
 * job that waits; false: there are not as many.
 */
static bool supervisor_make_room(supervisor_t *supervisor, const uint8_t *job_id)
{
    unsigned missing = oc_waiting_jobs(&supervisor->waiting, job_id);
    uint64_t now = oc_clock_ns();
    oc_job_process_t *job;

    DL_FOREACH (supervisor->jobs, job) {
        missing -= missing > 0 && oc_job_process_retires(job, now);
    }
    while (missing > 0 && NULL != (job = next_to_retire(supervisor, now))) {
        oc_job_process_retire(job);
        missing--;
    }
    return 0 == missing;
}

static bool is_full(const supervisor_t *supervisor)
{
    return supervisor->num_jobs >= supervisor->settings->max_jobs;
}

static void say_full(const supervisor_t *supervisor, char *reason, size_t reason_size)
{
    snprintf(reason, reason_size, "the server has %d jobs, which is its max-jobs",
             supervisor->num_jobs);
}

/* A client of a job that is there, or for which there is room. */
static bool hand_over(supervisor_t *supervisor, oc_job_process_t *job, int fd,
                      const oc_hello_t *hello, const uint8_t *bytes, size_t length, char *reason,
                      size_t reason_size)
{
    if (NULL == job) {
        job = job_start(supervisor, hello);
    }
    if (NULL == job || job->watch.fd < 0) {
        snprintf(reason, reason_size, "the server cannot start a process for its job");
        return false;
    }
    if (!oc_job_process_adopt(job, fd, bytes, length)) {
        snprintf(reason, reason_size, "the process of its job does not answer");
        return false;
    }
    return true;
}

static bool supervisor_admit(void *arg, int fd, const oc_hello_t *hello, const uint8_t *bytes,
                             size_t length, char *reason, size_t reason_size)
{
    supervisor_t *supervisor = arg;
    oc_job_process_t *job = job_find(supervisor, hello->job_id);

    if (NULL != job && !oc_same_key(job->key, hello->job_key)) {
        snprintf(reason, reason_size, "it has not the key of the job that it names");
        return false;
    }
    if (NULL == job && is_full(supervisor)) {
        say_full(supervisor, reason, reason_size);
        return supervisor_make_room(supervisor, hello->job_id)
               && oc_waiting_add(&supervisor->waiting, fd, hello, bytes, length);
    }
    return hand_over(supervisor, job, fd, hello, bytes, length, reason, reason_size);
}

/* false: there is still no place for it. */
static bool admit_waiting(void *arg, int fd, const oc_hello_t *hello, const uint8_t *bytes,
                          size_t length)
{
    supervisor_t *supervisor = arg;
    char reason[256];

    if (NULL == job_find(supervisor, hello->job_id) && is_full(supervisor)) {
        return false;
    }
    if (!supervisor_admit(supervisor, fd, hello, bytes, length, reason, sizeof(reason))) {
        oc_refuse(fd, OC_ERR_REFUSED, reason);
    }
    return true;
}

static void refuse_waiting(supervisor_t *supervisor, bool all)
{
    char reason[128] = "the server is going to stop";

    if (!all) {
        say_full(supervisor, reason, sizeof(reason));
    }
    oc_waiting_refuse(&supervisor->waiting, all, reason);
}

static void reap(supervisor_t *supervisor)
{
    oc_job_process_t *job, *next;
    struct rusage usage;
    pid_t pid;
    int status;

    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
        DL_FOREACH_SAFE (supervisor->jobs, job, next) {
            if (job->pid == pid) {
                DL_DELETE(supervisor->jobs, job);
                supervisor->num_jobs--;
                oc_job_process_ended(job, &supervisor->cgroup, status, &usage);
            }
        }
    }
    oc_waiting_serve(&supervisor->waiting, admit_waiting, supervisor);
}

/* No new clients; running jobs have the rest of the drain time. A second signal ends it. */
static void supervisor_drain(supervisor_t *supervisor)
{
    oc_job_process_t *job;

    if (0 != supervisor->drain_deadline) {
        supervisor->stop = true;
        return;
    }
    supervisor->drain_deadline =
        oc_clock_ns() + (uint64_t) supervisor->settings->drain_timeout * OC_SECOND;
    oc_gate_close(supervisor->gate);
    supervisor->gate = NULL;
    refuse_waiting(supervisor, true);
    DL_FOREACH (supervisor->jobs, job) {
        oc_job_process_drain(job);
    }
    if (NULL != supervisor->jobs) {
        oc_info("told to stop: running jobs have %d seconds", supervisor->settings->drain_timeout);
    }
}

static void on_signal(oc_watch_t *watch, uint32_t events)
{
    supervisor_t *supervisor =
        (supervisor_t *) ((char *) watch - offsetof(supervisor_t, signal_watch));
    struct signalfd_siginfo info;

    (void) events;
    if (sizeof(info) != read(watch->fd, &info, sizeof(info))) {
        return;
    }
    if (SIGCHLD == info.ssi_signo) {
        reap(supervisor);
    } else {
        supervisor_drain(supervisor);
    }
}

/* Every client takes a descriptor, and the usual soft limit is for programs that use select. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (0 == getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static oc_status_t watch_signals(supervisor_t *supervisor)
{
    sigset_t set;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    supervisor->signal_watch =
        (oc_watch_t) {.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), .ready = on_signal};
    return supervisor->signal_watch.fd < 0
               ? OC_ERR_SYSTEM
               : oc_loop_add(&supervisor->loop, &supervisor->signal_watch, EPOLLIN);
}

static oc_server_status_t status_of(void *arg)
{
    static const char release[] = PACKAGE_VERSION;
    const supervisor_t *supervisor = arg;
    const oc_server_settings_t *settings = supervisor->settings;

    return (oc_server_status_t) {
        .version_min = OC_PROTOCOL_VERSION_MIN, .version_max = OC_PROTOCOL_VERSION_MAX,
        .aggregators = (uint16_t) settings->aggregators, .jobs = (uint32_t) supervisor->num_jobs,
        .max_jobs = (uint32_t) settings->max_jobs, .memory_limit = settings->memory_limit,
        .release = {(const uint8_t *) release, sizeof(release) - 1}};
}

static oc_status_t start_listening(supervisor_t *supervisor, char *error, size_t error_size)
{
    char interface[IF_NAMESIZE];
    oc_sockaddr_t *address = &supervisor->config.listen;
    oc_host_port_t name;
    oc_status_t status;
    int listening;

    status = oc_host_port_parse(supervisor->settings->listen, &name, error, error_size);
    if (OC_OK == status) {
        status = oc_resolve(&name, address, error, error_size);
    }
    if (OC_OK == status) {
        if (oc_interface_of(address, interface, sizeof(interface))) {
            oc_devices_of(interface, "/sys", supervisor->config.net_devices,
                          sizeof(supervisor->config.net_devices));
        }
        listening = oc_listen(address, error, error_size);
        status = listening < 0 ? OC_ERR_SYSTEM : OC_OK;
    }
    if (OC_OK == status) {
        status = oc_gate_open(&supervisor->loop, listening, OC_GATE_DAEMON, supervisor_admit,
                              supervisor, &supervisor->gate, error, error_size);
    }
    if (OC_OK == status) {
        oc_gate_answer(supervisor->gate, status_of);
    }
    return status;
}

static bool supervisor_is_leaf(const supervisor_t *supervisor)
{
    return NULL != supervisor->settings->parent && '\0' != supervisor->settings->parent[0];
}

/* A wrong text is an error; that nobody is there may change. */
static oc_status_t check_parent(const supervisor_t *supervisor, char *error, size_t error_size)
{
    const char *parent = supervisor->settings->parent;
    char reason[320];
    oc_host_port_t name;

    if (!supervisor_is_leaf(supervisor)) {
        return OC_OK;
    }
    if (OC_OK != oc_host_port_parse(parent, &name, reason, sizeof(reason))) {
        snprintf(error, error_size, "parent: %s", reason);
        return OC_ERR_INVALID;
    }
    if (0 == name.port) {
        snprintf(error, error_size, "parent: \"%s\" has the port 0, and nobody listens there",
                 parent);
        return OC_ERR_INVALID;
    }
    return OC_OK;
}

static oc_status_t make_identity(supervisor_t *supervisor)
{
    uint64_t *identity = &supervisor->config.identity;

    while (0 == *identity) {
        if (sizeof(*identity) != getrandom(identity, sizeof(*identity), 0)) {
            return OC_ERR_SYSTEM;
        }
    }
    return OC_OK;
}

/* Tried again in every round: a program that is to read this may come to it later. */
static void announce(supervisor_t *supervisor)
{
    char address[128], line[192];

    if (!supervisor->announced) {
        oc_sockaddr_text(&supervisor->config.listen, address, sizeof(address));
        snprintf(line, sizeof(line), "optcast-server: ready on %s\n", address);
        supervisor->announced = oc_output_write(STDOUT_FILENO, line, strlen(line));
    }
}

static void look_for_hangs(supervisor_t *supervisor)
{
    oc_job_process_t *job;

    DL_FOREACH (supervisor->jobs, job) {
        oc_hang_look(job, oc_sockaddr_port(&supervisor->config.listen));
    }
}

/* Clients that wait for a place are refused before they give up, which leaves half a second. */
static int supervisor_timeout_of(const supervisor_t *supervisor)
{
    int timeout = NULL != supervisor->gate ? oc_gate_timeout(supervisor->gate) : 1000;

    return supervisor->waiting.count > 0 && timeout > 100 ? 100 : timeout;
}

static void supervisor_serve(supervisor_t *supervisor)
{
    while (!supervisor->stop) {
        announce(supervisor);
        oc_output_catch_up();
        (void) oc_loop_once(&supervisor->loop, supervisor_timeout_of(supervisor));
        look_for_hangs(supervisor);
        refuse_waiting(supervisor, false);
        if (NULL != supervisor->gate) {
            oc_gate_tick(supervisor->gate);
        }
        if (0 != supervisor->drain_deadline
            && (NULL == supervisor->jobs || oc_clock_ns() > supervisor->drain_deadline)) {
            supervisor->stop = true;
        }
    }
}

/* Of all jobs once, and not of each. */
static void try_filter(void)
{
    int error = oc_admission_try();

    if (0 != error) {
        oc_warn("the data ports of jobs will be open to every host that reaches them, because "
                "connections cannot be filtered: %s%s", strerror(error),
                oc_admission_hint(error));
    }
}

/* What bounds the memory of jobs, once. */
static void open_cgroup(supervisor_t *supervisor)
{
    char reason[PATH_MAX + 256] = "it is switched off";

    if (OC_CGROUP_OFF != supervisor->settings->cgroup
        && oc_cgroup_open(&supervisor->cgroup, reason, sizeof(reason))) {
        oc_info("the memory of each job's process is bounded by RLIMIT_DATA and a cgroup below %s",
                supervisor->cgroup.path);
    } else {
        oc_info("the memory of each job's process is bounded by RLIMIT_DATA, without a cgroup: %s",
                reason);
    }
}

/* Data processes end with their channel; PR_SET_PDEATHSIG sees to those that do not. */
static void close_jobs(supervisor_t *supervisor)
{
    oc_job_process_t *job, *next;

    DL_FOREACH_SAFE (supervisor->jobs, job, next) {
        oc_warn("a job was still running, process %d", (int) job->pid);
        oc_job_process_free(job);
    }
    oc_gate_close(supervisor->gate);
    close(supervisor->signal_watch.fd);
    oc_spawn_close(&supervisor->spawn);
    oc_cgroup_close(&supervisor->cgroup);
    oc_loop_close(&supervisor->loop);
}

static oc_status_t supervisor_open_all(supervisor_t *supervisor, char *error, size_t error_size)
{
    oc_status_t status =
        oc_data_process_configure(supervisor->settings, &supervisor->config, error, error_size);

    if (OC_OK != status) {
        return status;
    }
    if (OC_OK != oc_loop_open(&supervisor->loop) || OC_OK != watch_signals(supervisor)
        || OC_OK != make_identity(supervisor) || !oc_spawn_open(&supervisor->spawn)) {
        snprintf(error, error_size, "the system lacks what a server needs (%s): raise the limits for "
                 "open files and memory, and see that /proc is mounted", strerror(errno));
        return OC_ERR_SYSTEM;
    }
    status = check_parent(supervisor, error, error_size);
    return OC_OK == status ? start_listening(supervisor, error, error_size) : status;
}

int oc_supervisor_run(const oc_server_settings_t *settings)
{
    supervisor_t supervisor = {.settings = settings, .loop.epoll_fd = -1, .spawn.program = -1,
                               .cgroup.folder = -1};
    char error[512];

    raise_descriptor_limit();
    if (OC_OK != supervisor_open_all(&supervisor, error, sizeof(error))) {
        fprintf(stderr, "optcast-server: %s\n", error);
        oc_loop_close(&supervisor.loop);
        return EXIT_FAILURE;
    }
    announce(&supervisor);
    try_filter();
    open_cgroup(&supervisor);
    if (supervisor_is_leaf(&supervisor)) {
        probe_parent(&supervisor);
    }
    supervisor_serve(&supervisor);
    close_jobs(&supervisor);
    return EXIT_SUCCESS;
}
