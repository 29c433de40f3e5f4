/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything a server does for one job: its aggregators, the control connections of its
 * processes (sessions), its groups. The thread that runs the job's loop owns all of it; in
 * the daemon that is the main thread of the job's data process, in the embedded mode a thread
 * of an MPI process.
 */
#ifndef OC_SERVER_JOB_JOB_H
#define OC_SERVER_JOB_JOB_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/settings.h"
#include "net/address.h"
#include "net/loop.h"
#include "protocol/control.h"
#include "server/aggregator/mailbox.h"
#include "server/host/bound.h"

/* By then a job has gone that has been told to retire, if it is to go at all. */
#define OC_RETIRE_TIME (4 * OC_SECOND)

typedef struct oc_job_server oc_job_server_t;

typedef struct {
    const char *net_devices;     /* NULL: any */
    unsigned num_aggregators;
    size_t memory_limit;        /* bytes, for all aggregators together */
    uint64_t identity;          /* of the server, random; 0: it can be no parent */
    const char *parent;         /* HOST[:PORT] of the server above; NULL or "": it is no leaf */
    const oc_sockaddr_t *listen; /* where a leaf listens: so its parent calls it */
    const char *timeline;       /* prefix of the files of the aggregators; NULL or "": none */
    oc_local_settings_t local;
    bool widen;                 /* threads use all processors, however the process is bound */
    /*
     * Before a heartbeat is answered: passes the question on to whoever else has to be alive,
     * who answers by oc_job_echo. NULL: nobody.
     */
    void (*ask)(void *arg, uint32_t token);
    void *arg;
} oc_job_config_t;

/* Starts the aggregators; the loop is the caller's. On failure a sentence in error. */
oc_status_t oc_job_open(oc_loop_t *loop, const oc_job_config_t *config, oc_job_server_t **job,
                        char *error, size_t error_size);

/*
 * First in the thread that runs the loop, if it was made for that: with widen a launcher has bound
 * its creator to one core, where a second thread would only be in the way.
 */
void oc_job_enter(const oc_job_server_t *job);

/* Tells who is still there, closes all sessions and stops the aggregators. NULL is allowed. */
void oc_job_close(oc_job_server_t *job);

/* Takes over a connection whose HELLO was accepted; bytes is that message. Loop's thread only. */
void oc_job_adopt(oc_job_server_t *job, int fd, const uint8_t *bytes, size_t length);

/* Answers ask. On the thread of the loop only. */
void oc_job_echo(oc_job_server_t *job, uint32_t token);

/* To be called after each event, and after oc_job_timeout without any: cheap if nothing is due. */
void oc_job_tick(oc_job_server_t *job);

/* Returns in how many milliseconds oc_job_tick has to be called, at least 1. */
int oc_job_timeout(const oc_job_server_t *job);

/* Tells all clients that the server is going to stop. */
void oc_job_drain(oc_job_server_t *job, const char *reason);

/* Whether any process has ever joined a group. */
bool oc_job_has_joined(const oc_job_server_t *job);

/*
 * To be called when another job needs the place, here or on the parent: for OC_RETIRE_TIME, if no
 * process has joined a group, sessions are told to retire soon.
 */
void oc_job_retire(oc_job_server_t *job);

unsigned oc_job_sessions(const oc_job_server_t *job);

/* Whether some that have gone are to come back soon. */
bool oc_job_awaits(const oc_job_server_t *job);

/* Returns the load, from which the bound of the process follows. */
void oc_job_load(const oc_job_server_t *job, oc_load_t *load);

/*
 * Ends the job, because the process uses more memory than its bound, in bytes. Both numbers are
 * the reason. with: what they also count, between commas, or "".
 */
void oc_job_burst(oc_job_server_t *job, const char *with, uint64_t used, uint64_t bound);

/*
 * Returns the number of sockets of its aggregators to which hosts outside the job can connect,
 * too.
 */
unsigned oc_job_open_sockets(const oc_job_server_t *job);

/* Whether the job has failed, because a client has vanished or UCX has lost one. */
bool oc_job_failed(const oc_job_server_t *job);

#endif
