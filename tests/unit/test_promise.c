/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of what a process promises to keep of small results: something for each group, and never too much. */
/* Test: quick 20 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "client/state/promise.h"

#define GROUPS 96u   /* within which each gets something */
#define FULL   56u   /* so many get as much as one can have */

static oc_client_t client;
static oc_group_servers_t servers[GROUPS];
static oc_group_t groups[GROUPS];

static void promise_to_all(void)
{
    client.kept_promised = 0;
    for (unsigned i = 0; i < GROUPS; i++) {
        servers[i].kept_most = 0;
        groups[i] = (oc_group_t) {.client = &client, .servers = &servers[i]};
        assert_true(oc_promise_offer(&groups[i]) == servers[i].kept_most);
    }
}

static uint64_t sum_of_promises(void)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < GROUPS; i++) {
        sum += servers[i].kept_most;
    }
    return sum;
}

static void test_promises(void **state)
{
    (void) state;
    promise_to_all();
    for (unsigned i = 0; i < GROUPS; i++) {
        assert_in_range(servers[i].kept_most, 1024, OC_KEPT_BYTES);
        assert_true(i >= FULL || OC_KEPT_BYTES == servers[i].kept_most);
    }
    assert_in_range(sum_of_promises(), OC_KEPT_TOTAL / 2, OC_KEPT_TOTAL);
    assert_true(sum_of_promises() == client.kept_promised);
}

/* What other ranks cannot keep, this one need not, and what groups had is there for others. */
static void test_given_back(void **state)
{
    (void) state;
    promise_to_all();
    oc_promise_agree(&groups[0], 100);
    assert_int_equal(servers[0].kept_most, 100);
    assert_true(sum_of_promises() == client.kept_promised);
    for (unsigned i = 0; i < GROUPS; i++) {
        oc_promise_end(&groups[i]);
    }
    assert_int_equal(client.kept_promised, 0);
    promise_to_all();
    assert_int_equal(servers[0].kept_most, OC_KEPT_BYTES);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_promises),
        cmocka_unit_test(test_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
