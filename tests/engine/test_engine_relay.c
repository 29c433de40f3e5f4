/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of Allgather and Bcast in which one rank of each host multicasts for all of it. Hosts are made up: all
 * ranks are on this one.
 */
/* Test: quick 240; threads: all 240; sanitizers: all 400 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/group/relay_state.h"
#include "multicast/service/cast_record.h"
#include "tests/engine/casting.h"
#include "tests/engine/harness.h"
#include "tests/faults/door.h"
#include "tests/random.h"

#define QUEUED 12

/* Which host each rank is on. */
static const uint8_t *layout;

static const uint8_t blocked[] = {1, 1, 1, 2, 2, 2}, cyclic[] = {1, 2, 3, 1, 2, 3, 1, 2},
                     uneven[] = {1, 2, 2, 2, 2, 3}, reversed[] = {3, 2, 2, 1, 1, 3};

static void settle_in(rank_t *rank)
{
    rank->hosts = layout;
    rank->service = OC_SERVICE_MULTICAST;
}

static bool rank_leads(const rank_t *rank)
{
    for (uint32_t other = 0; other < rank->rank; other++) {
        if (layout[other] == layout[rank->rank]) {
            return false;
        }
    }
    return true;
}

static bool is_alone(const rank_t *rank)
{
    for (uint32_t other = 0; other < rank->num_ranks; other++) {
        if (other != rank->rank && layout[other] == layout[rank->rank]) {
            return false;
        }
    }
    return true;
}

/* The first of each host receives from the network, and the others from it. */
static void check_counters(const rank_t *rank)
{
    const oc_counters_t *counters = &rank->counters;

    CHECK(0 == counters->failures);
    if (rank_leads(rank)) {
        CHECK(counters->cast.fragments_sent > 0 && counters->cast.fragments_received > 0);
    } else {
        CHECK(0 == counters->cast.fragments_sent && 0 == counters->cast.fragments_received);
        CHECK(0 == counters->cast.control_messages);
    }
    CHECK(is_alone(rank) == (0 == counters->bytes_node));
}

static const size_t sizes[] = {1, 7, 1000, 28000, 65536, 1000003};

#define NUM_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void results(rank_t *rank)
{
    const oc_counters_t *counters = &rank->counters;
    unsigned long long sent = 0;

    settle_in(rank);
    for (unsigned i = 0; i < NUM_SIZES; i++) {
        casting_allgather(rank, 0, sizes[i], 0 != i % 2, i);
        sent += sizes[i];
    }
    CHECK(NUM_SIZES == counters->allgather_offloaded && sent == counters->bytes_sent);
    CHECK(sent * (rank->num_ranks - 1) == counters->bytes_received);
    for (uint32_t root = 0; root < rank->num_ranks; root++) {
        casting_bcast(rank, 0, 300000 + root, root);
        casting_bcast(rank, 0, 10 + root, root);
    }
    CHECK(2 * rank->num_ranks == counters->bcast_offloaded);
    check_counters(rank);
    CHECK(OC_GROUP_LIVE == oc_group_state(rank_group(rank, 0)));
}

static void run(const uint8_t *hosts, uint32_t ranks, void (*body)(rank_t *rank))
{
    oc_job_settings_t settings = cast_settings();

    layout = hosts;
    assert_int_equal(ranks_run(ranks, &settings, body, 100), 0);
}

static void test_results(void **state)
{
    (void) state;
    run(blocked, 6, results);
    run(cyclic, 8, results);
    run(uneven, 6, results);
    run(reversed, 6, results);
}

/* Blocks that are empty, or longer than all memory that a host shares. */
static void unequal(rank_t *rank)
{
    static const size_t lengths[][MAX_TEST_RANKS] = {
        {0, 1, 300000, 5, 0, 0}, {70000, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 9, 0},
        {12, 0, 65536, 40000, 65537, 1}, {3000000, 1, 0, 2000000, 0, 0}, {0, 3000000, 1, 0, 2000000, 5}};
    allgather_t a;

    settle_in(rank);
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        casting_lay_out(rank, &a, lengths[i], 3, i);
        casting_start(rank, 0, &a, 0 != i % 2, false);
        CHECK(rank_wait(rank, &a.outcome, 1, 20));
        casting_check(rank, &a, 3);
    }
    check_counters(rank);
}

static void test_unequal_blocks(void **state)
{
    (void) state;
    run(blocked, 6, unequal);
    run(uneven, 6, unequal);
    run(reversed, 6, unequal);
}

