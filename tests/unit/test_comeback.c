/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of the account of servers that come and go: who goes soon is waited for twice as long each time, and no longer than 17 minutes. */
/* Test: quick 20 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "client/state/comeback.h"

#define START (1000 * OC_SECOND)

/* It comes back, and is lost after so long. Returns when that is. */
static uint64_t come_and_go(oc_comeback_t *comeback, uint64_t at, uint64_t stay)
{
    oc_comeback_note(comeback, true, at);
    oc_comeback_note(comeback, false, at + stay);
    return at + stay;
}

/* Not a nanosecond earlier or later than after so many seconds. */
static void expect_due(const oc_comeback_t *comeback, uint64_t lost, unsigned seconds)
{
    assert_false(oc_comeback_is_due(comeback, lost));
    assert_false(oc_comeback_is_due(comeback, lost + seconds * OC_SECOND - 1));
    assert_true(oc_comeback_is_due(comeback, lost + seconds * OC_SECOND));
    assert_true(oc_comeback_is_due(comeback, UINT64_MAX));
}

/* The loss of a server that the job has had from the beginning is no flap. */
static void test_first(void **state)
{
    oc_comeback_t comeback = {0};

    (void) state;
    assert_true(oc_comeback_is_due(&comeback, START));
    oc_comeback_note(&comeback, false, START);
    assert_true(oc_comeback_is_due(&comeback, START));
}

static void test_doubles(void **state)
{
    oc_comeback_t comeback = {0};
    uint64_t now = START;

    (void) state;
    for (unsigned n = 1; n <= 10; n++) {
        now = come_and_go(&comeback, now + OC_SECOND, OC_SECOND);
        expect_due(&comeback, now, 1u << n);
    }
    /* from here on it is as long each time, however often */
    for (unsigned n = 0; n < 1000; n++) {
        now = come_and_go(&comeback, now + OC_SECOND, OC_SECOND);
        expect_due(&comeback, now, 1024);
    }
}

/* A minute is long enough, a nanosecond less is not. */
static void test_stays(void **state)
{
    oc_comeback_t comeback = {0};
    uint64_t now = START;

    (void) state;
    now = come_and_go(&comeback, now, OC_SECOND);
    now = come_and_go(&comeback, now, 60 * OC_SECOND - 1);
    expect_due(&comeback, now, 4);
    now = come_and_go(&comeback, now, 60 * OC_SECOND);
    expect_due(&comeback, now, 1);
    now = come_and_go(&comeback, now, OC_SECOND);
    expect_due(&comeback, now, 2);
}

/* Other servers come and go: that is none of its business. */
static void test_other_epochs(void **state)
{
    oc_comeback_t comeback = {0};
    uint64_t now = START, lost;

    (void) state;
    oc_comeback_note(&comeback, true, now);
    oc_comeback_note(&comeback, true, now + 59 * OC_SECOND);
    oc_comeback_note(&comeback, true, now + 60 * OC_SECOND);
    lost = now + 61 * OC_SECOND;
    oc_comeback_note(&comeback, false, lost);
    expect_due(&comeback, lost, 1);
    lost = come_and_go(&comeback, lost, 2 * OC_SECOND);
    oc_comeback_note(&comeback, false, lost + OC_SECOND);
    oc_comeback_note(&comeback, false, lost + 2 * OC_SECOND);
    expect_due(&comeback, lost, 2);
}

/* The clock stands still between two epochs. */
static void test_at_once(void **state)
{
    oc_comeback_t comeback = {0};

    (void) state;
    (void) come_and_go(&comeback, START, 0);
    expect_due(&comeback, START, 2);
    (void) come_and_go(&comeback, START, 0);
    expect_due(&comeback, START, 4);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_stays),
        cmocka_unit_test(test_other_epochs),
        cmocka_unit_test(test_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
