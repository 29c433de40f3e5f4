/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of Allgather and Bcast by UDP multicast on the loopback, without MPI. */
/* Test: quick 120; threads: default 120 -- --cycles 100 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "multicast/service/cast_record.h"
#include "tests/engine/casting.h"
#include "tests/engine/harness.h"
#include "tests/engine/late.h"
#include "tests/engine/lies.h"
#include "tests/faults/door.h"
#include "ucx_backend/worker.h"

#define QUEUED 12

/* Groups that are made one after the other. */
static unsigned num_cycles = 2000;

/* Joining a multicast address fails in this process. */
static bool no_membership;

/* How long this process does nothing for its Allgather after the start. */
static unsigned nap_us;

int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
    int (*real)(int, int, int, const void *, socklen_t);

    *(void **) &real = dlsym(RTLD_NEXT, "setsockopt");
    if (no_membership && IPPROTO_IP == level && IP_ADD_MEMBERSHIP == name) {
        errno = ENOBUFS;
        return -1;
    }
    return real(fd, level, name, value, length);
}

static void begin_allgather(rank_t *rank, unsigned group, size_t block, allgather_t *a)
{
    const size_t lengths[MAX_TEST_RANKS] = {block, block, block, block};

    casting_lay_out(rank, a, lengths, 0, 0);
    casting_start(rank, group, a, false, true);
}

/* What has succeeded is right. */
static oc_status_t end_allgather(rank_t *rank, allgather_t *a)
{
    oc_status_t status;

    CHECK(rank_wait(rank, &a->outcome, 1, 20));
    status = a->outcome.status;
    if (OC_OK == status) {
        casting_check(rank, a, 0);
    } else {
        casting_release(a);
    }
    return status;
}

static oc_status_t try_allgather(rank_t *rank, unsigned group, size_t block)
{
    allgather_t a;

    begin_allgather(rank, group, block, &a);
    usleep(nap_us);
    return end_allgather(rank, &a);
}

/* ---- results ---- */

static const size_t sizes[] = {1, 7, 1000, 28000, 65536, 1000003};

#define NUM_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void results(rank_t *rank)
{
    const oc_counters_t *counters = &rank->counters;
    unsigned long long sent = 0;
    char text[200];

    rank->service = OC_SERVICE_MULTICAST;
    for (unsigned i = 0; i < NUM_SIZES; i++) {
        casting_allgather(rank, 0, sizes[i], 0 != i % 2, i);
        sent += sizes[i];
    }
    CHECK(NUM_SIZES == counters->allgather_offloaded && sent == counters->bytes_sent);
    CHECK(sent * (rank->num_ranks - 1) == counters->bytes_received);
    for (uint32_t root = 0; root < rank->num_ranks; root++) {
        casting_bcast(rank, 0, 100000 + root, root);
    }
    CHECK(rank->num_ranks == counters->bcast_offloaded);
    CHECK(sent + 100000 + rank->rank == counters->bytes_sent);
    CHECK(NUM_SIZES == counters->allgather_offloaded);
    CHECK(counters->cast.fragments_sent > 0 && 0 == counters->failures);
    CHECK(OC_GROUP_LIVE == oc_group_state(rank_group(rank, 0)));
    oc_group_describe(rank_group(rank, 0), text, sizeof(text));
    CHECK(text == strstr(text, "udp multicast 239.1") && NULL != strstr(text, "on lo, 1 host"));
}

static void test_results(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    assert_int_equal(ranks_run(2, &settings, results, 60), 0);
    assert_int_equal(ranks_run(4, &settings, results, 60), 0);
}

static void unequal(rank_t *rank)
{
    static const size_t lengths[][MAX_TEST_RANKS] = {
        {0, 1, 300000, 5}, {70000, 0, 0, 0}, {0, 0, 0, 9}, {12, 0, 65536, 40000}};
    allgather_t a;

    rank->service = OC_SERVICE_MULTICAST;
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        casting_lay_out(rank, &a, lengths[i], 3, i);
        casting_start(rank, 0, &a, 0 != i % 2, false);
        CHECK(rank_wait(rank, &a.outcome, 1, 20));
        casting_check(rank, &a, 3);
    }
}