static void lossy(rank_t *rank)
{
    settle_in(rank);
    for (unsigned i = 0; i < 8; i++) {
        casting_allgather(rank, 0, 300000 + i, false, i);
        casting_bcast(rank, 0, 400000 + i, i % rank->num_ranks);
    }
    if (rank_leads(rank)) {
        CHECK(rank->counters.cast.fragments_lost > 0 && rank->counters.cast.fragments_recovered > 0);
    }
}

static void test_loss(void **state)
{
    (void) state;
    faults_install("drop=0.2,duplicate=0.05,reorder=0.05,seed=3");
    run(blocked, 6, lossy);
    run(cyclic, 6, lossy);
}

/* All operations are there before any group is set up; on odd ranks groups in another order. */
static void queued(rank_t *rank)
{
    static allgather_t all[3][QUEUED];
    size_t lengths[MAX_TEST_RANKS] = {5000, 5000, 90000, 5000, 5000, 5000};

    settle_in(rank);
    for (unsigned n = 0; n < 3; n++) {
        unsigned group = rank->rank % 2 ? 2 - n : n;

        for (unsigned i = 0; i < QUEUED; i++) {
            casting_lay_out(rank, &all[group][i], lengths, 3, i + group);
            casting_start(rank, group, &all[group][i], false, false);
        }
    }
    for (unsigned group = 0; group < 3; group++) {
        for (unsigned i = 0; i < QUEUED; i++) {
            CHECK(rank_wait(rank, &all[group][i].outcome, 1, 20));
            casting_check(rank, &all[group][i], 3);
        }
    }
    check_counters(rank);
}

static void test_queued_on_many_groups(void **state)
{
    (void) state;
    run(blocked, 6, queued);
    run(reversed, 6, queued);
}

/* Ranks come at any time, and leave again. */
static void at_random(rank_t *rank)
{
    oc_random_t common = {7}, own = {rank->rank + 1};
    size_t lengths[MAX_TEST_RANKS];
    allgather_t a;

    settle_in(rank);
    for (unsigned i = 0; i < 150; i++) {
        for (uint32_t r = 0; r < rank->num_ranks; r++) {
            size_t most = (size_t) 1 << oc_random_below(&common, 18);

            lengths[r] = oc_random_below(&common, most + 1);
        }
        lengths[i % rank->num_ranks]++;
        if (0 == oc_random_below(&own, 4)) {
            usleep((useconds_t) oc_random_below(&own, 3000));
        }
        casting_lay_out(rank, &a, lengths, 1, i);
        casting_start(rank, i % 2, &a, 0 == oc_random_below(&common, 2), false);
        CHECK(rank_wait(rank, &a.outcome, 1, 20));
        casting_check(rank, &a, 1);
    }
    check_counters(rank);
}

static void test_random_operations(void **state)
{
    (void) state;
    run(blocked, 6, at_random);
    run(cyclic, 8, at_random);
    run(uneven, 6, at_random);
}

/* ---- ranks that fall behind ---- */

/* Places of a ring, and their size. */
#define PLACES      8
#define PLACE_BYTES ((size_t) 128 << 10)

/* The others go on without rank 2, which gives nothing, until a place is needed that it has not read. */
static void outrun(rank_t *rank)
{
    static const uint32_t roots[] = {1, 3, 3, 3, 3, 3, 3, 3, 1};
    enum { NUM = sizeof(roots) / sizeof(roots[0]) };
    uint8_t *buffers[NUM];
    outcome_t outcomes[NUM] = {0};
    size_t length;

    settle_in(rank);
    casting_bcast(rank, 0, 10, 3);
    while (2 == rank->rank && 0 == atomic_load(&rank->shared->operations)) {
        usleep(1000);
    }
    for (unsigned i = 0; i < NUM; i++) {
        length = NUM - 1 == i ? (PLACES + 1) * PLACE_BYTES : 10;
        buffers[i] = calloc(1, length);
        CHECK(OC_OK == casting_start_bcast(rank, 0, buffers[i], length, roots[i], false, &outcomes[i]));
    }
    if (1 == rank->rank) {
        rank_linger(rank, 200); /* gives what there is room for */
        atomic_store(&rank->shared->operations, 1);
    }
    for (unsigned i = 0; i < NUM; i++) {
        length = NUM - 1 == i ? (PLACES + 1) * PLACE_BYTES : 10;
        CHECK(rank_wait(rank, &outcomes[i], 1, 20) && OC_OK == outcomes[i].status);
        CHECK(casting_has_bcast(buffers[i], length, roots[i]));
        free(buffers[i]);
    }
}

