/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads and loop of a server inside an MPI process. */
#include "server/job/embedded.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/output.h"
#include "base/threads.h"
#include "net/loop.h"
#include "server/job/gate.h"
#include "server/job/job.h"
#include "server/job/key.h"

struct oc_embedded {
    uint8_t job_id[OC_JOB_ID_SIZE], job_key[OC_JOB_KEY_SIZE];
    oc_loop_t loop;
    oc_gate_t *gate;
    oc_job_server_t *job;
    oc_watch_t stop_watch;
    bool stop;
    atomic_bool failed, used;
    uint16_t port;
    unsigned open_sockets;
    pthread_t thread;
    bool has_thread;
};

static bool embedded_admit(void *arg, int fd, const oc_hello_t *hello, const uint8_t *bytes,
                           size_t length, char *reason, size_t reason_size)
{
    oc_embedded_t *server = arg;

    if (0 != memcmp(hello->job_id, server->job_id, OC_JOB_ID_SIZE)
        || !oc_same_key(hello->job_key, server->job_key)) {
        snprintf(reason, reason_size, "it does not belong to this job");
        return false;
    }
    oc_job_adopt(server->job, fd, bytes, length);
    return true;
}

static void on_stop(oc_watch_t *watch, uint32_t events)
{
    oc_embedded_t *server =
        (oc_embedded_t *) ((char *) watch - offsetof(oc_embedded_t, stop_watch));

    (void) events;
    server->stop = true;
}

/* In milliseconds; -1: until something happens. */
static int embedded_timeout_of(const oc_embedded_t *server)
{
    int job = oc_job_timeout(server->job), gate = oc_gate_timeout(server->gate);

    if (0 == oc_job_sessions(server->job) && !oc_gate_has_strangers(server->gate)) {
        return -1;
    }
    return job < gate ? job : gate;
}

static void *embedded_run(void *arg)
{
    oc_embedded_t *server = arg;

    oc_job_enter(server->job);
    while (!server->stop) {
        oc_output_catch_up();
        (void) oc_loop_once(&server->loop, embedded_timeout_of(server));
        oc_gate_tick(server->gate);
        oc_job_tick(server->job);
        atomic_store_explicit(&server->used, oc_job_sessions(server->job) > 0, memory_order_relaxed);
        if (oc_job_failed(server->job)) {
            atomic_store(&server->failed, true);
        }
    }
    return NULL;
}

/* IPv6 sockets serve IPv4 too; hosts without IPv6 get an IPv4 one. */
oc_status_t oc_embedded_listen(bool all_interfaces, oc_listening_t *listening, char *error, size_t error_size)
{
    oc_sockaddr_t address = {.length = sizeof(struct sockaddr_in6)};
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) &address.address;
    struct sockaddr_in *in = (struct sockaddr_in *) &address.address;
    char why_not_both[128];

    oc_fd_guard();
    listening->fd = -1;
    if (all_interfaces) {
        in6->sin6_family = AF_INET6;
        listening->fd = oc_listen(&address, why_not_both, sizeof(why_not_both));
    }
    if (listening->fd < 0) {
        memset(&address.address, 0, sizeof(address.address));
        address.length = sizeof(*in);
        in->sin_family = AF_INET;
        in->sin_addr.s_addr = htonl(all_interfaces ? INADDR_ANY : INADDR_LOOPBACK);
        listening->fd = oc_listen(&address, error, error_size);
    }
    /* the port is at the same place in both structures */
    listening->port = ntohs(in->sin_port);
    return listening->fd < 0 ? OC_ERR_SYSTEM : OC_OK;
}

static oc_status_t open_gate(oc_embedded_t *server, const oc_embedded_config_t *config, char *error, size_t error_size)
{
    oc_listening_t listening = {.fd = -1};
    oc_status_t status = OC_OK;

    if (NULL != config->listening) {
        listening = *config->listening;
    } else {
        status = oc_embedded_listen(config->all_interfaces, &listening, error, error_size);
    }
    server->port = listening.port;
    return OC_OK == status ? oc_gate_open(&server->loop, listening.fd, OC_GATE_EMBEDDED, embedded_admit, server,
                                          &server->gate, error, error_size) : status;
}