static void test_unequal_blocks(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    assert_int_equal(ranks_run(4, &settings, unequal, 60), 0);
}

static void test_chains(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    settings.multicast_senders = 1;
    assert_int_equal(ranks_run(3, &settings, results, 60), 0);
}

static void lossy(rank_t *rank)
{
    rank->service = OC_SERVICE_MULTICAST;
    for (unsigned i = 0; i < 8; i++) {
        casting_allgather(rank, 0, 300000 + i, false, i);
    }
    CHECK(rank->counters.cast.fragments_lost > 0);
    CHECK(rank->counters.cast.fragments_recovered > 0);
    CHECK(rank->counters.cast.bytes_shared > 0); /* all ranks are on one host */
}

static void test_loss(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    faults_install("drop=0.2,duplicate=0.05,reorder=0.05,seed=3");
    assert_int_equal(ranks_run(3, &settings, lossy, 60), 0);
}

/*
 * Late datagrams make ranks ask for much that comes anyway. Who has everything does not look at
 * what is still on its way to it, and nobody may wait for that.
 */
static void resting(rank_t *rank)
{
    rank->service = OC_SERVICE_MULTICAST;
    for (unsigned i = 0; i < 15; i++) {
        casting_allgather(rank, 0, 60000, true, i);
        rank_compute(rank);
    }
}

static void test_rests_between_operations(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    faults_install("delay=0.5,delay_ms=14,seed=3");
    assert_int_equal(ranks_run(6, &settings, resting, 60), 0);
}

/* ---- groups ---- */

/* All operations are there before any group is set up; on odd ranks groups in another order. */
static void queued(rank_t *rank)
{
    static allgather_t all[3][QUEUED];
    size_t lengths[MAX_TEST_RANKS] = {5000, 5000, 5000, 5000};

    rank->service = OC_SERVICE_MULTICAST;
    for (unsigned n = 0; n < 3; n++) {
        unsigned group = rank->rank % 2 ? 2 - n : n;

        for (unsigned i = 0; i < QUEUED; i++) {
            casting_lay_out(rank, &all[group][i], lengths, 3, i + group);
            casting_start(rank, group, &all[group][i], false, false);
        }
    }
    CHECK(0 == rank->counters.allgather_offloaded);
    for (unsigned group = 0; group < 3; group++) {
        for (unsigned i = 0; i < QUEUED; i++) {
            CHECK(rank_wait(rank, &all[group][i].outcome, 1, 20));
            casting_check(rank, &all[group][i], 3);
        }
    }
    CHECK(3 * QUEUED == rank->counters.allgather_offloaded && 3 == rank->counters.groups);
}

static void test_queued_on_many_groups(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    assert_int_equal(ranks_run(4, &settings, queued, 60), 0);
}

