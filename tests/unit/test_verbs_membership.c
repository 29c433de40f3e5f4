/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of what a membership in a multicast group goes through.
 *
 * Test: quick 10
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "multicast/transport/verbs_membership.h"

#define START (1000 * OC_SECOND)

static oc_verbs_membership_t membership;
static uint64_t now;

static int setup(void **state)
{
    (void) state;
    now = START;
    oc_verbs_membership_begin(&membership, 0, now);
    return 0;
}

static void expect_state(oc_verbs_membership_state_t state)
{
    assert_int_equal(membership.state, state);
}

static void join(void)
{
    oc_verbs_membership_joined(&membership, now);
    expect_state(OC_MEMBERSHIP_JOINED);
    assert_true(UINT64_MAX == membership.due);
}

/* Passes time until it is due, and returns how much. */
static uint64_t expect_step(oc_verbs_membership_step_t step)
{
    uint64_t before = now;

    assert_true(membership.due > now && membership.due < UINT64_MAX);
    assert_int_equal(oc_verbs_membership_step(&membership, membership.due - 1), OC_MEMBERSHIP_REST);
    now = membership.due;
    assert_int_equal(oc_verbs_membership_step(&membership, now), step);
    return now - before;
}

static void test_network_does_not_answer(void **state)
{
    (void) state;
    assert_true(expect_step(OC_MEMBERSHIP_LATE) == OC_JOIN_LIMIT);
    expect_state(OC_MEMBERSHIP_REFUSED);
    assert_true(UINT64_MAX == membership.due);
}

static void test_network_says_no(void **state)
{
    (void) state;
    oc_verbs_membership_lost(&membership, now);
    expect_state(OC_MEMBERSHIP_REFUSED);
}

/* Then there is no end to it. */
static void test_lost_and_refused_again(void **state)
{
    uint64_t pause = OC_JOIN_FIRST_PAUSE;

    (void) state;
    join();
    oc_verbs_membership_lost(&membership, now);
    for (unsigned i = 0; i < 20; i++) {
        expect_state(OC_MEMBERSHIP_WAITING);
        assert_true(expect_step(OC_MEMBERSHIP_ASK) == pause);
        expect_state(OC_MEMBERSHIP_ASKED);
        if (i % 2) {
            oc_verbs_membership_lost(&membership, now);
        } else {
            assert_true(expect_step(OC_MEMBERSHIP_LATE) == OC_JOIN_LIMIT);
        }
        pause = 2 * pause < OC_JOIN_MAX_PAUSE ? 2 * pause : OC_JOIN_MAX_PAUSE;
    }
    (void) expect_step(OC_MEMBERSHIP_ASK);
    join();
}

static uint64_t pause_after_lasting(uint64_t duration)
{
    now += duration;
    oc_verbs_membership_lost(&membership, now);
    now = membership.due;
    assert_int_equal(oc_verbs_membership_step(&membership, now), OC_MEMBERSHIP_ASK);
    join();
    return membership.pause;
}

static void test_pauses_begin_anew(void **state)
{
    (void) state;
    join();
    assert_true(pause_after_lasting(0) == 2 * OC_JOIN_FIRST_PAUSE);
    assert_true(pause_after_lasting(OC_JOIN_LASTING - 1) == 4 * OC_JOIN_FIRST_PAUSE);
    assert_true(pause_after_lasting(OC_JOIN_LASTING) == 2 * OC_JOIN_FIRST_PAUSE);
}

static void expect_away(bool away)
{
    assert_true(oc_verbs_membership_is_away(&membership, now) == away);
}

/* From the loss until it is joined again, and not for ever. */
static void test_away(void **state)
{
    (void) state;
    expect_away(false);
    join();
    now += OC_SECOND;
    expect_away(false);
    oc_verbs_membership_lost(&membership, now);
    expect_away(true);
    now--; /* a clock that was read before */
    expect_away(true);
    now++;
    (void) expect_step(OC_MEMBERSHIP_ASK);
    expect_away(true);
    join();
    expect_away(false);
    oc_verbs_membership_suspend(&membership, now);
    now += OC_JOIN_PATIENCE - 1;
    expect_away(true);
    now++;
    expect_away(false);
    oc_verbs_membership_end(&membership);
    now--;
    expect_away(false);
}

/* Who looks only long after the loss has missed nothing until then. */
static void test_away_while_nobody_looks(void **state)
{
    (void) state;
    join();
    oc_verbs_membership_lost(&membership, now);
    now += 5 * OC_SECOND;
    assert_int_equal(oc_verbs_membership_step(&membership, now), OC_MEMBERSHIP_ASK);
    expect_away(true);
    now += OC_JOIN_PATIENCE;
    expect_away(false);
}

