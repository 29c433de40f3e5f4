/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of ranks and servers that lack the memory to admit somebody to their ports: a new
 * communicator is declined with the reason, and those that are live go on.
 */
/* Test: default 90 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/guarded.h"
#include "tests/engine/harness.h"

#define LATE 2 /* this rank is in the second communicator only */

static bool no_memory;

int __real_oc_guarded_filter(oc_guarded_t *socket, struct sock_filter *code, size_t length);
int __wrap_oc_guarded_filter(oc_guarded_t *socket, struct sock_filter *code, size_t length);

int __wrap_oc_guarded_filter(oc_guarded_t *socket, struct sock_filter *code, size_t length)
{
    return no_memory ? ENOMEM : __real_oc_guarded_filter(socket, code, length);
}

static void expect_declined(rank_t *rank, unsigned group, const char *reason)
{
    float one = 1, sum = 0;

    CHECK(OC_DECLINED == rank_allreduce(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK(NULL != strstr(oc_group_reason(rank->groups[group]), reason));
}

/* Of the first ranks, in a communicator of their own. */
static void expect_service(rank_t *rank)
{
    float one = 1, sum = 0;

    rank->num_ranks = LATE;
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK((float) LATE == sum);
    rank->num_ranks = LATE + 1;
}

static void body_rank(rank_t *rank)
{
    if (rank->rank < LATE) {
        expect_service(rank);
    }
    rank_barrier(rank);
    no_memory = LATE == rank->rank;
    expect_declined(rank, 1, LATE == rank->rank ? "cannot admit it to its port"
                                                : "rank 2 has no service");
    rank_linger(rank, 500);
    if (rank->rank < LATE) {
        expect_service(rank);
        CHECK(2 == rank->counters.allreduce_offloaded && 0 == rank->counters.failures);
    }
}

/* It has had WELCOME, and goes without being taken for dead. */
static void test_rank_without_memory(void **state)
{
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    server_start(&server, NULL);
    settings = test_settings(server.address);
    assert_int_equal(ranks_run(LATE + 1, &settings, body_rank, 60), 0);
    assert_int_equal(server_stop(&server), 0);
}

static void body_server(rank_t *rank)
{
    no_memory = 0 == rank->rank;
    expect_declined(rank, 0, 0 == rank->rank ? "refused: the server cannot admit its host"
                                             : "rank 0 has no service");
}

static void test_server_without_memory(void **state)
{
    oc_job_settings_t settings = test_settings("embedded");

    (void) state;
    assert_int_equal(ranks_run(2, &settings, body_server, 60), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rank_without_memory),
        cmocka_unit_test(test_server_without_memory),
    };

    setenv("UCX_TLS", "tcp", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