static unsigned count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;

    while (NULL != readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

static void cycles(rank_t *rank)
{
    unsigned before = 0;

    rank->service = OC_SERVICE_MULTICAST;
    for (unsigned i = 0; i < num_cycles; i++) {
        casting_allgather(rank, 0, 100, false, i);
        rank_renew_group(rank, 0);
        if (20 == i) {
            before = count_descriptors();
        }
    }
    CHECK(num_cycles == rank->counters.groups);
    CHECK(count_descriptors() == before);
}

static void test_many_groups_one_after_the_other(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    assert_int_equal(ranks_run(2, &settings, cycles, 110), 0);
}

/* ---- ranks that cannot ---- */

static void declines_alike(rank_t *rank, uint32_t blamed, const char *reason)
{
    oc_group_t *group;

    rank->service = OC_SERVICE_MULTICAST;
    CHECK(OC_DECLINED == try_allgather(rank, 0, 100));
    group = rank_group(rank, 0);
    CHECK(OC_GROUP_DECLINED == oc_group_state(group));
    CHECK(oc_group_reason(group) == strstr(oc_group_reason(group), reason));
    CHECK((rank->rank == blamed) == oc_group_tells(group));
    CHECK(OC_DECLINED == try_allgather(rank, 0, 100));
    CHECK(0 == rank->counters.failures && 0 == rank->counters.allgather_offloaded);
}

/* why: what only the one who is to blame knows. */
static void declines(rank_t *rank, uint32_t blamed, const char *reason, const char *why)
{
    declines_alike(rank, blamed, reason);
    CHECK((rank->rank == blamed) == (NULL != strstr(oc_group_reason(rank_group(rank, 0)), why)));
}

static void turned_off(rank_t *rank)
{
    if (1 == rank->rank) {
        rank->settings.multicast = OC_MULTICAST_OFF;
    }
    declines(rank, 1, "rank 1 cannot take part", ": coll_optcast_multicast is off");
}

static void no_interface(rank_t *rank)
{
    if (2 == rank->rank) {
        rank->settings.multicast_interface = "nosuch0";
    }
    declines(rank, 2, "rank 2 cannot multicast by udp", ": ");
}

static void other_settings(rank_t *rank)
{
    if (2 == rank->rank) {
        rank->settings.multicast_port++;
    }
    declines_alike(rank, 2, "rank 2 has other coll_optcast settings than rank 0");
}

/* The others join when what rank 1 had to say has come already, and was for nobody. */
static void cannot_join(rank_t *rank)
{
    oc_group_t *group;

    rank->service = OC_SERVICE_MULTICAST;
    rank->patient = true;
    no_membership = 1 == rank->rank;
    nap_us = 1 == rank->rank ? 0 : 300000;
    CHECK(OC_DECLINED == try_allgather(rank, 0, 100));
    group = rank_group(rank, 0);
    CHECK(OC_GROUP_DECLINED == oc_group_state(group));
    CHECK(!oc_group_tells(group)
          || NULL != strstr(oc_group_reason(group), "rank 1 cannot multicast: cannot use the "
                            "multicast address"));
    atomic_fetch_add(&rank->shared->operations, oc_group_tells(group));
    rank_barrier(rank);
    CHECK(1 == atomic_load(&rank->shared->operations));
}

static void test_rank_that_cannot(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    assert_int_equal(ranks_run(3, &settings, turned_off, 30), 0);
    assert_int_equal(ranks_run(3, &settings, no_interface, 30), 0);
    assert_int_equal(ranks_run(3, &settings, other_settings, 30), 0);
    assert_int_equal(ranks_run(3, &settings, cannot_join, 30), 0);
}

/* ---- networks that take their time ---- */

#define JOIN_TIME (400 * OC_MILLISECOND)

/* Nothing waits for it but what needs multicast. */
static void joined_late(rank_t *rank)
{
    rank->service = OC_SERVICE_MULTICAST;
    if (1 == rank->rank) {
        late_joins(JOIN_TIME, NULL);
    }
    for (unsigned i = 0; i < NUM_SIZES; i++) {
        casting_allgather(rank, 0, sizes[i], false, i);
    }
    CHECK(NUM_SIZES == rank->counters.allgather_offloaded);
    CHECK(1 != rank->rank || (1 == late_opened && 0 == late_closed));
}

/* All learn why; and the next communicator gets another chance at the same address. */
static void refused_late(rank_t *rank)
{
    oc_group_t *group;

    rank->service = OC_SERVICE_MULTICAST;
    if (1 == rank->rank) {
        late_joins(JOIN_TIME, "the subnet manager has no room");
    }
    CHECK(OC_DECLINED == try_allgather(rank, 0, 100));
    group = rank_group(rank, 0);
    CHECK(OC_GROUP_DECLINED == oc_group_state(group));
    CHECK(!oc_group_tells(group)
          || 0 == strcmp("rank 1 cannot multicast: the subnet manager has no room",
                         oc_group_reason(group)));
    atomic_fetch_add(&rank->shared->operations, oc_group_tells(group));
    if (1 == rank->rank) {
        CHECK(1 == late_opened && 0 == late_closed);
        late_joins(0, NULL);
    }
    casting_allgather(rank, 1, 100000, false, 7);
    CHECK(1 != rank->rank || (1 == late_opened && 1 == late_closed));
    CHECK(1 == atomic_load(&rank->shared->operations));
}

static void test_network_joins_late(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    settings.multicast_groups = 1;
    assert_int_equal(ranks_run(3, &settings, joined_late, 30), 0);
    assert_int_equal(ranks_run(3, &settings, refused_late, 30), 0);
}

/* ---- memberships that are lost ---- */

/* More than is under way before a rank has to say something, also in the largest datagrams. */
#define CUT_BLOCK    1000000
#define LEAST_PIECES (2 * CUT_BLOCK / 9000)

/* Rank 1 gets nothing by multicast any more. */
static void lose_membership(rank_t *rank, bool known)
{
    rank_barrier(rank);
    if (1 == rank->rank) {
        late_is_cut_off(true, known);
    }
}

/* It hears the others again. */
static void gather_again(rank_t *rank, unsigned group)
{
    unsigned long long unicast = rank->counters.cast.groups_unicast, received;
    unsigned long long offloaded = rank->counters.allgather_offloaded;

    late_is_cut_off(false, false);
    rank_barrier(rank);
    received = rank->counters.cast.fragments_received;
    casting_allgather(rank, group, CUT_BLOCK, false, 3);
    CHECK(rank->counters.cast.groups_unicast == unicast
          && rank->counters.allgather_offloaded == offloaded + 1);
    CHECK(rank->counters.cast.fragments_received - received > LEAST_PIECES / 2);
}

/* It asks for what it has missed. */
static void joined_again(rank_t *rank)
{
    rank->service = OC_SERVICE_MULTICAST;
    late_joins(0, NULL);
    casting_allgather(rank, 0, 1000, false, 1);
    lose_membership(rank, true);
    casting_allgather(rank, 0, CUT_BLOCK, false, 2);
    CHECK(1 != rank->rank || rank->counters.cast.fragments_recovered >= LEAST_PIECES);
    CHECK(0 == rank->counters.cast.groups_unicast);
    gather_again(rank, 0);
}

/*
 * For all that is known, the network carries no multicast any more. What is missed while rank 1 does
 * not look does not count, so it may take several operations. The next communicator looks again.
 */
static void cut_off(rank_t *rank)
{
    oc_status_t status = OC_OK;

    joined_again(rank);
    lose_membership(rank, false);
    for (unsigned i = 0; i < 50 && OC_OK == status; i++) {
        status = try_allgather(rank, 0, CUT_BLOCK);
    }
    CHECK(OC_DECLINED == status);
    CHECK(1 != rank->rank || 1 == rank->counters.cast.groups_unicast);
    gather_again(rank, 1);
}

/*
 * An operation that rank 0 enters late; rank 1 looks for a while, and then is away as others begin: it
 * may have missed what there was no room for.
 */
static oc_status_t allgather_late(rank_t *rank, bool away)
{
    allgather_t a;

    usleep(0 == rank->rank ? 50000 : 0);
    begin_allgather(rank, 0, CUT_BLOCK, &a);
    for (unsigned i = 0; i < 5; i++) {
        (void) oc_client_progress(rank->client);
        usleep(1000);
    }
    usleep(1 == rank->rank && away ? 120000 : 0);
    return end_allgather(rank, &a);
}

/* Who waits for others looks, so what it misses counts each time. */
static void away_or_waiting(rank_t *rank)
{
    unsigned long long offloaded;
    oc_status_t status = OC_OK;

    rank->service = OC_SERVICE_MULTICAST;
    late_joins(0, NULL);
    casting_allgather(rank, 0, 1000, false, 1);
    lose_membership(rank, false);
    offloaded = rank->counters.allgather_offloaded;
    for (unsigned i = 0; i < 4; i++) {
        CHECK(OC_OK == allgather_late(rank, true));
    }
    CHECK(0 == rank->counters.cast.groups_unicast);
    CHECK(offloaded + 4 == rank->counters.allgather_offloaded);
    for (unsigned i = 0; i < 6 && OC_OK == status; i++) {
        status = allgather_late(rank, false);
    }
    CHECK(OC_DECLINED == status);
    CHECK(1 != rank->rank || 1 == rank->counters.cast.groups_unicast);
}

static void test_membership_is_lost(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    assert_int_equal(ranks_run(3, &settings, cut_off, 60), 0);
    assert_int_equal(ranks_run(3, &settings, away_or_waiting, 60), 0);
}

/* ---- sleep ---- */

#define NAP_US 3000000

static uint64_t cpu_time(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t) used.tv_sec * OC_SECOND + (uint64_t) used.tv_nsec;
}

