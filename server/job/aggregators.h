/* SPDX-License-Identifier: BSD-3-Clause */
/* The aggregators of a job, all of them together. On the control thread. */
#ifndef OC_SERVER_JOB_AGGREGATORS_H
#define OC_SERVER_JOB_AGGREGATORS_H

#include "server/job/job_types.h"

/* First: decides on which processors they are going to run, and logs it. Never fails. */
void oc_aggregators_place(oc_job_server_t *job);

/*
 * Starts their threads, which answer to the job's mailbox; its admission guards them. On failure a
 * sentence in error, and those that run already stay until oc_aggregators_close.
 */
oc_status_t oc_aggregators_open(oc_job_server_t *job, char *error, size_t error_size);

/* Ends their threads and waits for them. Also before oc_aggregators_open. */
void oc_aggregators_close(oc_job_server_t *job);

/*
 * Posts a copy of a command without data and member to each aggregator. Never blocks. If memory
 * has run out, the process ends, since the aggregators would no longer agree.
 */
void oc_aggregators_post(oc_job_server_t *job, const oc_command_t *command);

#endif
