/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may connect to the aggregators. On the control thread. */
#ifndef OC_SERVER_JOB_HOSTS_H
#define OC_SERVER_JOB_HOSTS_H

#include "server/job/job_types.h"

/*
 * gathered: called from the loop when hosts that had to wait are admitted. On failure a sentence in
 * error. Closed by oc_hosts_close, whatever became of it.
 */
oc_status_t oc_hosts_open(oc_job_server_t *job, void (*gathered)(oc_job_server_t *job), char *error,
                          size_t error_size);
void oc_hosts_close(oc_job_server_t *job);
/* The peer of a connected socket, and what it says of its host. With hosts_wait: in a moment. */
void oc_hosts_admit(oc_job_server_t *job, int fd, const oc_origins_t *origins);

#endif
