/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of what a flood test says: from the counts of a host to its verdict, from the
 * records of ranks to who does what, and the datagrams as bytes.
 */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <utlist.h>

#include "base/limits.h"
#include "multicast/flood/flood_frame.h"
#include "multicast/service/flood_plan.h"
#include "multicast/service/flood_service.h"

#define BURST 64u

/* What a slot of each kind adds to a counter of a host. */
typedef struct {
    uint64_t control, probe;
    uint64_t noise;            /* in every slot */
} network_t;

static oc_flood_gauge_t gauge;

static uint64_t slot_adds(const network_t *network, uint32_t slot)
{
    const uint64_t adds[OC_PHASES] = {[OC_PHASE_CONTROL] = network->control,
                                      [OC_PHASE_PROBE] = network->probe};

    return adds[oc_flood_phase(slot)] + network->noise;
}

static void play(network_t network)
{
    gauge = (oc_flood_gauge_t) {.burst = BURST};
    for (uint32_t slot = 0; slot < OC_FLOOD_SLOTS; slot++) {
        gauge.counts[slot] = slot_adds(&network, slot);
        gauge.valid[slot] = true;
    }
}

/* The slot of a kind in a round, counted from the last one. */
static uint32_t find_slot(uint32_t from_last, oc_flood_phase_t phase)
{
    uint32_t slot = (OC_FLOOD_ROUNDS - 1 - from_last) * OC_PHASES;

    while (phase != oc_flood_phase(slot)) {
        slot++;
    }
    return slot;
}

static void expect(network_t network, oc_flood_verdict_t verdict)
{
    play(network);
    assert_int_equal(oc_flood_judge(&gauge), verdict);
}

/* Each round has each kind once, and kinds are not always in the same order. */
static void test_phases(void **state)
{
    unsigned first[OC_PHASES] = {0};

    (void) state;
    for (uint32_t round = 0; round < OC_FLOOD_ROUNDS; round++) {
        unsigned seen = 0;

        for (uint32_t slot = round * OC_PHASES; slot < (round + 1) * OC_PHASES; slot++) {
            seen |= 1u << oc_flood_phase(slot);
        }
        assert_int_equal(seen, (1u << OC_PHASES) - 1);
        first[oc_flood_phase(round * OC_PHASES)]++;
    }
    for (unsigned phase = 0; phase < OC_PHASES; phase++) {
        assert_true(first[phase] >= OC_FLOOD_ROUNDS / OC_PHASES);
    }
}

static void test_networks(void **state)
{
    (void) state;
    expect((network_t) {.control = BURST, .probe = BURST}, OC_FLOOD_FLOODED);
    expect((network_t) {.control = BURST}, OC_FLOOD_GUARDED);
    expect((network_t) {0}, OC_FLOOD_BLIND);                /* the card drops what is not joined */
    expect((network_t) {.probe = BURST}, OC_FLOOD_FLOODED); /* from another network */
    expect((network_t) {.control = BURST / 2}, OC_FLOOD_BLIND);
    expect((network_t) {.control = BURST, .probe = BURST / 2}, OC_FLOOD_BLIND);
    /* some are lost on the way */
    expect((network_t) {.control = BURST - 10, .probe = BURST - 10}, OC_FLOOD_FLOODED);
    expect((network_t) {.control = BURST - 10, .probe = 1}, OC_FLOOD_GUARDED);
}

/* What else is on the network is no flood, and hides none. */
static void test_noise(void **state)
{
    (void) state;
    expect((network_t) {.control = BURST, .noise = BURST / 8}, OC_FLOOD_GUARDED);
    expect((network_t) {.control = BURST, .probe = BURST, .noise = BURST / 8}, OC_FLOOD_FLOODED);
    expect((network_t) {.noise = BURST / 8}, OC_FLOOD_BLIND);
    for (uint64_t noise = BURST / 2; noise < 100 * BURST; noise *= 3) {
        expect((network_t) {.control = BURST, .noise = noise}, OC_FLOOD_BLIND);
        expect((network_t) {.control = BURST, .probe = BURST, .noise = noise}, OC_FLOOD_BLIND);
        expect((network_t) {.noise = noise}, OC_FLOOD_BLIND);
    }
}

