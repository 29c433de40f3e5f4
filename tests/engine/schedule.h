/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A schedule: what the ranks of a job do, and what happens to them and their servers meanwhile.
 * It follows from its seed alone.
 */
#ifndef OC_TESTS_ENGINE_SCHEDULE_H
#define OC_TESTS_ENGINE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MAX_SCHEDULE_RANKS   5
#define MAX_SCHEDULE_SERVERS 2
#define MAX_SCHEDULE_GROUPS  4
#define MAX_OPERATIONS       48
#define MAX_SCHEDULE_FAULTS  3
#define MAX_AGGREGATOR_COUNT 3

#define FOR_EVER 0           /* a stop that ends with its schedule */

typedef enum {
    FAULT_KILL_RANK,
    FAULT_STOP_RANK,         /* SIGSTOP, and SIGCONT after a while: never a reason for an error */
    FAULT_KILL_DATA,
    FAULT_STOP_DATA,
    FAULT_KILL_SUPERVISOR,
    FAULT_STOP_SUPERVISOR,
    FAULT_DRAIN,             /* SIGTERM to the supervisor */
    FAULT_CUT,               /* a control connection ends */
    FAULT_RESET,             /* the same with an error */
    FAULT_FREEZE,            /* a control connection passes nothing for a while */
    NUM_FAULTS,
} fault_kind_t;

typedef struct {
    fault_kind_t kind;
    unsigned target;         /* rank or server */
    unsigned connection;     /* of that server's clients */
    unsigned at_operation;   /* when the first rank is there */
    unsigned delay_us;       /* and so long after that */
    unsigned lasts_ms;       /* stops and freezes; FOR_EVER for servers */
} fault_t;

typedef struct {
    unsigned group, op, type;
    size_t count;
    bool in_place;
    bool wait;               /* for everything under way, once this is started */
    unsigned late_rank;      /* this rank of the job comes later than the others */
    unsigned late_us;
} operation_t;

typedef struct {
    unsigned num_members;
    uint32_t members[MAX_SCHEDULE_RANKS];   /* ranks of the job */
} members_t;

typedef struct {
    uint64_t seed;
    bool harmful;            /* something may fail; patience is short then, else long */
    unsigned num_ranks, num_servers, num_groups, num_operations, num_faults;
    unsigned aggregators[MAX_SCHEDULE_SERVERS];
    bool through_proxy;
    int heartbeat_timeout, connect_timeout;
    size_t small_size, chunk_size;
    int window;
    members_t groups[MAX_SCHEDULE_GROUPS];
    operation_t operations[MAX_OPERATIONS];
    fault_t faults[MAX_SCHEDULE_FAULTS];
} schedule_t;

void schedule_make(schedule_t *schedule, uint64_t seed);

/* A quiet one for two ranks and one server. */
void schedule_make_plain(schedule_t *schedule, uint64_t seed, unsigned aggregators);

void schedule_print(const schedule_t *schedule, FILE *out);

const char *fault_name(fault_kind_t kind);

#endif
