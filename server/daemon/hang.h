/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends data processes that hang and have no clients, because they would keep their place among the
 * jobs for ever. One with clients is left alone: these find out by their heartbeats, and somebody
 * may have stopped it on purpose.
 */
#ifndef OC_SERVER_DAEMON_HANG_H
#define OC_SERVER_DAEMON_HANG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "server/daemon/job_process.h"

/*
 * To be called about once a second, also more often. Asks the process now and then whether it is
 * there, and ends one that does not answer in time and has no clients. port: where the
 * server listens.
 */
void oc_hang_look(oc_job_process_t *process, uint16_t port);

/*
 * Whether the process has a TCP connection of this port of its host whose other end has not been
 * closed; also if that cannot be found out.
 */
bool oc_has_connections(pid_t pid, uint16_t port);

#endif
