/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server inside an MPI process: the same job, gate and protocol as in the daemon, on one
 * thread for the control side and one for each aggregator. Only processes with the job's key
 * get in.
 */
#ifndef OC_SERVER_JOB_EMBEDDED_H
#define OC_SERVER_JOB_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "base/status.h"

typedef struct oc_embedded oc_embedded_t;

/* A socket for the control side of a server that may come later. */
typedef struct {
    int fd;                           /* -1: none */
    uint16_t port;
} oc_listening_t;

typedef struct {
    const uint8_t *job_id, *job_key;  /* OC_JOB_ID_SIZE and OC_JOB_KEY_SIZE bytes, copied */
    bool all_interfaces;              /* false: reachable on this host only */
    const oc_listening_t *listening;  /* taken over, also on failure; NULL: it makes one */
    const char *net_devices;          /* as in oc_job_config_t; needed during oc_embedded_open */
    size_t memory_limit;
    const char *timeline;             /* as in oc_job_config_t; must stay */
    oc_local_settings_t local;
} oc_embedded_config_t;

/*
 * Clients may connect before there is a server, which they wait for then. all_interfaces as above. An error sets a sentence in
 * error.
 */
oc_status_t oc_embedded_listen(bool all_interfaces, oc_listening_t *listening, char *error, size_t error_size);

/* Starts the threads. An error sets a sentence in error. */
oc_status_t oc_embedded_open(const oc_embedded_config_t *config, oc_embedded_t **server,
                             char *error, size_t error_size);

/* Ends the threads; does not wait for clients. NULL is allowed. */
void oc_embedded_close(oc_embedded_t *server);

/* TCP port of the control side. */
uint16_t oc_embedded_port(const oc_embedded_t *server);

/* Whether a process is connected to it. Any thread. */
bool oc_embedded_is_used(const oc_embedded_t *server);

/* Returns the number of sockets to which hosts outside the job can connect, too. */
unsigned oc_embedded_open_sockets(const oc_embedded_t *server);

/*
 * Whether the job has failed, because a client has vanished: the server refuses all clients then.
 * Any thread.
 */
bool oc_embedded_failed(const oc_embedded_t *server);

#endif
