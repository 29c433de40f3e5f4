/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of unequal aggregators: hosts beside too few servers, and servers of
 * different weight. All sizes around borders of chunks, element by element.
 */
/* Test: quick 120 -- --few; default 240; sanitizers: all 240; threads: all 240 -- --few */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/timeline.h"
#include "client/plan/division.h"
#include "net/address.h"
#include "tests/engine/farm.h"
#include "tests/engine/harness.h"

#define MAX_BYTES (3u << 20)
#define GUARD     64

/* What the ranks expect oc_group_describe to say. */
static const char *expected_way = "";

/* Pairs of 6 and 12 bytes, whose elements end anywhere in a chunk; the others have references. */
static const struct {
    unsigned op, type;
} pairs[] = {{OC_OP_SUM, OC_TYPE_FLOAT}, {OC_OP_PROD, OC_TYPE_DOUBLE}, {OC_OP_BXOR, OC_TYPE_UINT8},
             {OC_OP_MAXLOC, OC_TYPE_INT16_INT32}, {OC_OP_MAXLOC, OC_TYPE_INT64_INT32}};

#define NUM_PAIRS (sizeof(pairs) / sizeof(pairs[0]))

/* The rank with the largest value of an element, another one each time. */
static int64_t value_of(uint32_t rank, size_t i, uint32_t num_ranks)
{
    return (int64_t) ((rank + i) % num_ranks * 1000 + i % 997);
}

static void put_pair(uint8_t *vector, unsigned type, size_t i, int64_t value, int32_t index)
{
    size_t size = oc_type_size(type);

    memcpy(vector + i * size, &value, size - sizeof(index));
    memcpy(vector + (i + 1) * size - sizeof(index), &index, sizeof(index));
}

static void fill(uint8_t *vector, unsigned type, size_t count, const rank_t *rank, unsigned seed)
{
    if (OC_TYPE_INT16_INT32 != type && OC_TYPE_INT64_INT32 != type) {
        fill_contribution(vector, type, count, rank->rank, seed);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        put_pair(vector, type, i, value_of(rank->rank, i, rank->num_ranks), (int32_t) rank->rank);
    }
}

static void fill_result(uint8_t *vector, unsigned op, unsigned type, size_t count,
                        const rank_t *rank, unsigned seed)
{
    if (OC_OP_MAXLOC != op) {
        fill_expected(vector, op, type, count, rank->num_ranks, seed);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t best = (uint32_t) ((2 * rank->num_ranks - 1 - i % rank->num_ranks)
                                    % rank->num_ranks);

        put_pair(vector, type, i, value_of(best, i, rank->num_ranks), (int32_t) best);
    }
}

static void one(rank_t *rank, unsigned pair, size_t bytes, bool in_place)
{
    static uint8_t send[MAX_BYTES + GUARD], recv[MAX_BYTES + GUARD], expected[MAX_BYTES];
    unsigned op = pairs[pair].op, type = pairs[pair].type, seed = (unsigned) bytes + pair;
    size_t size = oc_type_size(type), count = bytes / size;
    uint8_t *result = in_place ? send : recv;

    fill(send, type, count, rank, seed);
    fill_result(expected, op, type, count, rank, seed);
    memset(recv, 0x5a, count * size);
    memset(result + count * size, 0xc3, GUARD);
    CHECK(OC_OK == rank_allreduce(rank, 0, op, type, send, result, count));
    for (size_t i = 0; i < count; i++) {
        CHECK(0 == memcmp(result + i * size, expected + i * size, size));
    }
    for (size_t i = 0; i < GUARD; i++) {
        CHECK(0xc3 == result[count * size + i]);
    }
}

/* Around borders of chunks, of periods and of spans. */
static void body_sizes(rank_t *rank)
{
    size_t chunk = rank->settings.chunk_size;
    size_t borders[] = {chunk, 2 * chunk, 7 * chunk, 10 * chunk, 38 * chunk, 44 * chunk,
                        100 * chunk};
    unsigned turn = 0;
    char way[128];

    for (size_t i = 0; i < sizeof(borders) / sizeof(borders[0]); i++) {
        for (int more = -12; more <= 12; more += 12) {
            one(rank, turn % NUM_PAIRS, borders[i] + (size_t) more, 0 == turn % 3);
            turn++;
        }
    }
    CHECK(turn == rank->counters.allreduce_offloaded);
    oc_group_describe(rank->groups[0], way, sizeof(way));
    if (0 == rank->rank && 0 != strcmp(way, expected_way)) {
        fprintf(stderr, "it is \"%s\" and not \"%s\"\n", way, expected_way);
    }
    CHECK(0 == strcmp(way, expected_way));
}

