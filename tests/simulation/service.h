/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers of a simulated world: the gate, the job and the aggregators of optcast-server in one process for each, without
 * its supervisor. Names end with the number of the server.
 */
#ifndef OC_TESTS_SIMULATION_SERVICE_H
#define OC_TESTS_SIMULATION_SERVICE_H

#include "tests/simulation/world.h"

#define SERVICE_PORT 8918

/* Starts a process that listens on SERVICE_PORT of the host. */
process_t *service_start(unsigned host, unsigned aggregators);

/* As by SIGTERM: it sends its clients away, and ends when they have gone, or after so long (ns). */
void service_drain(process_t *process, uint64_t most);

/* As by SIGKILL, or by the loss of the host's power if it is dark. */
void service_kill(process_t *process);

/* Whether no server that runs has clients any more. */
bool services_are_idle(void *arg);

/* Fails the schedule if one that is idle still has groups, but for those that refuse, or memory for chunks. */
void services_check(void);

#endif