/* One burst of others, wherever it falls, changes nothing; two where probes are leave it open. */
static void test_bursts_of_others(void **state)
{
    (void) state;
    for (uint32_t slot = 0; slot < OC_FLOOD_SLOTS; slot++) {
        play((network_t) {.control = BURST});
        gauge.counts[slot] += 3 * BURST;
        assert_int_equal(oc_flood_judge(&gauge), OC_FLOOD_GUARDED);
        play((network_t) {.control = BURST, .probe = BURST});
        gauge.counts[slot] += 3 * BURST;
        assert_int_equal(oc_flood_judge(&gauge), OC_FLOOD_FLOODED);
    }
    play((network_t) {.control = BURST});
    gauge.counts[find_slot(0, OC_PHASE_PROBE)] += BURST;
    gauge.counts[find_slot(2, OC_PHASE_PROBE)] += BURST;
    assert_int_equal(oc_flood_judge(&gauge), OC_FLOOD_BLIND);
}

/* A switch that learns of a member only after a while has flooded before. */
static void test_beginning(void **state)
{
    (void) state;
    play((network_t) {.control = BURST});
    for (uint32_t slot = 0; slot < 2 * OC_PHASES; slot++) {
        gauge.counts[slot] = BURST;
    }
    assert_int_equal(oc_flood_judge(&gauge), OC_FLOOD_GUARDED);
    /* and one that is quiet at first floods all the same */
    play((network_t) {.control = BURST, .probe = BURST});
    memset(gauge.counts, 0, 2 * OC_PHASES * sizeof(gauge.counts[0]));
    assert_int_equal(oc_flood_judge(&gauge), OC_FLOOD_FLOODED);
}

/* Counters that are brought up to date every so many slots, wherever that begins. */
static void test_slow_counters(void **state)
{
    network_t flood = {.control = BURST, .probe = BURST}, pruned = {.control = BURST};

    (void) state;
    for (uint32_t period = 4; period < 70; period++) {
        for (uint32_t begin = 0; begin < 2 * period; begin++) {
            uint64_t floods = 0, controls = 0;
            oc_flood_gauge_t other = {.burst = BURST};

            play((network_t) {0});
            memset(other.valid, true, sizeof(other.valid));
            for (uint32_t slot = 0; slot < OC_FLOOD_SLOTS; slot++) {
                floods += slot_adds(&flood, slot);
                controls += slot_adds(&pruned, slot);
                if (begin % period == slot % period) {
                    gauge.counts[slot] = floods;
                    other.counts[slot] = controls;
                    floods = controls = 0;
                }
            }
            assert_int_not_equal(oc_flood_judge(&gauge), OC_FLOOD_GUARDED);
            assert_int_not_equal(oc_flood_judge(&other), OC_FLOOD_FLOODED);
        }
    }
}

/* Slots of which marks were lost, or taken late. */
static void test_attendance(void **state)
{
    (void) state;
    play((network_t) {.control = BURST});
    gauge.valid[find_slot(0, OC_PHASE_PROBE)] = false;
    gauge.valid[find_slot(3, OC_PHASE_QUIET)] = false;
    assert_int_equal(oc_flood_judge(&gauge), OC_FLOOD_GUARDED);
    assert_true(oc_flood_is_attended(&gauge));
    gauge.valid[find_slot(1, OC_PHASE_CONTROL)] = false;
    assert_int_equal(oc_flood_judge(&gauge), OC_FLOOD_BLIND);
    assert_false(oc_flood_is_attended(&gauge));
}

/* ---- who does what ---- */

#define RANKS 6

static uint8_t bytes[RANKS][OC_MULTICAST_RECORD_SIZE];
static oc_flood_plan_t plan;