static void test_rank_that_falls_behind(void **state)
{
    static const uint8_t hosts[] = {1, 1, 1, 2};

    (void) state;
    run(hosts, 4, outrun);
}

/* ---- failures ---- */

/* One rank, which is no leader, cannot go on: all hear of it. */
static void abandoned(rank_t *rank)
{
    const size_t lengths[MAX_TEST_RANKS] = {100000, 100000, 100000, 100000, 100000, 100000};
    allgather_t a;

    settle_in(rank);
    casting_allgather(rank, 0, 1000, false, 1);
    rank_barrier(rank); /* it may be over on some ranks first */
    if (2 == rank->rank) {
        oc_group_give_up(rank_group(rank, 0), OC_ERR_NO_MEMORY, "rank 2 has had enough");
    }
    casting_lay_out(rank, &a, lengths, 0, 0);
    casting_start(rank, 0, &a, false, true);
    CHECK(rank_wait(rank, &a.outcome, 1, 20));
    CHECK(a.outcome.status < OC_OK && OC_DECLINED != a.outcome.status);
    CHECK(OC_GROUP_FAILED == oc_group_state(rank_group(rank, 0)));
    if (2 != rank->rank) {
        CHECK(NULL != strstr(oc_group_reason(rank_group(rank, 0)), "has had enough"));
    }
    casting_release(&a);
    casting_allgather(rank, 1, 1000, false, 2);
}

static void test_rank_that_gives_up(void **state)
{
    (void) state;
    run(blocked, 6, abandoned);
    run(cyclic, 6, abandoned);
}

static oc_status_t refuse(oc_device_t *device, oc_direction_t direction, void *to, const void *from,
                          size_t length, void **copy)
{
    (void) device;
    (void) direction;
    (void) to;
    (void) from;
    (void) length;
    (void) copy;
    return OC_ERR_SYSTEM;
}

static void pin_nothing(oc_device_t *device, void *memory, size_t length)
{
    (void) device;
    (void) memory;
    (void) length;
}

static void unpin_nothing(oc_device_t *device, void *memory)
{
    (void) device;
    (void) memory;
}

static const char *say_why(const oc_device_t *device)
{
    (void) device;
    return "it is broken";
}

static const oc_device_ops_t broken_ops = {.begin = refuse, .pin = pin_nothing,
                                           .unpin = unpin_nothing, .reason = say_why};
static oc_device_t broken_device = {.ops = &broken_ops};

/* A rank that is no leader cannot read what it gives; then it is away for so long that the others would have it. */
static void unread(rank_t *rank)
{
    const size_t lengths[MAX_TEST_RANKS] = {1000, 1000, 1000, 1000, 1000, 1000};
    allgather_t a;
    oc_group_t *group;

    settle_in(rank);
    casting_allgather(rank, 0, 1000, false, 1);
    rank_barrier(rank); /* as above */
    group = rank_group(rank, 0);
    casting_lay_out(rank, &a, lengths, 0, 0);
    if (2 == rank->rank) {
        a.device = &broken_device;
    }
    casting_start(rank, 0, &a, false, true);
    while (2 == rank->rank && NULL != group->relay && group->relay->give.member <= 2) {
        oc_client_progress(rank->client);
    }
    usleep(2 == rank->rank ? 500000 : 0);
    CHECK(rank_wait(rank, &a.outcome, 1, 20));
    CHECK(a.outcome.status < OC_OK && OC_DECLINED != a.outcome.status);
    CHECK(2 == rank->rank || NULL != strstr(oc_group_reason(group), "rank 2 cannot reach its buffers"));
    casting_release(&a);
}

static void test_device_that_cannot_be_read(void **state)
{
    (void) state;
    run(blocked, 6, unread);
}

/* Who dies, and whether all ranks wait for its block, or for what it hands on. */
static uint32_t victim;

static void widowed(rank_t *rank)
{
    const size_t lengths[MAX_TEST_RANKS] = {3000000, 3000000, 3000000, 3000000, 3000000, 3000000};
    allgather_t a;

    settle_in(rank);
    casting_allgather(rank, 0, 1000, false, 1);
    rank_barrier(rank);
    if (victim == rank->rank) {
        kill(getpid(), SIGKILL);
    }
    casting_lay_out(rank, &a, lengths, 0, 0);
    casting_start(rank, 0, &a, false, true);
    CHECK(rank_wait(rank, &a.outcome, 1, 20));
    CHECK(a.outcome.status < OC_OK && OC_DECLINED != a.outcome.status);
    casting_release(&a);
    _exit(EXIT_SUCCESS); /* there is one less to meet at the end */
}

