/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers that the processes of a job have lost, maybe this one, or that have come back: who hears of one tells the others, which leave and come
 * back with new workers. On the control thread.
 */
#ifndef OC_SERVER_JOB_LOSSES_H
#define OC_SERVER_JOB_LOSSES_H

#include "server/job/job_types.h"

/*
 * A process says that these are lost. If that is news, all others hear it, and if this server is among
 * them, the job ends here.
 */
void oc_losses_hear(oc_job_server_t *job, const oc_loss_t *loss);

/* To a process that has just been welcomed. */
void oc_losses_tell(oc_session_t *session);

/* This server ends while the job goes on: its processes hear that it is lost, and leaves that all is. */
void oc_losses_end(oc_job_server_t *job, const char *reason);

#endif