/* hosts: a letter for each rank; known: '?', 'b', 'g' or 'f' for what it knows. */
static void make_plan(const char *hosts, const char *known, uint32_t rank,
                      oc_multicast_choice_t choice, oc_carrier_t carrier)
{
    static const char letters[] = "?bgf";
    uint32_t count = (uint32_t) strlen(hosts);

    assert_true(count <= RANKS && strlen(known) == count);
    for (uint32_t i = 0; i < count; i++) {
        oc_cast_record_t record = {.ready = true, .token = 1, .contact = 1,
                                   .host = (uint64_t) hosts[i]};
        oc_carrier_record_t *udp = &record.carriers[OC_CARRIER_UDP];

        /* r has RoCE */
        record.carriers[OC_CARRIER_VERBS].floods = 'r' == hosts[i];
        udp->floods = true;
        udp->flood = (oc_flood_verdict_t) (strchr(letters, known[i]) - letters);
        oc_cast_record_encode(&record, bytes[i]);
    }
    assert_int_equal(oc_flood_plan_make(bytes[0], count, rank, choice, carrier, &plan), OC_OK);
}

static void expect_known(const char *hosts, const char *known, oc_flood_verdict_t verdict)
{
    for (uint32_t rank = 0; rank < strlen(hosts); rank++) {
        make_plan(hosts, known, rank, OC_MULTICAST_AUTO, OC_CARRIER_UDP);
        assert_false(plan.tested);
        assert_int_equal(plan.known, verdict);
    }
}

static void test_no_test(void **state)
{
    (void) state;
    expect_known("aaaa", "????", OC_FLOOD_GUARDED);
    for (unsigned choice = OC_MULTICAST_VERBS; choice <= OC_MULTICAST_UDP; choice++) {
        make_plan("abcd", "????", 0, (oc_multicast_choice_t) choice, OC_CARRIER_UDP);
        assert_false(plan.tested);
        assert_int_equal(plan.known, OC_FLOOD_GUARDED);
    }
    make_plan("abcd", "????", 0, OC_MULTICAST_AUTO, OC_CARRIER_VERBS);
    assert_false(plan.tested);
    assert_int_equal(plan.known, OC_FLOOD_GUARDED);
}

/* InfiniBand on some hosts, Ethernet on one. What is known of UDP is of another network. */
static void test_verbs(void **state)
{
    (void) state;
    for (uint32_t rank = 0; rank < 4; rank++) {
        make_plan("abcr", "gggg", rank, OC_MULTICAST_AUTO, OC_CARRIER_VERBS);
        assert_true(plan.tested);
    }
}

static void test_known(void **state)
{
    (void) state;
    expect_known("abc", "ggg", OC_FLOOD_GUARDED);
    expect_known("abc", "bgb", OC_FLOOD_GUARDED);
    expect_known("abc", "bbb", OC_FLOOD_BLIND);
    expect_known("aabb", "b?g?", OC_FLOOD_GUARDED); /* one rank of a host knows */
    expect_known("abcd", "?gf?", OC_FLOOD_FLOODED);
}

static void expect_roles(const char *hosts, const char *known, const char *roles)
{
    for (uint32_t rank = 0; rank < strlen(hosts); rank++) {
        make_plan(hosts, known, rank, OC_MULTICAST_AUTO, OC_CARRIER_UDP);
        assert_true(plan.tested);
        assert_int_equal("-smw"[plan.role], roles[rank]);
    }
}

static void test_roles(void **state)
{
    (void) state;
    expect_roles("ab", "??", "sw");
    expect_roles("abc", "?g?", "swm");
    expect_roles("abcdef", "ggggg?", "swmwmw");
    expect_roles("aabbcc", "??????", "s-w-m-");
    expect_roles("abcabc", "??????", "swm---");
    expect_roles("babab", "?b?g?", "sw---");
}

/* ---- datagrams ---- */

static const uint8_t job_key[OC_JOB_KEY_SIZE] = {1, 2, 3};