/* What is lost again and again is not going to be better. */
static void test_away_for_ever(void **state)
{
    unsigned losses = 0;

    (void) state;
    do {
        join();
        now += OC_MILLISECOND;
        oc_verbs_membership_lost(&membership, now);
        losses++;
    } while (oc_verbs_membership_is_away(&membership, now) && losses < 100);
    assert_in_range(losses, 5, 15);
    now = membership.due;
    assert_int_equal(oc_verbs_membership_step(&membership, now), OC_MEMBERSHIP_ASK);
    join();
    now += OC_JOIN_LASTING;
    oc_verbs_membership_lost(&membership, now);
    expect_away(true);
}

/* What is said of a loss that is known already changes nothing. */
static void test_several_losses_are_one(void **state)
{
    uint64_t due;

    (void) state;
    join();
    oc_verbs_membership_lost(&membership, now);
    due = membership.due;
    oc_verbs_membership_lost(&membership, now + 1);
    oc_verbs_membership_doubt(&membership, now + 1);
    assert_true(membership.due == due && membership.pause == 2 * OC_JOIN_FIRST_PAUSE);
}

static void test_doubt(void **state)
{
    (void) state;
    oc_verbs_membership_doubt(&membership, now);
    expect_state(OC_MEMBERSHIP_ASKED);
    oc_verbs_membership_joined(&membership, now);
    expect_state(OC_MEMBERSHIP_WAITING);
    (void) expect_step(OC_MEMBERSHIP_ASK);
    join();
    oc_verbs_membership_doubt(&membership, now);
    expect_state(OC_MEMBERSHIP_WAITING);
    (void) expect_step(OC_MEMBERSHIP_ASK);
    join();
}

static void test_port_is_down(void **state)
{
    (void) state;
    join();
    oc_verbs_membership_suspend(&membership, now);
    expect_state(OC_MEMBERSHIP_WAITING);
    assert_true(membership.due == now + OC_JOIN_MAX_PAUSE);
    now += OC_SECOND;
    oc_verbs_membership_doubt(&membership, now);
    assert_true(expect_step(OC_MEMBERSHIP_ASK) == OC_JOIN_FIRST_PAUSE);
    oc_verbs_membership_suspend(&membership, now);
    expect_state(OC_MEMBERSHIP_WAITING);
    /* nobody says that it is up again */
    assert_true(expect_step(OC_MEMBERSHIP_ASK) == OC_JOIN_MAX_PAUSE);
    join();
}

static void test_port_is_down_at_first(void **state)
{
    (void) state;
    oc_verbs_membership_suspend(&membership, now);
    expect_state(OC_MEMBERSHIP_ASKED);
    (void) expect_step(OC_MEMBERSHIP_LATE);
    expect_state(OC_MEMBERSHIP_REFUSED);
}

static void expect_end(oc_verbs_membership_state_t end)
{
    oc_verbs_membership_end(&membership);
    expect_state(end);
    oc_verbs_membership_lost(&membership, now);
    oc_verbs_membership_doubt(&membership, now);
    oc_verbs_membership_suspend(&membership, now);
    expect_state(end);
    assert_true(UINT64_MAX == membership.due);
}

static void test_device_is_gone(void **state)
{
    (void) state;
    expect_end(OC_MEMBERSHIP_REFUSED);
    (void) setup(state);
    join();
    expect_end(OC_MEMBERSHIP_ENDED);
    (void) setup(state);
    join();
    oc_verbs_membership_lost(&membership, now);
    expect_end(OC_MEMBERSHIP_ENDED);
}

/* All lose it at once, and do not ask at once; nobody waits much longer than the first. */
static void test_members_spread(void **state)
{
    uint64_t first = UINT64_MAX, last = 0;

    (void) state;
    for (uint32_t salt = 0; salt < 100; salt++) {
        oc_verbs_membership_begin(&membership, salt, now);
        join();
        oc_verbs_membership_lost(&membership, now);
        first = membership.due < first ? membership.due : first;
        last = membership.due > last ? membership.due : last;
    }
    assert_true(first - now == OC_JOIN_FIRST_PAUSE);
    assert_true(last - first > OC_JOIN_FIRST_PAUSE / 3 && last - first <= OC_JOIN_FIRST_PAUSE / 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_network_does_not_answer, setup),
        cmocka_unit_test_setup(test_network_says_no, setup),
        cmocka_unit_test_setup(test_lost_and_refused_again, setup),
        cmocka_unit_test_setup(test_pauses_begin_anew, setup),
        cmocka_unit_test_setup(test_away, setup),
        cmocka_unit_test_setup(test_away_while_nobody_looks, setup),
        cmocka_unit_test_setup(test_away_for_ever, setup),
        cmocka_unit_test_setup(test_several_losses_are_one, setup),
        cmocka_unit_test_setup(test_doubt, setup),
        cmocka_unit_test_setup(test_port_is_down, setup),
        cmocka_unit_test_setup(test_port_is_down_at_first, setup),
        cmocka_unit_test_setup(test_device_is_gone, setup),
        cmocka_unit_test_setup(test_members_spread, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
