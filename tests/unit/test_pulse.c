/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of PINGs that are due, late, answered and missed, at times that the test makes up. */
/* Test: quick 20 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "control/pulse.h"

#define INTERVAL 1000u
#define PATIENCE 3000u
#define STEP     100u
#define START    UINT64_C(5000000)

static const oc_rhythm_t rhythm = {.interval = INTERVAL, .patience = PATIENCE, .step = STEP};
static oc_pulse_t pulse;
static uint64_t now;

static int begin(void **state)
{
    (void) state;
    oc_pulse_init(&pulse, &rhythm);
    now = START;
    oc_pulse_begin(&pulse, now);
    return 0;
}

static void ask(void)
{
    assert_false(oc_pulse_ask(&pulse, now + INTERVAL - 1));
    now += INTERVAL;
    assert_true(oc_pulse_ask(&pulse, now));
    assert_false(oc_pulse_ask(&pulse, now + 10 * INTERVAL));
}

/* Looks as often as it has to, until the PING counts as missed; how long that took. */
static uint64_t look_until_missed(void)
{
    uint64_t asked = now;

    do {
        assert_in_range(oc_pulse_due(&pulse, now), 1, STEP);
        now += oc_pulse_due(&pulse, now);
    } while (!oc_pulse_missed(&pulse, now));
    return now - asked;
}

static void test_first(void **state)
{
    (void) state;
    oc_pulse_init(&pulse, &rhythm);
    assert_int_equal(oc_pulse_due(&pulse, START), 0);
    assert_true(oc_pulse_ask(&pulse, START));
}

static void test_answered(void **state)
{
    (void) state;
    ask();
    oc_pulse_answer(&pulse, pulse.number - 1);
    assert_true(pulse.open);
    now += STEP;
    oc_pulse_answer(&pulse, pulse.number);
    assert_false(pulse.open);
    assert_false(oc_pulse_missed(&pulse, now + 10 * PATIENCE));
    assert_int_equal(oc_pulse_due(&pulse, now), INTERVAL - STEP);
    assert_int_equal(oc_pulse_due(&pulse, now + INTERVAL), 0);
}

static void test_missed(void **state)
{
    (void) state;
    ask();
    assert_in_range(look_until_missed(), PATIENCE + 1, PATIENCE + STEP);
    /* once for each PING; and there is nothing to look at before an answer comes */
    assert_false(oc_pulse_missed(&pulse, now + STEP));
    assert_true(UINT64_MAX == oc_pulse_due(&pulse, now));
}

/* What the owner did not look at is its own. */
static void test_own_absence(void **state)
{
    (void) state;
    ask();
    now += 100 * PATIENCE;
    assert_false(oc_pulse_missed(&pulse, now));
    assert_in_range(look_until_missed(), PATIENCE - STEP, PATIENCE);
}

/* The answer to a PING that was missed comes after all: the next one is due as ever, and can be missed like the first. */
static void test_late(void **state)
{
    (void) state;
    ask();
    (void) look_until_missed();
    oc_pulse_answer(&pulse, pulse.number);
    assert_int_equal(oc_pulse_due(&pulse, now), 0);
    assert_true(oc_pulse_ask(&pulse, now));
    assert_in_range(look_until_missed(), PATIENCE + 1, PATIENCE + STEP);
}

/* Of a connection that is made anew, while a PING was open on the old one. */
static void test_begun_anew(void **state)
{
    (void) state;
    ask();
    (void) look_until_missed();
    oc_pulse_begin(&pulse, now);
    assert_int_equal(oc_pulse_due(&pulse, now), INTERVAL);
    assert_false(oc_pulse_missed(&pulse, now + PATIENCE));
    ask();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_first, begin),
        cmocka_unit_test_setup(test_answered, begin),
        cmocka_unit_test_setup(test_missed, begin),
        cmocka_unit_test_setup(test_own_absence, begin),
        cmocka_unit_test_setup(test_late, begin),
        cmocka_unit_test_setup(test_begun_anew, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
