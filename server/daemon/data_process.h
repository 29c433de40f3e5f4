/* SPDX-License-Identifier: BSD-3-Clause */
/* The process that serves one job: UCX, the aggregators and the job's memory live here only. */
#ifndef OC_SERVER_DAEMON_DATA_PROCESS_H
#define OC_SERVER_DAEMON_DATA_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/settings.h"
#include "net/address.h"

/* What it is told by the supervisor, which is the same program. */
typedef struct {
    char version[32];          /* of the program: to be sure of that */
    int aggregators;
    size_t memory_limit;
    int log_level;
    oc_local_settings_t local;
    char parent[320];          /* "": the server is no leaf */
    char timeline[PATH_MAX];   /* prefix; "": none */
    char net_devices[512];     /* "": any */
    oc_sockaddr_t listen;      /* where the server does */
    uint64_t identity;         /* of the server, not 0 */
} oc_data_process_config_t;

/* Fills in all but listen and identity. Fails if a text is too long, with a sentence in error. */
oc_status_t oc_data_process_configure(const oc_server_settings_t *settings,
                                      oc_data_process_config_t *config, char *error,
                                      size_t error_size);

/*
 * In a process that oc_spawn has started: runs until the job is over, and ends with the supervisor.
 * Returns the exit status.
 */
int oc_data_process_run(void);

#endif
