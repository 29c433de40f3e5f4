/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job of a simulated world: some ranks, each a process, which run the same reductions in one or two groups, blocking and
 * not, and compute in between without a look at the engine. Each result is compared with a loop over the ranks; buffers
 * must stay as they are once an operation has ended; ranks must agree about how it ended.
 */
#ifndef OC_TESTS_SIMULATION_WORKLOAD_H
#define OC_TESTS_SIMULATION_WORKLOAD_H

#include "base/settings.h"
#include "client/client.h"
#include "tests/simulation/world.h"

#define WORKLOAD_RANKS      4
#define WORKLOAD_OPERATIONS 16

typedef struct {
    unsigned ranks, operations, groups;
    unsigned most_at_once;       /* operations that a rank has under way */
    uint64_t pause;              /* ns that a rank computes now and then, at most */
    bool nodes;                  /* ranks share hosts, two each */
} workload_t;

/* Starts the ranks; settings and workload stay. */
void workload_start(const workload_t *workload, const oc_job_settings_t *settings);

/* Whether all ranks have ended. */
bool workload_is_over(void *arg);

/* Whether the first group is there in all ranks. */
bool workload_is_set_up(void);

process_t *workload_rank(unsigned rank);

/* As by SIGKILL: from then on operations of the others may end with an error, but they end. */
void workload_kill(unsigned rank);

/* How far the ranks are, for messages. */
void workload_describe(char *text, size_t size);

/* After the end: fails the schedule if ranks disagree. Sums of all ranks; failures: of operations that were declined. */
void workload_check(oc_counters_t *sum);

#endif
