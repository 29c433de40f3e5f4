/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups of a job, their handles and members, on the control side. On the control thread;
 * nothing blocks.
 */
#ifndef OC_SERVER_JOB_REGISTRY_H
#define OC_SERVER_JOB_REGISTRY_H

#include "server/job/job_types.h"

void oc_registry_join(oc_session_t *session, const oc_join_t *join);
void oc_registry_leave(oc_session_t *session, const oc_leave_t *leave);
void oc_registry_forget(oc_session_t *session);
/* All sessions leave the groups of other epochs; some may have joined those of this one before the server heard of it. */
void oc_registry_begin_epoch(oc_job_server_t *job, uint64_t epoch);
void oc_registry_error(oc_job_server_t *job, uint32_t handle, oc_status_t status,
                       const char *text);
/* From the parent: the group's handle there, or why it cannot go on there. */
void oc_registry_above(oc_job_server_t *job, const oc_joined_t *joined);
void oc_registry_error_above(oc_job_server_t *job, uint64_t id, oc_status_t status,
                             const char *text);
void oc_registry_free(oc_job_server_t *job);

#endif
