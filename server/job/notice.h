/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends messages to the processes of a job on their control connections. On the control thread;
 * nothing here blocks or closes a session.
 */
#ifndef OC_SERVER_JOB_NOTICE_H
#define OC_SERVER_JOB_NOTICE_H

#include "server/job/job_types.h"

/* Sets the name of the client for messages. */
#define OC_SESSION_NAME_SIZE 160
void oc_session_name(const oc_session_t *session, char name[OC_SESSION_NAME_SIZE]);
void oc_session_send(oc_session_t *session, const oc_control_t *message);
/*
 * Sends a notice. text is truncated to OC_MAX_TEXT bytes. group: its id, for types that concern a
 * group.
 */
void oc_session_notice(oc_session_t *session, oc_control_type_t type, uint64_t group,
                       oc_status_t status, const char *text);

#endif
