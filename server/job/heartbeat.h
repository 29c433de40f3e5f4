/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of questions to whoever has to be alive. On the control thread. */
#ifndef OC_SERVER_JOB_HEARTBEAT_H
#define OC_SERVER_JOB_HEARTBEAT_H

#include "server/job/job_types.h"

/* A session has sent this PING. */
void oc_heartbeat_pinged(oc_session_t *session, uint32_t number);
/* The parent has. */
void oc_heartbeat_pinged_above(oc_job_server_t *job, uint32_t number);
/* One of those that a round asks has answered: an aggregator, or whoever config.ask asked. */
void oc_heartbeat_echo(oc_job_server_t *job, uint32_t token);
/* The session ends: nobody answers it. */
void oc_heartbeat_forget(oc_session_t *session);
/* Whether the next round has only to become due. */
bool oc_heartbeat_waits(const oc_job_server_t *job);
/* Begins it if it is. */
void oc_heartbeat_tick(oc_job_server_t *job);

#endif