/* A leader, and one that is none. */
static void test_rank_that_dies(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    layout = blocked;
    for (victim = 3; victim < 6; victim += 2) {
        assert_int_equal(ranks_run(6, &settings, widowed, 60), 1);
    }
}

/* A rank and its leader mean different things. */
static void disagreeing(rank_t *rank)
{
    size_t lengths[MAX_TEST_RANKS] = {1000, 1000, 1000, 1000, 1000, 1000};
    allgather_t a;

    settle_in(rank);
    lengths[0] += 4 == rank->rank;
    casting_lay_out(rank, &a, lengths, 0, 0);
    casting_start(rank, 0, &a, false, false);
    CHECK(rank_wait(rank, &a.outcome, 1, 20));
    CHECK(a.outcome.status < OC_OK && OC_DECLINED != a.outcome.status);
    CHECK(NULL != strstr(oc_group_reason(rank_group(rank, 0)), "disagree"));
    casting_release(&a);
}

static void test_ranks_that_disagree(void **state)
{
    (void) state;
    run(blocked, 6, disagreeing);
}

/* Datagrams end in the middle: the blocking operation goes on by messages, and is the last one on all ranks. */
static void cut_off(rank_t *rank)
{
    const size_t lengths[MAX_TEST_RANKS] = {60000, 60000, 60000, 60000, 60000, 60000};
    unsigned done = 0;
    allgather_t a;

    settle_in(rank);
    for (;; done++) {
        CHECK(done < 60);
        casting_lay_out(rank, &a, lengths, 0, done);
        casting_start(rank, 0, &a, 0 != done % 2, true);
        CHECK(rank_wait(rank, &a.outcome, 1, 20));
        if (OC_DECLINED == a.outcome.status) {
            break;
        }
        casting_check(rank, &a, 0);
    }
    casting_release(&a);
    CHECK(done == rank->counters.allgather_offloaded && done > 0);
    CHECK(OC_GROUP_DECLINED == oc_group_state(rank_group(rank, 0)));
    atomic_fetch_add(&rank->shared->operations, done);
    rank_barrier(rank);
    CHECK(done * rank->num_ranks == atomic_load(&rank->shared->operations));
}

static void test_end_of_multicast(void **state)
{
    (void) state;
    faults_install("cut=1000");
    run(blocked, 6, cut_off);
    run(cyclic, 6, cut_off);
}

/*
 * Leaders have all of a vector that their hosts have no room for, while another operation ends; the other ranks come when
 * so many leaders are so far. false: the group is without multicast.
 */
static bool hand_on_late(rank_t *rank, unsigned leaders)
{
    const size_t length = (PLACES + 4) * PLACE_BYTES;
    uint8_t *buffer = calloc(1, length), small[10];
    outcome_t late = {0}, other = {0};
    bool goes_on;

    while (!rank_leads(rank) && atomic_load(&rank->shared->operations) < leaders) {
        usleep(1000);
    }
    goes_on = OC_OK == casting_start_bcast(rank, 0, buffer, length, 0, true, &late);
    while (goes_on && rank_leads(rank) && !rank_group(rank, 0)->relay->cast_over) {
        rank_linger(rank, 1);
    }
    if (OC_OK == casting_start_bcast(rank, 1, small, sizeof(small), 0, true, &other)) {
        CHECK(rank_wait(rank, &other, 1, 20) && casting_has_bcast(small, sizeof(small), 0));
    }
    if (rank_leads(rank)) {
        CHECK(!goes_on || (NULL != rank_group(rank, 0)->relay && !late.done));
        atomic_fetch_add(&rank->shared->operations, 1);
    }
    CHECK(!goes_on || (rank_wait(rank, &late, 1, 20) && OC_OK == late.status));
    CHECK(!goes_on || casting_has_bcast(buffer, length, 0));
    free(buffer);
    return goes_on;
}

/* Multicast has ended before the last operation is over on a host. */
static void cut_off_late(rank_t *rank)
{
    unsigned done = 0;

    settle_in(rank);
    casting_bcast(rank, 0, 10, 0);
    casting_bcast(rank, 1, 10, 0);
    while (hand_on_late(rank, 2 * (done + 1))) {
        CHECK(++done < 20);
    }
    CHECK(done > 0 && rank->counters.bcast_offloaded >= done + 2);
    CHECK(OC_GROUP_DECLINED == oc_group_state(rank_group(rank, 0)));
}

static void test_end_before_all_is_handed_on(void **state)
{
    (void) state;
    faults_install("cut=200");
    run(blocked, 6, cut_off_late);
}

