/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of which multicast addresses a process has joined: how many at most, what is
 * shared, and what is left again. On a loopback of its own.
 */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>

#include "base/settings.h"
#include "multicast/service/cast_transports.h"
#include "multicast/transport/flood_socket.h"
#include "tests/random.h"
#include "tests/unit/own_network.h"

static const uint8_t job_id[OC_JOB_ID_SIZE] = {7, 7, 7};
static oc_job_settings_t settings;
static oc_cast_counters_t counters;
static oc_cast_transports_t transports;
static char error[256];

static void begin(int groups)
{
    oc_settings_default(&oc_job_settings_table, &settings);
    settings.multicast = OC_MULTICAST_UDP;
    settings.multicast_interface = "lo";
    settings.multicast_groups = groups;
    oc_cast_transports_init(&transports, &settings, &counters, job_id, 0);
    if (OC_OK != oc_cast_transports_survey(&transports, error, sizeof(error))) {
        fail_msg("no survey: %s", error);
    }
}

static struct in_addr common(void)
{
    return oc_multicast_common(&transports.range);
}

static struct in_addr set(uint64_t number)
{
    return oc_multicast_of_set(&transports.range, number * 0x9e3779b97f4a7c15ull, false);
}

static bool is_joined(struct in_addr address)
{
    return oc_flood_has_joined(&transports.interfaces[OC_CARRIER_UDP], address);
}

static oc_status_t try_get(struct in_addr address, oc_cast_slot_t **slot)
{
    return oc_cast_transports_get(&transports, OC_CARRIER_UDP, address, slot, error, sizeof(error));
}

static oc_cast_slot_t *get(struct in_addr address)
{
    oc_cast_slot_t *slot = NULL;

    error[0] = '\0';
    if (OC_OK != try_get(address, &slot)) {
        fail_msg("no slot: %s", error);
    }
    assert_int_equal(slot->address.s_addr, address.s_addr);
    assert_true(is_joined(address));
    return slot;
}

static void expect_full(struct in_addr address)
{
    oc_cast_slot_t *slot = NULL;

    assert_int_equal(try_get(address, &slot), OC_ERR_LIMIT);
    assert_null(slot);
    assert_non_null(strstr(error, "coll_optcast_multicast_groups"));
    assert_false(is_joined(address));
}

static void put(oc_cast_slot_t *slot)
{
    oc_cast_transports_put(&transports, slot);
}

static void test_shared(void **state)
{
    oc_cast_slot_t *first, *second;

    (void) state;
    begin(16);
    assert_int_equal(transports.num_open, 0);
    assert_false(is_joined(set(1)));
    first = get(set(1));
    assert_ptr_equal(get(set(1)), first);
    second = get(set(2));
    assert_ptr_not_equal(first, second);
    assert_int_equal(transports.num_open, 2);
    put(first);
    put(second);
    put(first);
    oc_cast_transports_close(&transports);
    assert_false(is_joined(set(1)) || is_joined(set(2)));
}

/* The last place is the common address's, whoever comes first. */
static void check_budget(int groups)
{
    oc_cast_slot_t *slots[OC_MAX_SLOTS], *last;
    int others = groups - 1;

    begin(groups);
    for (int i = 0; i < others; i++) {
        slots[i] = get(set((uint64_t) i));
    }
    expect_full(set(100));
    if (others > 0) {
        assert_ptr_equal(get(set(0)), slots[0]);
        put(slots[0]);
    }
    last = get(common());
    assert_ptr_equal(get(common()), last);
    expect_full(set(100));
    assert_int_equal(transports.num_open, groups);
    if (others > 0) {
        put(slots[0]);
        assert_true(is_joined(set(0)));
        slots[0] = get(set(100));
        assert_false(is_joined(set(0)));
        assert_int_equal(transports.num_open, groups);
        expect_full(set(0));
    }
    oc_cast_transports_close(&transports);
}

static void test_budget(void **state)
{
    (void) state;
    for (int groups = 1; groups <= OC_MAX_SLOTS; groups++) {
        check_budget(groups);
    }
}

/* The two that nobody uses for the shortest time stay; who comes back finds them joined. */
static void test_left(void **state)
{
    oc_cast_slot_t *slots[6], *again;

    (void) state;
    begin(8);
    for (uint64_t i = 0; i < 6; i++) {
        slots[i] = get(set(i));
    }
    put(slots[4]);
    put(slots[0]);
    assert_true(is_joined(set(4)) && is_joined(set(0)));
    put(slots[2]);
    assert_false(is_joined(set(4)));
    assert_true(is_joined(set(0)) && is_joined(set(2)));
    again = get(set(0));
    assert_ptr_equal(again, slots[0]);
    put(slots[1]);
    put(slots[0]);
    assert_false(is_joined(set(2)));
    assert_true(is_joined(set(0)) && is_joined(set(1)));
    put(slots[3]);
    put(slots[5]);
    assert_int_equal(transports.num_open, OC_IDLE_SLOTS);
    assert_true(is_joined(set(3)) && is_joined(set(5)));
    oc_cast_transports_close(&transports);
}

/* One that is handing out, whose user frees its communicator, is left later. */
static void test_left_later(void **state)
{
    oc_cast_slot_t *first, *second, *third;

    (void) state;
    begin(8);
    first = get(set(1));
    second = get(set(2));
    third = get(set(3));
    first->receiving = true;
    put(first);
    put(second);
    put(third);
    assert_int_equal(transports.num_open, 3);
    assert_true(is_joined(set(1)));
    first->receiving = false;
    put(get(set(2)));
    assert_int_equal(transports.num_open, 2);
    assert_false(is_joined(set(1)));
    oc_cast_transports_close(&transports);
}

/* Numbers for faults are those of open transports, each its own, whatever has come and gone. */
static void test_crowd(void **state)
{
    oc_cast_slot_t *slots[100] = {NULL};
    oc_random_t dice = {.state = 3};

    (void) state;
    begin(OC_MAX_SLOTS);
    for (unsigned step = 0; step < 20000; step++) {
        uint64_t i = oc_random_below(&dice, 100);
        bool places[OC_MAX_SLOTS] = {false};

        if (NULL != slots[i]) {
            put(slots[i]);
            slots[i] = NULL;
        } else if (i < 3) {
            slots[i] = get(common()); /* there is always room for it */
        } else {
            (void) try_get(set(i / 3), &slots[i]);
        }
        assert_true(transports.num_open <= OC_MAX_SLOTS);
        for (unsigned j = 0; j < transports.num_open; j++) {
            assert_true(transports.open[j]->place < OC_MAX_SLOTS);
            assert_false(places[transports.open[j]->place]);
            places[transports.open[j]->place] = true;
        }
    }
    oc_cast_transports_close(&transports);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_left_later),
        cmocka_unit_test(test_crowd),
    };

    alarm(60);
    if (!own_network_enter()) {
        return OWN_NETWORK_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