/* Who misses that something has come sleeps for three seconds. */
static void allgather_asleep(rank_t *rank, size_t block, unsigned seed)
{
    const size_t lengths[MAX_TEST_RANKS] = {block, block, block};
    uint64_t begun = oc_clock_ns();
    allgather_t a;

    casting_lay_out(rank, &a, lengths, 0, seed);
    casting_start(rank, 0, &a, false, true);
    while (!a.outcome.done) {
        if (0 == oc_client_progress(rank->client)) {
            oc_client_wait(rank->client, NAP_US);
        }
        CHECK(oc_clock_ns() < begun + 2500 * OC_MILLISECOND);
    }
    casting_check(rank, &a, 0);
}

static void asleep(rank_t *rank)
{
    uint64_t used;

    rank->service = OC_SERVICE_MULTICAST;
    casting_allgather(rank, 0, 1000, false, 0);
    rank_barrier(rank);
    if (1 == rank->rank) {
        usleep(1000000);
    }
    used = cpu_time();
    allgather_asleep(rank, 1000, 1);
    CHECK(cpu_time() - used < 200 * OC_MILLISECOND);
    for (unsigned i = 0; i < 100; i++) {
        allgather_asleep(rank, 1000 + i * 700, i);
    }
}

static void test_sleep(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    assert_int_equal(ranks_run(3, &settings, asleep, 60), 0);
    faults_install("drop=0.05,delay=0.05,delay_ms=3,seed=9");
    assert_int_equal(ranks_run(3, &settings, asleep, 60), 0);
}