/* ---- when memory is not shared ---- */

static void each_for_itself(rank_t *rank)
{
    settle_in(rank);
    for (unsigned i = 0; i < NUM_SIZES; i++) {
        casting_allgather(rank, 0, sizes[i], 0 != i % 2, i);
    }
    CHECK(rank->counters.cast.fragments_sent > 0 && rank->counters.cast.fragments_received > 0);
    CHECK(0 == rank->counters.bytes_node);
}

static void test_each_rank_for_itself(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    layout = blocked;
    settings.multicast_receiver = OC_RECEIVER_RANK;
    assert_int_equal(ranks_run(6, &settings, each_for_itself, 60), 0);
}

/* Puts a name that nothing has into the record of rank 2. */
static void rename_memory(rank_t *rank)
{
    uint8_t *bytes = rank->shared->boards[0].records[2];
    oc_cast_record_t record;

    CHECK(oc_cast_record_decode(bytes, &record) && OC_SHARES_MEMORY == record.offer.shares);
    memset(record.offer.segment, 0xee, sizeof(record.offer.segment));
    oc_cast_record_encode(&record, bytes);
}

/* Nobody finds the memory of rank 2: on all hosts each rank receives for itself. */
static void unattachable(rank_t *rank)
{
    const size_t lengths[MAX_TEST_RANKS] = {30000, 30000, 30000, 30000, 30000, 30000};
    board_t *board = &rank->shared->boards[0];
    allgather_t a;

    settle_in(rank);
    atomic_store(&board->hold, 1);
    rank_compute(rank);
    casting_lay_out(rank, &a, lengths, 0, 1);
    casting_start(rank, 0, &a, false, true);
    rank_compute(rank);
    if (0 == rank->rank) {
        rename_memory(rank);
        atomic_store(&board->hold, 0);
    }
    CHECK(rank_wait(rank, &a.outcome, 1, 10));
    casting_check(rank, &a, 0);
    CHECK(rank->counters.cast.fragments_received > 0 && 0 == rank->counters.bytes_node);
    casting_allgather(rank, 1, 30000, false, 2);
    CHECK((0 == rank->counters.bytes_node) == is_alone(rank));
}

static void test_memory_that_is_not_found(void **state)
{
    (void) state;
    run(blocked, 6, unattachable);
    run(uneven, 6, unattachable);
}

#define SLEEPERS 40

/* Sleeps as long as nobody wakes it: a lost wake-up costs two seconds, and there are few. */
static void sleepers(rank_t *rank)
{
    uint64_t start = oc_clock_ns();
    size_t lengths[MAX_TEST_RANKS];
    allgather_t a;

    settle_in(rank);
    casting_allgather(rank, 0, 10, false, 1);
    for (unsigned i = 0; i < SLEEPERS; i++) {
        for (uint32_t r = 0; r < rank->num_ranks; r++) {
            lengths[r] = i % 2 ? 300000 : 10;
        }
        /* one of them comes late: the others sleep already */
        usleep(i % rank->num_ranks == rank->rank ? 20000 : 0);
        casting_lay_out(rank, &a, lengths, 0, i);
        casting_start(rank, 0, &a, false, true);
        while (!a.outcome.done) {
            if (0 == oc_client_progress(rank->client) && !a.outcome.done) {
                oc_client_wait(rank->client, 2000000);
            }
        }
        casting_check(rank, &a, 0);
    }
    CHECK(oc_clock_ns() - start < 20 * OC_SECOND);
}

static void test_sleep(void **state)
{
    (void) state;
    run(blocked, 6, sleepers);
    run(cyclic, 6, sleepers);
}

/* Faults are for one test. */
static int mend_network(void **state)
{
    (void) state;
    faults_install("");
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_unequal_blocks),
        cmocka_unit_test_teardown(test_loss, mend_network),
        cmocka_unit_test(test_queued_on_many_groups),
        cmocka_unit_test(test_random_operations),
        cmocka_unit_test(test_rank_that_falls_behind),
        cmocka_unit_test(test_rank_that_gives_up),
        cmocka_unit_test(test_device_that_cannot_be_read),
        cmocka_unit_test(test_rank_that_dies),
        cmocka_unit_test(test_ranks_that_disagree),
        cmocka_unit_test_teardown(test_end_of_multicast, mend_network),
        cmocka_unit_test_teardown(test_end_before_all_is_handed_on, mend_network),
        cmocka_unit_test(test_each_rank_for_itself),
        cmocka_unit_test(test_memory_that_is_not_found),
        cmocka_unit_test(test_sleep),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
