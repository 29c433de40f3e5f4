/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job's vigil: whether multicast that no program of this host has joined arrives at the interface
 * through which a process of the job reaches this server. That process sends it. At most one of a
 * job at a time, and a few of a host, each for a few seconds. On the control thread, which it keeps
 * for as long as the kernel takes to list interfaces, or to read a card's counters: milliseconds, at
 * each of the marks of a test. Nothing here closes a session, and whatever a client asks for, all
 * that it gets is an answer.
 */
#ifndef OC_SERVER_JOB_VIGIL_H
#define OC_SERVER_JOB_VIGIL_H

#include "server/job/job_types.h"

/* WATCH has come: begins, if that may be, and says so. */
void oc_vigil_begin(oc_session_t *session, const oc_lookout_t *lookout);
/* LOOK has come: says what was seen, and ends. */
void oc_vigil_look(oc_session_t *session, uint64_t token);
/* The session goes, and with it what it has begun. */
void oc_vigil_forget(const oc_session_t *session);
/* The job goes, after its sessions. Nothing happens if there is none. */
void oc_vigil_free(oc_job_server_t *job);
/* About once a second: ends one of which nobody wants to know what it has seen, and its rest. */
void oc_vigil_tick(oc_job_server_t *job, uint64_t now);

#endif
