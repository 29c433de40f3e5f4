/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which hosts may connect to the aggregators' UCX ports. On the control thread; nothing
 * blocks.
 */
#ifndef OC_SERVER_JOB_HOSTS_H
#define OC_SERVER_JOB_HOSTS_H

#include "server/job/job_types.h"

/*
 * gathered is called from the loop when hosts that had to wait are admitted. oc_hosts_close has to
 * be called in any case.
 */
oc_status_t oc_hosts_open(oc_job_server_t *job, void (*gathered)(oc_job_server_t *job), char *error,
                          size_t error_size);
void oc_hosts_close(oc_job_server_t *job);
/*
 * Admits the peer of a connected socket, and the addresses that it says its host has. With
 * hosts_wait, that happens a moment later.
 */
void oc_hosts_admit(oc_job_server_t *job, int fd, const oc_origins_t *origins);

#endif