static void body_hosts(rank_t *rank)
{
    rank->per_host = 1;
    body_sizes(rank);
}

static void body_pairs_of_ranks(rank_t *rank)
{
    rank->per_host = 2;
    body_sizes(rank);
}

#define IN_FLIGHT 40

/* Large and small ones of all sizes at once; lanes get in each other's way. */
static void body_in_flight(rank_t *rank)
{
    static float send[60000], recv[IN_FLIGHT][60000], expected[60000];
    static outcome_t outcomes[IN_FLIGHT];

    rank->per_host = 1;
    fill_contribution(send, OC_TYPE_FLOAT, 60000, rank->rank, 1);
    fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, 60000, rank->num_ranks, 1);
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        CHECK(OC_OK == rank_start(rank, i % 2, OC_OP_SUM, OC_TYPE_FLOAT, send, recv[i],
                                  1 + i * 1500, &outcomes[i]));
    }
    CHECK(rank_wait(rank, outcomes, IN_FLIGHT, 20));
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        CHECK(OC_OK == outcomes[i].status);
        CHECK(0 == memcmp(recv[i], expected, (1 + i * 1500) * sizeof(float)));
    }
}

static void run(const char *const *weights, const char *aggregators, uint32_t num_ranks,
                void (*body)(rank_t *rank), const char *way)
{
    oc_job_settings_t settings = test_settings("");

    expected_way = way;
    farm_run(weights, aggregators, num_ranks, &settings, body, 60);
}

static void test_one_server(void **state)
{
    (void) state;
    run((const char *[]) {"", NULL}, "1", 4, body_hosts,
        "1 server and 4 peers, 33.3 % and 16.7 % each, flat reduction shape");
    run((const char *[]) {"weight=0.5", NULL}, "2", 4, body_pairs_of_ranks,
        "1 server and 2 peers, 25.0 % and 37.5 % each, flat reduction shape");
}

static void test_two_servers(void **state)
{
    (void) state;
    run((const char *[]) {"", "weight=1", NULL}, "1", 3, body_hosts,
        "2 servers and 3 peers, 36.4 % and 9.1 % each, flat reduction shape");
}

static void test_weights(void **state)
{
    (void) state;
    run((const char *[]) {"weight=2", "weight=0.5", NULL}, "1", 4, body_hosts,
        "2 servers and 4 peers, 14.3 to 57.1 % and 7.1 % each, flat reduction shape");
    /* and of servers that are enough */
    run((const char *[]) {"weight=3", "", "weight=2", NULL}, "1", 4, body_hosts,
        "3 servers, 16.7 to 50.0 % each, flat reduction shape");
    run((const char *[]) {"weight=4", NULL}, "1", 4, body_hosts,
        "1 aggregator on 1 server, flat reduction shape");
}

static void test_hosts_alone(void **state)
{
    oc_job_settings_t settings = test_settings("embedded");

    (void) state;
    expected_way = "4 peers, 25.0 % each, flat reduction shape";
    assert_int_equal(ranks_run(4, &settings, body_hosts, 60), 0);
    expected_way = "2 peers, 50.0 % each, flat reduction shape";
    assert_int_equal(ranks_run(4, &settings, body_pairs_of_ranks, 60), 0);
    expected_way = "1 peer, flat reduction shape";
    assert_int_equal(ranks_run(3, &settings, body_sizes, 60), 0);
}

static void body_off(rank_t *rank)
{
    rank->settings.peer_aggregation = OC_PEERS_OFF;
    body_hosts(rank);
}

static void test_off(void **state)
{
    (void) state;
    run((const char *[]) {"", NULL}, "1", 4, body_off,
        "1 aggregator on 1 server, flat reduction shape");
    /* on one host there is nothing to relieve */
    run((const char *[]) {"weight=0.5", NULL}, "1", 3, body_sizes,
        "1 aggregator on 1 server, flat reduction shape");
}

