/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection of a leaf to its parent server. In a job without a parent the functions do
 * nothing. On the control thread; nothing blocks. Messages from the parent become events, so that
 * this file knows nothing of clients.
 */
#ifndef OC_SERVER_JOB_PARENT_H
#define OC_SERVER_JOB_PARENT_H

#include "server/job/job_types.h"

/*
 * All have to be set. They come from the loop, and from inside of oc_parent_greet, oc_parent_tick
 * and oc_parent_lost; all functions but oc_parent_close may be called meanwhile. Pointers are good
 * during the call.
 */
typedef struct {
    /* It serves the job: clients may be told so. Once. */
    void (*welcomed)(oc_job_server_t *job);
    /* It does not, and is not going to: why not. Nothing follows. */
    void (*refused)(oc_job_server_t *job, oc_status_t status, const char *reason);
    /* It did, and no longer does: why not. Nothing follows. */
    void (*lost)(oc_job_server_t *job, oc_status_t status, const char *reason);
    /* A group is known there now, by this handle. */
    void (*joined)(oc_job_server_t *job, const oc_joined_t *joined);
    /* A group cannot go on there. */
    void (*group_refused)(oc_job_server_t *job, uint64_t group, oc_status_t status,
                          const char *reason);
    /* It asks whether the job is alive: oc_parent_pong answers, when the job has found out. */
    void (*pinged)(oc_job_server_t *job, uint32_t number);
    /* It needs the job's place if no process has joined a group. */
    void (*retire)(oc_job_server_t *job);
} oc_parent_events_t;

/*
 * Begins to resolve the parent's name. An error sets a sentence in error. events must outlive the
 * connection.
 */
oc_status_t oc_parent_open(oc_job_server_t *job, const oc_parent_events_t *events, char *error,
                           size_t error_size);
/* In the name of the job that this process says it is of. Only the first call counts. */
void oc_parent_greet(oc_job_server_t *job, const oc_hello_t *hello);
/* OC_OK: it serves the job, or none is needed. OC_IN_PROGRESS. An error: *reason says why not. */
oc_status_t oc_parent_status(const oc_job_server_t *job, const char **reason);
uint64_t oc_parent_identity(const oc_job_server_t *job);
void oc_parent_join(oc_job_server_t *job, const oc_registered_group_t *group);
void oc_parent_leave(oc_job_server_t *job, const oc_registered_group_t *group);
/* Sends a PING to the parent. To be called as often as clients send PINGs to this server. */
void oc_parent_ping(oc_job_server_t *job);
void oc_parent_tick(oc_job_server_t *job);
/* The answer to its PING. */
void oc_parent_pong(oc_job_server_t *job, uint32_t number);
/* To be called when UCX has lost the parent. */
void oc_parent_lost(oc_job_server_t *job);
/* The job has failed: the other leaves hear why. No event comes of it; if it served, no more do. */
void oc_parent_give_up(oc_job_server_t *job, oc_status_t status, const char *text);
/* Says BYE if it may still be heard; frees what oc_parent_open made, also if that failed. */
void oc_parent_close(oc_job_server_t *job);

#endif
