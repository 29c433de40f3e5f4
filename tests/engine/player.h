/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of a schedule: does its operations, checks every result, and writes down what came out. */
#ifndef OC_TESTS_ENGINE_PLAYER_H
#define OC_TESTS_ENGINE_PLAYER_H

#include "tests/engine/harness.h"
#include "tests/engine/schedule.h"

/* An operation may take so long, in ns, after everything that disturbed it is over. */
#define PATIENCE (25 * OC_SECOND)

/* What is written down of an operation, beside its status. */
#define STATUS_NONE 100   /* not finished */

typedef struct {
    atomic_int status;        /* oc_status_t, or STATUS_NONE */
    atomic_bool right;        /* every element of the result is there, whatever the status */
} result_t;

/* In shared memory. */
typedef struct {
    schedule_t schedule;
    oc_job_t job;
    char servers[160];                              /* coll_optcast_servers */
    atomic_ullong disturbed_until;                  /* by the faults so far, in ns */
    atomic_ullong longest;                          /* wait for an operation beyond that, in ns */
    atomic_int gone[MAX_SCHEDULE_RANKS];            /* killed, or ended otherwise */
    atomic_uint at[MAX_SCHEDULE_RANKS];             /* operation that the rank is at */
    result_t results[MAX_SCHEDULE_RANKS][MAX_OPERATIONS];
    board_t boards[MAX_SCHEDULE_GROUPS];
} stage_t;

/* In a process of its own; ends it, with 0 unless an expectation failed. */
void __attribute__((noreturn)) player_run(stage_t *stage, uint32_t rank);

/* The place of a rank in an operation's group, or -1. */
int schedule_place(const schedule_t *schedule, unsigned operation, uint32_t rank);

#endif