static void test_in_flight(void **state)
{
    (void) state;
    run((const char *[]) {"", "", NULL}, "1", 4, body_in_flight, "");
}

static uint32_t hindered;   /* ranks from 1 on that cannot open anything */

/* The worker and the connections are there before: only the embedded server needs more files. */
static void body_no_files(rank_t *rank)
{
    static float send[60000], recv[60000], expected[60000];
    struct rlimit before, none;
    outcome_t outcome;
    char way[128];

    fill_contribution(send, OC_TYPE_FLOAT, 60000, rank->rank, 1);
    fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, 60000, rank->num_ranks, 1);
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 60000));
    rank->per_host = 1;
    for (unsigned group = 1; group < 3; group++) {
        CHECK(0 == getrlimit(RLIMIT_NOFILE, &before));
        none = before;
        none.rlim_cur = rank->rank > 0 && rank->rank <= hindered ? 0 : before.rlim_cur;
        CHECK(0 == setrlimit(RLIMIT_NOFILE, &none));
        CHECK(OC_OK == rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 60000,
                                  &outcome));
        CHECK(0 == setrlimit(RLIMIT_NOFILE, &before));
        CHECK(rank_wait(rank, &outcome, 1, 20) && OC_OK == outcome.status);
        CHECK(0 == memcmp(recv, expected, sizeof(expected)));
        oc_group_describe(rank->groups[group], way, sizeof(way));
        CHECK(0 == strcmp(way, expected_way));
    }
}

/* A host that cannot aggregate takes nothing away from the others and the server. */
static void test_peer_cannot_start(void **state)
{
    (void) state;
    hindered = 1;
    run((const char *[]) {"", NULL}, "1", 4, body_no_files,
        "1 server and 3 peers, 40.0 % and 20.0 % each, flat reduction shape");
    hindered = 3;
    run((const char *[]) {"", NULL}, "1", 4, body_no_files,
        "1 aggregator on 1 server, flat reduction shape");
}

static char other_list[80];

/* Another client on rank 1, with a list in which a weight differs. */
static void body_other_weights(rank_t *rank)
{
    oc_client_config_t config = {.settings = &rank->settings, .counters = &rank->counters,
                                 .process = rank->rank};

    rank->per_host = 1;
    if (1 == rank->rank) {
        oc_client_destroy(rank->client);
        rank->settings.servers = other_list;
        CHECK(OC_OK == oc_client_create(&config, &rank->client));
    }
    rank_expect_declined(rank, 0, "rank 1 has other coll_optcast settings than rank 0");
}

static void body_one_is_off(rank_t *rank)
{
    rank->per_host = 1;
    rank->settings.peer_aggregation = 1 == rank->rank ? OC_PEERS_OFF : OC_PEERS_AUTO;
    rank_expect_declined(rank, 0, "rank 1 has other coll_optcast settings than rank 0");
}

static void test_ranks_differ(void **state)
{
    const char *const weights[] = {"weight=1", "weight=2", NULL}, *const others[] = {"", "", NULL};
    oc_job_settings_t settings;
    char path[sizeof(other_list)];
    farm_t farm;

    (void) state;
    farm_start(&farm, "1", weights);
    snprintf(path, sizeof(path), "%s-other", farm.path);
    snprintf(other_list, sizeof(other_list), "file:%.72s", path);
    farm_write(&farm, path, others);
    settings = test_settings(farm.list);
    assert_int_equal(ranks_run(4, &settings, body_other_weights, 20), 0);
    assert_int_equal(ranks_run(4, &settings, body_one_is_off, 20), 0);
    unlink(path);
    farm_stop(&farm);
}

/* With the last rank goes its share: the others learn that, and do not wait. */
static void body_one_exits(rank_t *rank)
{
    static float send[300000], recv[300000];
    outcome_t outcome;
    oc_status_t status = OC_OK;

    rank->per_host = 1;
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 300000));
    if (rank->rank + 1 == rank->num_ranks) {
        (void) rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 300000, &outcome);
        for (int i = 0; i < 50; i++) {
            (void) oc_client_progress(rank->client);
        }
        _exit(EXIT_SUCCESS);
    }
    rank->num_ranks--;   /* of the barrier from now on */
    for (int i = 0; i < 5 && OC_OK == status; i++) {
        status = rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 300000);
    }
    CHECK(status < 0);
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
}

