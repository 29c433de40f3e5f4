/* SPDX-License-Identifier: BSD-3-Clause */
/* The aggregators of a job: where they run, their start and end, and what all are told. */
#include "server/job/aggregators.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/threads.h"

void oc_aggregators_place(oc_job_server_t *job)
{
    oc_binding_config_t config = {
        .net_devices = job->config.net_devices,
        .num_threads = job->config.num_aggregators,
        .widen = job->config.widen,
        .near = OC_BIND_AUTO == job->config.local.bind,
    };

    job->binding = oc_binding_open(&config);
}

/*
 * Those that share a processor would keep it from each other. Where each has one, the control
 * thread and what else runs here may still wait for one. Sets of processors near the device are no
 * smaller than their aggregators are many, so it is the process's that counts. Inside somebody
 * else's process he knows better how many there are.
 */
static bool may_be_busy(const oc_job_server_t *job)
{
    unsigned aggregators = job->config.num_aggregators, processors = oc_processors();

    if (OC_POLLING_BUSY != job->config.local.polling || job->config.widen
        || aggregators < processors) {
        return OC_POLLING_BUSY == job->config.local.polling;
    }
    if (aggregators > processors) {
        oc_warn("polling is adaptive, not busy: %u aggregators would keep %u processors from each "
                "other; use fewer of them", aggregators, processors);
        return false;
    }
    oc_warn("with busy polling, aggregators take %u of %u processors, and nothing is left for "
            "others: use adaptive polling, or fewer of them", aggregators, processors);
    return true;
}

oc_status_t oc_aggregators_open(oc_job_server_t *job, char *error, size_t error_size)
{
    oc_aggregator_config_t config = {
        .net_devices = job->config.net_devices,
        .admission = job->admission,
        .memory_limit = job->config.memory_limit / job->config.num_aggregators,
        .huge_pages = job->config.local.huge_pages,
        .busy = may_be_busy(job),
        .binding = job->binding,
        .timeline = job->config.timeline,
        .control = &job->mailbox,
    };
    oc_status_t status;

    /* what they are made of, too, where the calling thread is none of somebody else's */
    if (!job->config.widen) {
        oc_binding_enter_memory(job->binding);
    }
    for (config.index = 0; config.index < job->config.num_aggregators; config.index++) {
        status = oc_aggregator_open(&config, &job->aggregators[config.index], error, error_size);
        if (OC_OK != status) {
            return status;
        }
        job->num_aggregators++;
    }
    return OC_OK;
}

void oc_aggregators_close(oc_job_server_t *job)
{
    for (unsigned i = 0; i < job->num_aggregators; i++) {
        oc_aggregator_close(job->aggregators[i]);
    }
    job->num_aggregators = 0;
    oc_binding_close(job->binding);
    job->binding = NULL;
}

void oc_aggregators_post(oc_job_server_t *job, const oc_command_t *command)
{
    for (unsigned i = 0; i < job->num_aggregators; i++) {
        oc_command_t *copy = oc_command_new(command->type, NULL, 0);

        if (NULL == copy) {
            oc_error("out of memory");
            abort();
        }
        copy->client = command->client;
        copy->handle = command->handle;
        copy->token = command->token;
        copy->eager_window = command->eager_window;
        oc_aggregator_post(job->aggregators[i], copy);
    }
}
