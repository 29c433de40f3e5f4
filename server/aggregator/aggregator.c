/* SPDX-License-Identifier: BSD-3-Clause */
/* The aggregator's thread: its start, its loop and its end. */
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/threads.h"
#include "server/aggregator/aggregator_check.h"
#include "server/aggregator/aggregator_state.h"
#include "server/aggregator/commands.h"
#include "server/aggregator/server_leftovers.h"
#include "server/aggregator/queue.h"
#include "server/aggregator/requests.h"
#include "server/aggregator/early_sweep.h"

/* How long an aggregator with nothing to do looks around before it sleeps. */
#define SPIN_NS (50 * 1000ull)

/* Nothing is lost before the wait: mail, and messages after arm, make descriptors readable. */
static void sleep_until_event(oc_aggregator_t *aggregator)
{
    struct pollfd fds[] = {{.fd = aggregator->inbox.event_fd, .events = POLLIN},
                           {.events = POLLIN}};

    if (!aggregator->stop && OC_OK == oc_worker_arm(aggregator->worker, &fds[1].fd)) {
        (void) poll(fds, 2, -1);
    }
}

static void *aggregator_run(void *arg)
{
    oc_aggregator_t *aggregator = arg;
    uint64_t idle_since = 0, now;
    bool moved;

    oc_thread_default_arithmetic();
    oc_binding_enter(aggregator->config.binding, aggregator->config.index);
    while (!aggregator->stop) {
        /* also in the middle of work: heartbeats are among the commands */
        if (oc_mailbox_has_mail(&aggregator->inbox)) {
            oc_commands_carry_out(aggregator);
        }
        moved = 0 != oc_worker_progress(aggregator->worker);
        moved = oc_early_sweep(aggregator) || moved;
        if (aggregator->sweeps) {
            aggregator->sweeps = false;
            oc_server_leftovers_sweep(aggregator);
            OC_CHECK(oc_aggregator_check(aggregator));
        }
        if (oc_reduction_feed(aggregator) || moved) {
            idle_since = 0;
            continue;
        }
        if (aggregator->config.busy && NULL != aggregator->groups) {
            continue;
        }
        now = oc_clock_ns();
        if (0 == idle_since) {
            idle_since = now;
        }
        if (now - idle_since < SPIN_NS) {
            sched_yield();
            continue;
        }
        sleep_until_event(aggregator);
        idle_since = 0;
    }
    return NULL;
}

static oc_status_t aggregator_start(oc_aggregator_t *aggregator, char *error, size_t error_size)
{
    oc_status_t status = oc_requests_post(aggregator);
    char name[16];

    if (OC_OK == status) {
        snprintf(name, sizeof(name), "optcast-agg%u", aggregator->config.index);
        status = oc_thread_start(&aggregator->thread, name, aggregator_run, aggregator);
    }
    if (OC_OK != status) {
        snprintf(error, error_size, "cannot start an aggregator: %s", oc_status_string(status));
    }
    return status;
}

oc_status_t oc_aggregator_open(const oc_aggregator_config_t *config, oc_aggregator_t **result,
                               char *error, size_t error_size)
{
    oc_aggregator_t *aggregator;
    oc_status_t status = oc_aggregator_new(config, &aggregator, error, error_size);

    if (OC_OK != status) {
        return status;
    }
    status = aggregator_start(aggregator, error, error_size);
    if (OC_OK != status) {
        oc_aggregator_free(aggregator);
        return status;
    }
    *result = aggregator;
    return OC_OK;
}

static void report(const oc_aggregator_t *aggregator)
{
    if (aggregator->served_groups > 0) {
        oc_info("aggregator %u served %u groups of %u clients, with at most %zu of %zu bytes",
                aggregator->config.index, aggregator->served_groups, aggregator->served_clients,
                aggregator->pool.peak, aggregator->pool.limit);
    }
    if (aggregator->waited > 0 || aggregator->asked > 0) {
        oc_info("aggregator %u was short of memory: %llu collectives waited for it, %llu "
                "contributions were asked for again, at most %zu of %zu bytes were in use",
                aggregator->config.index, aggregator->waited, aggregator->asked,
                aggregator->pool.peak, aggregator->pool.limit);
    }
    if (aggregator->forged > 0) {
        oc_warn("aggregator %u dropped %llu messages that nobody of its job has made",
                aggregator->config.index, aggregator->forged);
    }
}

static void report_dropped(const oc_aggregator_t *aggregator)
{
    if (aggregator->dropped > 0) {
        oc_info("aggregator %u dropped %llu messages of %llu bytes that nobody waited for: they "
                "were for no group, or for one that had ended", aggregator->config.index,
                aggregator->dropped, aggregator->dropped_bytes);
    }
}

void oc_aggregator_close(oc_aggregator_t *aggregator)
{
    oc_command_t *command;

    if (NULL == aggregator) {
        return;
    }
    command = oc_command_new(OC_COMMAND_STOP, NULL, 0);
    if (NULL == command) {
        abort();
    }
    oc_aggregator_post(aggregator, command);
    pthread_join(aggregator->thread, NULL);
    report(aggregator);
    report_dropped(aggregator);
    oc_aggregator_free(aggregator);
}

const void *oc_aggregator_address(const oc_aggregator_t *aggregator, size_t *length)
{
    return oc_worker_address(aggregator->worker, length);
}

void oc_aggregator_post(oc_aggregator_t *aggregator, oc_command_t *command)
{
    oc_mailbox_post(&aggregator->inbox, command);
}