static void test_rank_exits(void **state)
{
    (void) state;
    run((const char *[]) {"", NULL}, "1", 4, body_one_exits, "");
}

#define PACED_CHUNKS 150
#define PACED_PERIOD 6   /* of the division among one server and four peers */
#define PACED_COUNT  (PACED_CHUNKS * 16384 / sizeof(float))

static void body_without_peers(rank_t *rank)
{
    static float send[PACED_COUNT], recv[PACED_COUNT];

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, PACED_COUNT));
}

static void body_paced(rank_t *rank)
{
    rank->per_host = 1;
    body_without_peers(rank);
}

/* Times at which each chunk of rank 0 was posted and its result was there. */
static unsigned read_times(const char *path, const oc_division_t *division,
                           uint64_t times[PACED_CHUNKS][2])
{
    FILE *file = fopen(path, "r");
    char line[256];
    unsigned count = 0;

    assert_non_null(file);
    while (NULL != fgets(line, sizeof(line), file)) {
        unsigned lane, number;
        unsigned long long posted, result;
        uint64_t chunk;

        if (4 == sscanf(line, "%*u %u %*u %u %*u %*u %*u %llu %*u %llu", &lane, &number, &posted,
                        &result)) {
            assert_true(lane < division->num_lanes);
            chunk = oc_division_place(division, lane, number);
            assert_true(chunk < PACED_CHUNKS);
            times[chunk][0] = posted;
            times[chunk][1] = result;
            count++;
        }
    }
    fclose(file);
    return count;
}

/* Whether a chunk went to one of the first lanes, which are servers', before one that went to another and was due. */
static bool overtakes(const oc_division_t *division, unsigned num_servers, unsigned chunk,
                      unsigned before)
{
    return oc_division_lane(division, chunk) < num_servers
           && oc_division_lane(division, before) >= num_servers;
}

/*
 * No lane may run ahead: no chunk goes before those that are two spans before it have their results, but for those of
 * servers, which do not wait for peers. Returns how many chunks have not waited.
 */
static unsigned check_order(uint64_t times[PACED_CHUNKS][2], const oc_division_t *division,
                            unsigned num_servers, unsigned span)
{
    unsigned ahead = 0;

    for (unsigned chunk = 2 * span; chunk < PACED_CHUNKS; chunk++) {
        bool waited = true;

        for (unsigned before = 0; before <= chunk - 2 * span; before++) {
            if (times[before][1] > times[chunk][0]) {
                assert_true(overtakes(division, num_servers, chunk, before));
                waited = false;
            }
        }
        ahead += !waited;
    }
    return ahead;
}

/* Returns how many chunks have not waited for others. */
static unsigned check_pace(const char *path, const uint64_t *shares, unsigned num_lanes,
                           unsigned num_servers, unsigned span)
{
    uint64_t times[PACED_CHUNKS][2] = {{0}};
    oc_division_t division;
    unsigned ahead;

    assert_int_equal(oc_division_make(shares, num_lanes, &division), OC_OK);
    assert_int_equal((3 * division.period + division.most - 1) / division.most, span);
    assert_int_equal(read_times(path, &division, times), PACED_CHUNKS);
    ahead = check_order(times, &division, num_servers, span);
    /* but the window of the largest share is open from the beginning */
    for (unsigned chunk = 0; chunk < PACED_CHUNKS; chunk++) {
        assert_true(times[oc_division_place(&division, 0, 3 - 1)][0] < times[chunk][1]);
    }
    oc_division_free(&division);
    return ahead;
}

static unsigned run_paced(const char *const *weights, void (*body)(rank_t *), const uint64_t *shares,
                          unsigned num_lanes, unsigned num_servers, unsigned span)
{
    unsigned ahead;
    char prefix[80], path[128];
    oc_job_settings_t settings;
    farm_t farm;

    farm_start(&farm, "1", weights);
    snprintf(prefix, sizeof(prefix), "%s-t", farm.path);
    settings = test_settings(farm.list);
    settings.timeline = prefix;
    assert_int_equal(ranks_run(4, &settings, body, 30), 0);
    farm_stop(&farm);
    snprintf(path, sizeof(path), "%s-rank-0.timeline", prefix);
    ahead = check_pace(path, shares, num_lanes, num_servers, span);
    snprintf(path, sizeof(path), "rm -f %s-*.timeline", prefix);
    assert_int_equal(system(path), 0);
    return ahead;
}