static void test_frames(void **state)
{
    const oc_flood_frame_t frames[] = {
        {.kind = OC_FLOOD_FRAME_MARK, .slot = OC_FLOOD_SLOTS},
        {.kind = OC_FLOOD_FRAME_CONTROL, .slot = 3, .index = 0},
        {.kind = OC_FLOOD_FRAME_PROBE, .slot = OC_FLOOD_SLOTS - 1, .index = OC_FLOOD_BURST - 1},
    };
    oc_mac_t *seal = oc_flood_seal_new(job_key, 77);
    uint8_t frame[OC_FLOOD_FRAME_SIZE];
    oc_flood_frame_t got;

    (void) state;
    assert_non_null(seal);
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        oc_flood_frame_encode(seal, 77, &frames[i], frame);
        assert_int_equal(frame[OC_FLOOD_INDEX_AT], frames[i].index);
        assert_true(oc_flood_frame_open(seal, 77, frame, sizeof(frame), &got));
        assert_memory_equal(&got, &frames[i], sizeof(got));
        assert_false(oc_flood_frame_open(seal, 78, frame, sizeof(frame), &got));
        assert_false(oc_flood_frame_open(seal, 77, frame, sizeof(frame) - 1, &got));
        for (size_t at = 0; at < sizeof(frame); at++) {
            frame[at] ^= 1;
            assert_false(oc_flood_frame_open(seal, 77, frame, sizeof(frame), &got));
            frame[at] ^= 1;
        }
    }
    oc_mac_free(seal);
}

/* Of another group: its code does not fit, even if it says the same. */
static void test_foreign_frames(void **state)
{
    oc_flood_frame_t frame = {.kind = OC_FLOOD_FRAME_PROBE, .slot = 5}, got;
    oc_mac_t *seal = oc_flood_seal_new(job_key, 77), *other = oc_flood_seal_new(job_key, 78);
    uint8_t forged[OC_FLOOD_FRAME_SIZE];

    (void) state;
    assert_non_null(seal);
    assert_non_null(other);
    oc_flood_frame_encode(other, 77, &frame, forged);
    assert_true(oc_flood_frame_decode(77, forged, sizeof(forged), &got));
    assert_false(oc_flood_frame_open(seal, 77, forged, sizeof(forged), &got));
    oc_mac_free(seal);
    oc_mac_free(other);
}

/* One that has sent all but its end, which is due. */
static oc_flood_test_t ending_at(uint64_t due)
{
    return (oc_flood_test_t) {
        .role = OC_FLOOD_SENDER, .member_fd = -1,
        .sender = {.fd = -1, .begun = true, .marked = true, .slot = OC_FLOOD_SLOTS, .due = due}};
}

/* The one for others to watch, at any place among those of groups. */
static void expect_show_waits(bool first)
{
    oc_flood_test_t show = ending_at(1000), other = ending_at(5000);
    oc_multicast_t multicast = {.show = &show, .now = 1000};
    struct pollfd fds[OC_MULTICAST_FLOOD_FDS];
    uint64_t timeout = UINT64_MAX;

    DL_APPEND(multicast.floods, &other);
    if (first) {
        DL_PREPEND(multicast.floods, &show);
    } else {
        DL_APPEND(multicast.floods, &show);
    }
    oc_floods_progress(&multicast);
    assert_false(show.sender.over || other.sender.over);
    assert_int_equal(oc_floods_sleep(&multicast, fds, 1000, &timeout), 0);
    assert_int_equal(timeout, 4000);
    multicast.now = 5000;
    oc_floods_progress(&multicast);
    assert_true(other.sender.over && !show.sender.over);
    DL_DELETE(multicast.floods, &other);
    timeout = UINT64_MAX;
    assert_int_equal(oc_floods_sleep(&multicast, fds, 5000, &timeout), 0);
    assert_int_equal(timeout, 0);
    oc_floods_progress(&multicast);
    assert_true(show.sender.over);
}

static void test_show_waits(void **state)
{
    (void) state;
    expect_show_waits(true);
    expect_show_waits(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_networks),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_bursts_of_others),
        cmocka_unit_test(test_beginning),
        cmocka_unit_test(test_slow_counters),
        cmocka_unit_test(test_attendance),
        cmocka_unit_test(test_no_test),
        cmocka_unit_test(test_verbs),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_foreign_frames),
        cmocka_unit_test(test_show_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
