/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job's processes as a server sees them, many thousand in a few real ones: each has a control
 * connection of its own. Data would go to one UCX worker, which is this process's.
 */
#ifndef OC_BENCH_SIZE_CROWD_H
#define OC_BENCH_SIZE_CROWD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/limits.h"
#include "net/address.h"
#include "ucx_backend/worker.h"

/* What makes up the crowd, and how long it waits for answers. */
#define OC_CROWD_PROCESSES 4u
#define OC_CROWD_PATIENCE  60.0

/*
 * A communicator of all of them: hosts with as many ranks, which are its teams; flat: per_host 1.
 */
typedef struct {
    uint32_t number;           /* from 0 */
    uint32_t hosts, per_host;
    uint32_t aggregators;      /* of the server */
    uint32_t ranks_each;       /* that a connection joins with: 1, where there are descriptors */
    uint32_t chunk_bytes, window, small_bytes;
    bool reserves;
} oc_crowd_join_t;

/* What came of something that all did at once. */
typedef struct {
    unsigned answered, refused; /* the rest had no answer */
    unsigned late;             /* of those answered, after more than limit seconds */
    double last;               /* seconds until the last answer */
    char text[OC_MAX_TEXT + 1]; /* why, if somebody was refused */
} oc_crowd_outcome_t;

/* Seconds, monotonic, the same in all processes of a host. */
static inline double oc_crowd_clock(void)
{
    return (double) oc_clock_ns() / (double) OC_SECOND;
}

typedef struct oc_crowd_shared oc_crowd_shared_t;

typedef struct {
    pid_t pids[OC_CROWD_PROCESSES];
    int channels[OC_CROWD_PROCESSES];
    unsigned count;
    oc_crowd_shared_t *shared;
    oc_worker_t *worker;
    unsigned ready;            /* READYs that have come */
    uint32_t chunk_bytes;      /* the smallest that one of them said; 0: none did */
} oc_crowd_t;

/* Of a new job; connects nobody. What fails ends the program. */
void oc_crowd_open(oc_crowd_t *crowd, unsigned count, uint16_t port);
/* Ends all connections in order. */
void oc_crowd_close(oc_crowd_t *crowd);

/* All at the same time, or so many after the others have been welcomed; 0: all. */
oc_crowd_outcome_t oc_crowd_connect(oc_crowd_t *crowd, double limit, unsigned at_a_time);
oc_crowd_outcome_t oc_crowd_ping(oc_crowd_t *crowd);
oc_crowd_outcome_t oc_crowd_join(oc_crowd_t *crowd, const oc_crowd_join_t *join);
/* Until so many READYs have come, or for that long; whether they have. */
bool oc_crowd_wait_ready(oc_crowd_t *crowd, unsigned count, double seconds);

/* The largest chunk of a communicator: what READY said. */
uint32_t oc_crowd_chunk(const oc_crowd_t *crowd, const oc_crowd_join_t *join);

#endif
