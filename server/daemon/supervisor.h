/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's first process: it speaks to strangers, checks who belongs to which job, starts
 * one data process per job and hands it the connections. It never touches UCX.
 */
#ifndef OC_SERVER_DAEMON_SUPERVISOR_H
#define OC_SERVER_DAEMON_SUPERVISOR_H

#include "base/settings.h"

/*
 * Serves until SIGTERM or SIGINT and returns the exit status; prints
 * "optcast-server: ready on ADDR:PORT" to stdout when it does. The processes that it starts end
 * in it.
 */
int oc_supervisor_run(const oc_server_settings_t *settings);

#endif
