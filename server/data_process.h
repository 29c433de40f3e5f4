/* SPDX-License-Identifier: BSD-3-Clause */
/* The process that serves one job: UCX, the aggregators and the job's memory live here only. */
#ifndef OC_SERVER_DATA_PROCESS_H
#define OC_SERVER_DATA_PROCESS_H

#include <stdint.h>

#include "base/settings.h"
#include "net/address.h"

/*
 * Runs until the job is over; returns the exit status. channel leads to the supervisor, with
 * whom the process ends. net_devices: NULL for any. listen: where the server does. identity: of the
 * server, not 0.
 */
int oc_data_process_run(int channel, const oc_server_settings_t *settings,
                        const char *net_devices, const oc_sockaddr_t *listen, uint64_t identity);

#endif