/* A peer has half of what the server has, and the same window. Returns how many chunks have not waited for others. */
static unsigned run_beside_peers(void (*body)(rank_t *))
{
    uint64_t shares[5] = {oc_share_of_server(4, OC_WEIGHT_ONE, 1)};

    for (unsigned i = 1; i < 5; i++) {
        shares[i] = oc_share_of_peer(4, OC_WEIGHT_ONE);
    }
    return run_paced((const char *[]) {"", NULL}, body, shares, 5, 1, 9);
}

static void test_pace(void **state)
{
    (void) state;
    (void) run_beside_peers(body_paced);
}

static void test_pace_of_equals(void **state)
{
    (void) state;
    assert_int_equal(run_paced((const char *[]) {"", "", "", NULL}, body_without_peers,
                               (const uint64_t[]) {1, 1, 1}, 3, 3, 9), 0);
}

/* ---- a peer that is slow ---- */

/* The first processor that this thread may use. */
static cpu_set_t first_processor(void)
{
    cpu_set_t allowed, first;
    int cpu = 0;

    CPU_ZERO(&allowed);
    (void) sched_getaffinity(0, sizeof(allowed), &allowed);
    while (cpu + 1 < CPU_SETSIZE && !CPU_ISSET(cpu, &allowed)) {
        cpu++;
    }
    CPU_ZERO(&first);
    CPU_SET(cpu, &first);
    return first;
}

/* Keeps the first processor busy until it is told not to. */
static void *spin(void *arg)
{
    const atomic_bool *over = arg;
    cpu_set_t first = first_processor();

    (void) sched_setaffinity(0, sizeof(first), &first);
    while (!atomic_load(over)) {
        continue;
    }
    return NULL;
}

/* The thread of this process that reduces goes to the first processor, behind all others there. */
static void starve_aggregator(const rank_t *rank)
{
    const struct sched_param none = {0};
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    cpu_set_t first = first_processor();
    unsigned found = 0;

    CHECK(NULL != folder);
    while (NULL != (entry = readdir(folder))) {
        pid_t task = (pid_t) strtol(entry->d_name, NULL, 10);
        char path[64], name[32] = "";
        FILE *file;

        snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int) task);
        file = task > 0 ? fopen(path, "r") : NULL;
        if (NULL != file && NULL != fgets(name, sizeof(name), file)
            && 0 == strncmp(name, "optcast-agg", 11)) {
            CHECK(0 == sched_setaffinity(task, sizeof(first), &first));
            CHECK(0 == sched_setscheduler(task, SCHED_IDLE, &none));
            found++;
        }
        if (NULL != file) {
            fclose(file);
        }
    }
    closedir(folder);
    CHECK(1 == found);
}

/* Small ones set it up; the first place of the large one is then as if it were the first. */
static void body_slow_peer(rank_t *rank)
{
    static float one[2];
    atomic_bool over = false;
    pthread_t spinner;

    rank->per_host = 1;
    for (unsigned i = 0; i < PACED_PERIOD; i++) {
        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one[0], &one[1], 1));
    }
    if (1 == rank->rank) {
        starve_aggregator(rank);
        CHECK(0 == pthread_create(&spinner, NULL, spin, &over));
    }
    rank_barrier(rank);
    body_without_peers(rank);
    if (1 == rank->rank) {
        atomic_store(&over, true);
        CHECK(0 == pthread_join(spinner, NULL));
    }
}

/* The server's chunks do not wait for its. */
static void test_slow_peer(void **state)
{
    (void) state;
    assert_true(run_beside_peers(body_slow_peer) > 0);
}

/* usage: test_engine_hybrid [--few]: without those that take long, where all is slow */
int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_server),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_hosts_alone),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_peer_cannot_start),
        cmocka_unit_test(test_rank_exits),
        cmocka_unit_test(test_pace),
        cmocka_unit_test(test_pace_of_equals),
        cmocka_unit_test(test_slow_peer),
    }, few[] = {
        cmocka_unit_test(test_two_servers),
        cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_ranks_differ),
    };
    int failed;

    alarm(1120);
    failed = cmocka_run_group_tests(few, NULL, NULL);
    if (argc < 2 || 0 != strcmp(argv[1], "--few")) {
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failed;
}
