/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that reduces all the time, until it is told to stop, and compares each result with a reference. The test is another
 * process, which sees what the ranks count, and meanwhile does to servers what it likes. What goes wrong fails the test.
 */
#ifndef OC_TESTS_ENGINE_TRAFFIC_H
#define OC_TESTS_ENGINE_TRAFFIC_H

#include "tests/engine/harness.h"

/* What a rank tells after each of its rounds, which are a few operations. */
typedef enum {
    TRAFFIC_ROUNDS,
    TRAFFIC_OPERATIONS,       /* that have ended well; the counters say that all of them were offloaded */
    TRAFFIC_RECOVERIES,
    TRAFFIC_RETURNS,
    TRAFFIC_SERVERS,          /* of the list, that it uses */
    TRAFFIC_ORDERS,           /* that it has obeyed */
    TRAFFIC_ENDED,            /* 1: it has stopped, as one of its operations has failed */
    TRAFFIC_VALUES
} traffic_value_t;

typedef struct {
    atomic_bool stop;
    atomic_uint orders;
    atomic_uint seen[MAX_TEST_RANKS][TRAFFIC_VALUES];
    char reasons[MAX_TEST_RANKS][512];
} traffic_board_t;

typedef struct {
    ranks_t ranks;
    traffic_board_t *board;
} traffic_t;

/*
 * Forks the ranks; obey is called in each of them between two rounds, once for each order, with its number from 1, and
 * returns how many operations it has done. NULL: there are no orders.
 */
void traffic_start(traffic_t *traffic, uint32_t num_ranks, const oc_job_settings_t *settings,
                   unsigned (*obey)(rank_t *rank, unsigned order));

/* The next order, and that all ranks have obeyed. */
void traffic_order(traffic_t *traffic);
void traffic_await_obedience(const traffic_t *traffic);

/* What is so of a rank. */
typedef bool (*traffic_state_t)(const unsigned seen[TRAFFIC_VALUES]);

/* Waits until it is so of all ranks at the same time, and these have done a few more rounds. */
void traffic_await(const traffic_t *traffic, traffic_state_t state, const char *what);

/* It stays so of all ranks for so long, and they go on. */
void traffic_hold(const traffic_t *traffic, traffic_state_t state, const char *what, unsigned ms);

unsigned traffic_seen(const traffic_t *traffic, uint32_t rank, traffic_value_t value);

/* After the last round all ranks end, and well. */
void traffic_stop(traffic_t *traffic);

/* An operation of each rank fails, with this in its reason; then they end. */
void traffic_expect_failure(traffic_t *traffic, const char *reason);

/* Ends what is left of it after a failure of the test. */
void traffic_kill(traffic_t *traffic);

/* A bool with its text, for the above. */
#define TRAFFIC_AWAIT(traffic, state)    traffic_await(traffic, state, #state)
#define TRAFFIC_HOLD(traffic, state, ms) traffic_hold(traffic, state, #state, ms)

#endif