/* ---- failures ---- */

static void killed(rank_t *rank)
{
    uint64_t begun;

    rank->service = OC_SERVICE_MULTICAST;
    casting_allgather(rank, 0, 1000, false, 1);
    casting_allgather(rank, 1, 1000, false, 2);
    rank_barrier(rank);
    if (2 == rank->rank) {
        raise(SIGKILL);
    }
    begun = oc_clock_ns();
    CHECK(try_allgather(rank, 0, 100) < OC_OK);
    CHECK(oc_clock_ns() < begun + 10 * OC_SECOND);
    CHECK(OC_GROUP_FAILED == oc_group_state(rank_group(rank, 0)));
    CHECK(NULL != strstr(oc_group_reason(rank_group(rank, 0)), "rank 2"));
    CHECK(try_allgather(rank, 0, 100) < OC_OK);
    CHECK(1 == rank->counters.failures);
    casting_outlive(rank);
    oc_group_destroy(rank->groups[0]);
    oc_group_destroy(rank->groups[1]);
    oc_client_destroy(rank->client);
    exit(EXIT_SUCCESS);
}

static void test_killed_rank(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    settings.heartbeat_timeout = 2;
    /* the one that was killed */
    assert_int_equal(ranks_run(3, &settings, killed, 40), 1);
}

