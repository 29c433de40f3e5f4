/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the simulated servers' loops. */
#include "tests/simulation/service.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "net/socket.h"
#include "server/job/gate.h"
#include "server/aggregator/aggregator_types.h"
#include "server/job/job_types.h"
#include "tests/multicast/memory.h"
#include "tests/simulation/messages.h"
#include "tests/simulation/sockets.h"

/* A failed one stays so long for its clients to read why, as the daemon's does. */
#define FAILED_LINGER OC_SECOND

#define MOST_SERVICES 64

typedef struct {
    process_t *process;
    unsigned aggregators;
    oc_loop_t loop;
    oc_gate_t *gate;
    oc_job_server_t *job;
    uint64_t drain_until;        /* 0: it does not drain */
} service_t;

static service_t *services[MOST_SERVICES];
static unsigned num_services;

static bool service_admit(void *arg, int fd, const oc_hello_t *hello, const uint8_t *bytes, size_t length, char *reason,
                          size_t reason_size)
{
    (void) hello;
    (void) reason;
    (void) reason_size;
    oc_job_adopt(((service_t *) arg)->job, fd, bytes, length);
    return true;
}

static void service_open(service_t *service)
{
    oc_sockaddr_t address = {.length = sizeof(struct sockaddr_in)};
    struct sockaddr_in *in = (struct sockaddr_in *) &address.address;
    oc_server_settings_t settings;
    oc_job_config_t config = {.num_aggregators = service->aggregators, .identity = 1 + world_random(UINT64_MAX)};
    char error[256];
    int fd;

    oc_settings_default(&oc_server_settings_table, &settings);
    config.memory_limit = settings.memory_limit;
    config.local = settings.local;
    in->sin_family = AF_INET;
    in->sin_port = htons(SERVICE_PORT);
    fd = oc_listen(&address, error, sizeof(error));
    if (fd < 0 || OC_OK != oc_loop_open(&service->loop)
        || OC_OK != oc_gate_open(&service->loop, fd, OC_GATE_DAEMON, service_admit, service, &service->gate, error,
                                 sizeof(error))
        || OC_OK != oc_job_open(&service->loop, &config, &service->job, error, sizeof(error))) {
        world_fail("a server cannot start: %s", error);
    }
}

/* Whether it has to go on. */
static bool service_stays(const service_t *service, uint64_t *failed)
{
    if (oc_job_failed(service->job)) {
        *failed = 0 == *failed ? oc_clock_ns() : *failed;
        return oc_job_sessions(service->job) > 0 && oc_clock_ns() - *failed < FAILED_LINGER;
    }
    if (0 == service->drain_until) {
        return true;
    }
    return oc_job_sessions(service->job) > 0 && oc_clock_ns() < service->drain_until;
}

static void *service_run(void *arg)
{
    service_t *service = arg;
    bool draining = false;
    uint64_t failed = 0;
    int job, gate;

    service_open(service);
    while (service_stays(service, &failed)) {
        if (0 != service->drain_until && !draining) {
            draining = true;
            oc_job_drain(service->job, "the server is going to stop");
        }
        job = oc_job_timeout(service->job);
        gate = oc_gate_timeout(service->gate);
        gate = gate < 20 ? gate : 20;
        (void) oc_loop_once(&service->loop, job < gate ? job : gate);
        oc_gate_tick(service->gate);
        oc_job_tick(service->job);
    }
    oc_gate_close(service->gate);
    oc_job_close(service->job);
    oc_loop_close(&service->loop);
    service->job = NULL;
    process_end(service->process);
    workers_drop(service->process);
    descriptors_drop(service->process);
    return NULL;
}

process_t *service_start(unsigned host, unsigned aggregators)
{
    service_t *service = memory_new(sizeof(*service));
    char name[24];

    if (MOST_SERVICES == num_services) {
        world_fail("there are too many servers");
    }
    snprintf(name, sizeof(name), "server %u.%u", host, num_services);
    service->process = process_new(host, name);
    service->aggregators = aggregators;
    services[num_services++] = service;
    fiber_start(service->process, service_run, service);
    return service->process;
}

void service_drain(process_t *process, uint64_t most)
{
    for (unsigned i = 0; i < num_services; i++) {
        if (process == services[i]->process) {
            services[i]->drain_until = world_now() + most;
        }
    }
}

void service_kill(process_t *process)
{
    process_end(process);
    workers_drop(process);
    descriptors_drop(process);
}

static bool service_runs(const service_t *service)
{
    return !service->process->dead && NULL != service->job;
}

bool services_are_idle(void *arg)
{
    (void) arg;
    for (unsigned i = 0; i < num_services; i++) {
        if (service_runs(services[i]) && (services[i]->process->stopped || oc_job_sessions(services[i]->job) > 0)) {
            return false;
        }
    }
    return true;
}

/* Groups that refuse ranks which come too late stay until the next epoch. */
static bool only_refuses(const oc_job_server_t *job)
{
    const oc_registered_group_t *group;

    for (group = job->groups; NULL != group; group = group->hh.next) {
        if (NULL == group->refusal || group->left != group->joined) {
            return false;
        }
    }
    return NULL != job->groups;
}

static void service_check(const service_t *service)
{
    for (unsigned i = 0; i < service->job->num_aggregators; i++) {
        const oc_aggregator_t *aggregator = service->job->aggregators[i];

        if ((NULL != aggregator->groups || 0 != aggregator->pool.used) && !only_refuses(service->job)) {
            world_fail("%s: aggregator %u has %u groups and %zu bytes when all clients have gone", service->process->name, i,
                       HASH_COUNT(aggregator->groups), aggregator->pool.used);
        }
    }
}

void services_check(void)
{
    for (unsigned i = 0; i < num_services; i++) {
        if (service_runs(services[i])) {
            service_check(services[i]);
        }
    }
}