static oc_status_t open_loop(oc_embedded_t *server, char *error, size_t error_size)
{
    server->stop_watch = (oc_watch_t) {.fd = oc_fd_make(eventfd(0, EFD_CLOEXEC)), .ready = on_stop};
    if (server->stop_watch.fd < 0 || OC_OK != oc_loop_open(&server->loop)
        || OC_OK != oc_loop_add(&server->loop, &server->stop_watch, EPOLLIN)) {
        snprintf(error, error_size, "no descriptors are left");
        return OC_ERR_SYSTEM;
    }
    return OC_OK;
}

static oc_status_t embedded_start_thread(oc_embedded_t *server, char *error, size_t error_size)
{
    oc_status_t status = oc_thread_start(&server->thread, "optcast-control", embedded_run, server);

    server->has_thread = OC_OK == status;
    if (OC_OK != status) {
        snprintf(error, error_size, "no thread can be started");
    }
    return status;
}

/* It cannot be handed on. */
static void close_unused(const oc_embedded_config_t *config)
{
    if (NULL != config->listening) {
        oc_fd_close(config->listening->fd);
    }
}

static oc_status_t embedded_open_parts(oc_embedded_t *server, const oc_embedded_config_t *config,
                                       char *error, size_t error_size)
{
    oc_job_config_t job_config = {.net_devices = config->net_devices, .num_aggregators = 1,
                                  .memory_limit = config->memory_limit,
                                  .widen = true, .timeline = config->timeline,
                                  .local = config->local};
    oc_status_t status;

    status = open_loop(server, error, error_size);
    if (OC_OK == status) {
        status = open_gate(server, config, error, error_size);
    } else {
        close_unused(config);
    }
    if (OC_OK == status) {
        status = oc_job_open(&server->loop, &job_config, &server->job, error, error_size);
    }
    if (OC_OK == status) {
        server->open_sockets = oc_job_open_sockets(server->job);
        status = embedded_start_thread(server, error, error_size);
    }
    return status;
}

oc_status_t oc_embedded_open(const oc_embedded_config_t *config, oc_embedded_t **result,
                             char *error, size_t error_size)
{
    oc_embedded_t *server = calloc(1, sizeof(*server));
    oc_status_t status;

    oc_fd_guard();
    if (NULL == server) {
        close_unused(config);
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    server->loop.epoll_fd = -1;
    memcpy(server->job_id, config->job_id, OC_JOB_ID_SIZE);
    memcpy(server->job_key, config->job_key, OC_JOB_KEY_SIZE);
    status = embedded_open_parts(server, config, error, error_size);
    if (OC_OK != status) {
        oc_embedded_close(server);
        return status;
    }
    *result = server;
    return OC_OK;
}

uint16_t oc_embedded_port(const oc_embedded_t *server)
{
    return server->port;
}

void oc_embedded_close(oc_embedded_t *server)
{
    uint64_t one = 1;

    if (NULL == server) {
        return;
    }
    if (server->has_thread) {
        while (sizeof(one) != write(server->stop_watch.fd, &one, sizeof(one))) {
            continue;
        }
        pthread_join(server->thread, NULL);
    }
    oc_job_close(server->job);
    oc_gate_close(server->gate);
    oc_loop_close(&server->loop);
    if (server->stop_watch.fd >= 0) {
        oc_fd_close(server->stop_watch.fd);
    }
    free(server);
}

unsigned oc_embedded_open_sockets(const oc_embedded_t *server)
{
    return server->open_sockets;
}

bool oc_embedded_failed(const oc_embedded_t *server)
{
    return atomic_load(&server->failed);
}

bool oc_embedded_is_used(const oc_embedded_t *server)
{
    return atomic_load_explicit(&server->used, memory_order_relaxed);
}