/* Servers go, and what needs none goes on. */
static void without_server(rank_t *rank)
{
    double one = 1, sum = 0;

    CHECK(OC_OK == rank_allreduce(rank, 1, OC_OP_SUM, OC_TYPE_DOUBLE, &one, &sum, 1));
    rank->service = OC_SERVICE_MULTICAST;
    casting_allgather(rank, 0, 70000, false, 1);
    rank_barrier(rank);
    atomic_fetch_add(&rank->shared->operations, 1);
    while (0 == atomic_load(&rank->shared->signal)) {
        usleep(1000);
    }
    CHECK(rank_allreduce(rank, 1, OC_OP_SUM, OC_TYPE_DOUBLE, &one, &sum, 1) < OC_OK);
    CHECK(OC_GROUP_FAILED == oc_group_state(rank_group(rank, 1)));
    CHECK(OC_GROUP_LIVE == oc_group_state(rank_group(rank, 0)));
    casting_allgather(rank, 0, 70000, false, 2);
    CHECK(2 == rank->counters.allgather_offloaded);
}

static void test_collapse_of_servers(void **state)
{
    test_server_t server;
    oc_job_settings_t settings = cast_settings();
    ranks_t ranks;

    (void) state;
    server_start(&server, NULL);
    settings.servers = server.address;
    ranks_start(&ranks, 2, &settings, without_server, 40);
    assert_true(ranks_reach(&ranks, 4));
    (void) kill(server_data_process(&server), SIGKILL);
    (void) server_stop(&server);
    atomic_store(&ranks.shared->signal, 1);
    assert_int_equal(ranks_wait(&ranks), 0);
}

/* ---- strangers ---- */

/*
 * Somebody who knows the address of rank 1's worker, and what is in all messages, tells it things.
 */
static void lie_to_rank_1(rank_t *rank, uint32_t generation)
{
    static lie_t lies[LIES];
    const board_t *board = &rank->shared->boards[0];
    oc_cast_record_t first;
    oc_contact_t second;
    oc_endpoint_t *endpoint;
    oc_worker_t *worker;
    char error[256];

    CHECK(oc_cast_record_decode(board->records[0], &first));
    CHECK(oc_contact_decode(board->contacts[1], OC_CONTACT_MAX, &second));
    CHECK(OC_OK == oc_worker_open(NULL, &worker, error, sizeof(error)));
    CHECK(OC_OK == oc_endpoint_open(worker, second.address, NULL, NULL, &endpoint));
    lies_tell(lies, endpoint, first.token, generation);
    while (!lies_told(lies)) {
        (void) oc_worker_progress(worker);
        (void) oc_client_progress(rank->client);
    }
    oc_worker_close(worker);
}

/* Blocks of one fragment, so that a single lie would do. */
static void lied_to(rank_t *rank)
{
    rank->service = OC_SERVICE_MULTICAST;
    casting_allgather(rank, 0, 60, false, 1);
    for (unsigned round = 2; round < 12; round++) {
        if (0 == rank->rank) {
            lie_to_rank_1(rank, round);
        }
        casting_allgather(rank, 0, 60, false, round);
    }
    CHECK(11 == rank->counters.allgather_offloaded);
    if (1 == rank->rank) {
        CHECK(rank->counters.cast.messages_forged >= 9 * LIES);
    }
}

static void test_lies(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    assert_int_equal(ranks_run(3, &settings, lied_to, 60), 0);
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
        cmocka_unit_test(test_chains),
        cmocka_unit_test_teardown(test_loss, mend_network),
        cmocka_unit_test_teardown(test_rests_between_operations, mend_network),
        cmocka_unit_test(test_queued_on_many_groups),
        cmocka_unit_test(test_rank_that_cannot),
        cmocka_unit_test(test_network_joins_late),
        cmocka_unit_test(test_membership_is_lost),
        cmocka_unit_test_teardown(test_sleep, mend_network),
        cmocka_unit_test(test_killed_rank),
        cmocka_unit_test(test_collapse_of_servers),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_many_groups_one_after_the_other),
    };

    if (3 == argc && 0 == strcmp(argv[1], "--cycles")) {
        num_cycles = (unsigned) atoi(argv[2]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
