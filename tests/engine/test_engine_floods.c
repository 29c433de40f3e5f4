/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of processes of a job that send more than they may, or what nobody waits
 * for: the server's memory stays within its bound, and who does no such thing is served.
 */
/* Test: default 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "protocol/tag.h"
#include "tests/engine/harness.h"
#include "tests/engine/member.h"

#define MIB (1u << 20)

static test_server_t server;

static const char *const small_server[] = {"--memory-limit", "1M", NULL};

static void use_tcp(void)
{
    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
}

static void use_any(void)
{
    unsetenv("OPTCAST_UCX_TLS");
    unsetenv("OPTCAST_UCX_NET_DEVICES");
}

static unsigned long long peak_kib(void)
{
    return memory_kib_of(server_data_process(&server), "VmHWM");
}

static oc_job_t new_job(void)
{
    oc_job_t job;

    fill_random(&job, sizeof(job));
    return job;
}

/* Two ranks, of which this process is one; nobody ever waits for a chunk of it. */
static oc_join_t join_of(uint64_t group, uint32_t chunk_bytes, uint32_t window)
{
    return (oc_join_t) {.group = group, .num_ranks = 2, .chunk_bytes = chunk_bytes,
                        .window = window, .small_bytes = 4096};
}

static uint64_t chunk_tag(const oc_joined_t *joined, uint64_t slot)
{
    return oc_tag(OC_KIND_CONTRIBUTION, joined->handle, 0, 0, slot);
}

/* On a busy machine nothing but time may be lost. */
#define PATIENCE_MS 20000

static oc_job_settings_t patient_settings(void)
{
    oc_job_settings_t settings = test_settings(server.address);

    settings.connect_timeout = settings.heartbeat_timeout = PATIENCE_MS / 1000;
    return settings;
}

static void expect_group_error(member_t *member, uint64_t group, const char *reason)
{
    oc_control_t leave = {.type = OC_CONTROL_LEAVE, .leave.group = group};

    member_expect(member, OC_CONTROL_GROUP_ERROR, reason, PATIENCE_MS);
    member_say(member, &leave);
}

/* ---- messages for nobody ---- */

#define STRANGE       5000u
#define STRANGE_BYTES 8000u

/* Three ranks that reduce until they are told that it is enough. */
static void body_goes_on(rank_t *rank)
{
    static float send[20000], recv[20000];
    float sum = 0;

    while (sum < 2) {
        send[0] = 0 == rank->rank && 0 != atomic_load(&rank->shared->signal) ? 2 : 1;
        send[19999] = (float) rank->rank;
        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_MAX, OC_TYPE_FLOAT, send, recv, 20000));
        sum = recv[0];
        CHECK(2 == recv[19999]);
    }
    CHECK(rank->counters.allreduce_offloaded > 0 && 0 == rank->counters.failures);
}

/*
 * For a group, a rank and a kind that there is none of, and of another length than any transport
 * sends at once: all of them are received, counted and forgotten.
 */
static void send_strange(member_t *member)
{
    uint64_t strange[] = {oc_tag(OC_KIND_CONTRIBUTION, 0xabcde, 0, 0, 0),
                          oc_tag(OC_KIND_RESULT, 0, 0, 0, 0),
                          oc_tag(OC_KIND_REPLY, 0, 0, 0, OC_READY_SLOT),
                          oc_tag((oc_kind_t) 13, 0, 0, 0, 0), 0};

    for (unsigned i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        member_flood(member, STRANGE, STRANGE_BYTES, strange[i], 1);
    }
    member_flood(member, 20, 200000, strange[0], 0);
    member_flood(member, 20, 1, strange[0], 0);
    member_flood(member, 20, 0, strange[0], 0);
}

#define LAST_GROUP 999

/* What an endpoint sends is received in order: when this has an answer, all before it was. */
static void send_last(member_t *member)
{
    oc_join_t join = join_of(LAST_GROUP, 4096, 2);
    oc_joined_t joined = member_join(member, &join);

    member_flood(member, 2, 4096, chunk_tag(&joined, 0), 0);
    expect_group_error(member, LAST_GROUP, "sent the same chunk twice");
}

static void flood_with_strange(void)
{
    oc_job_settings_t settings;
    unsigned long long before, after;
    char line[120];
    member_t member;
    ranks_t ranks;
    bool reached;

    server_start(&server, small_server);
    settings = patient_settings();
    ranks_start(&ranks, 3, &settings, body_goes_on, 60);
    reached = ranks_reach(&ranks, 10);
    member_open(&member, server.port, &ranks.shared->job, 3);
    before = peak_kib();
    send_strange(&member);
    send_last(&member);
    reached = reached && ranks_reach(&ranks, atomic_load(&ranks.shared->operations) + 20);
    after = peak_kib();
    member_close(&member, true);
    atomic_store(&ranks.shared->signal, 1);
    assert_int_equal(ranks_wait(&ranks), 0);
    assert_true(reached);
    print_message("VmHWM %llu KiB before, %llu KiB after\n", before, after);
    snprintf(line, sizeof(line), "dropped %u messages of %llu bytes", 5 * STRANGE + 62,
             5ull * STRANGE * STRANGE_BYTES + 20ull * 200000 + 20 + 2 * 4096);
    assert_true(server_said(&server, line, PATIENCE_MS));
    assert_int_equal(server_stop(&server), 0);
    if (MEASURES_MEMORY) {
        assert_true(before > 0 && after < before + 16 * 1024);
    }
}

static void test_strange(void **state)
{
    (void) state;
    flood_with_strange();
}

static void test_strange_tcp(void **state)
{
    (void) state;
    use_tcp();
    flood_with_strange();
    use_any();
}

/* ---- more than a rank may have on its way ---- */

/* What a rank may have is not lost by others of its job, nor by what it does in other groups. */
static void test_window(void **state)
{
    oc_job_t job = new_job();
    oc_join_t wide = join_of(1, 65536, 2), other = join_of(2, 65536, 2);
    oc_joined_t joined;
    member_t member;

    (void) state;
    use_tcp();
    server_start(&server, small_server);
    member_open(&member, server.port, &job, 0);
    joined = member_join(&member, &wide);
    member_flood(&member, 2, 65536, chunk_tag(&joined, 0), 1);
    (void) member_join(&member, &other);
    member_flood(&member, 5000, 4096, chunk_tag(&joined, 2), 1);
    expect_group_error(&member, 1, "rank 0 has sent more than its window of 2 chunks of 65536");
    if (MEASURES_MEMORY) {
        assert_in_range(peak_kib(), 1, 32 * 1024);
    }
    /* bytes or not: messages take memory, too */
    wide.group = 3;
    joined = member_join(&member, &wide);
    member_flood(&member, 5000, 0, chunk_tag(&joined, 0), 1 << 12 | 1);
    expect_group_error(&member, 3, "rank 0 has sent more than its window of 2 chunks of 65536");
    wide.group = 4;
    joined = member_join(&member, &wide);
    member_flood(&member, 2, 4096, chunk_tag(&joined, 7), 0);
    expect_group_error(&member, 4, "rank 0 sent the same chunk twice");
    /* what fits is no reason for anything; it goes with the group */
    member_flood(&member, 1, 4096, chunk_tag(&joined, 7), 0);
    member_close(&member, true);
    assert_true(server_said(&server, " messages of ", PATIENCE_MS));
    assert_int_equal(server_stop(&server), 0);
    use_any();
}

/*
 * What a parent sends may be here before it is waited for, but a result only once: of two, one was sent by
 * somebody else.
 */
static void test_from_above(void **state)
{
    test_server_t parent;
    const char *options[] = {"--parent", parent.address, NULL};
    oc_join_t join = join_of(1, 65536, 2);
    oc_job_t job = new_job();
    oc_joined_t joined;
    member_t member;

    (void) state;
    server_start(&parent, NULL);
    server_start(&server, options);
    member_open(&member, server.port, &job, 0);
    join.leaves = 2;
    join.reserves = 1;
    joined = member_join(&member, &join);
    member_flood(&member, 2, 4096, oc_tag(OC_KIND_RESULT, joined.handle, 0, 0, 0), 0);
    expect_group_error(&member, 1, "the parent server sent the same chunk twice, or one of them was forged");
    member_close(&member, true);
    assert_int_equal(server_stop(&server), 0);
    assert_int_equal(server_stop(&parent), 0);
}

/* ---- much that ranks may have on its way ---- */

#define EARLY_GROUPS 24
#define EARLY_RANKS  4
#define EARLY_CHUNK  4096u
#define EARLY_WINDOW 64u
#define EARLY_COUNT  (EARLY_WINDOW * EARLY_CHUNK / sizeof(int32_t))

/* The last rank comes when the windows of all others are on the server, in all groups. */
static void body_early(rank_t *rank)
{
    static int32_t send[EARLY_COUNT], recv[EARLY_GROUPS][EARLY_COUNT], expected[EARLY_COUNT];
    outcome_t outcomes[EARLY_GROUPS];
    bool is_last = rank->rank == rank->num_ranks - 1;

    rank_set_up_groups(rank, EARLY_GROUPS);
    fill_contribution(send, OC_TYPE_INT32, EARLY_COUNT, rank->rank, 7);
    fill_expected(expected, OC_OP_SUM, OC_TYPE_INT32, EARLY_COUNT, rank->num_ranks, 7);
    if (is_last) {
        rank_barrier(rank);
    }
    for (unsigned group = 0; group < EARLY_GROUPS; group++) {
        CHECK(OC_OK == rank_start(rank, group, OC_OP_SUM, OC_TYPE_INT32, send, recv[group],
                                  EARLY_COUNT, &outcomes[group]));
    }
    if (!is_last) {
        rank_linger(rank, 1000);
        rank_barrier(rank);
    }
    CHECK(rank_wait(rank, outcomes, EARLY_GROUPS, 40));
    for (unsigned group = 0; group < EARLY_GROUPS; group++) {
        CHECK(OC_OK == outcomes[group].status);
        CHECK(0 == memcmp(recv[group], expected, sizeof(expected)));
    }
    CHECK(2 * EARLY_GROUPS == rank->counters.allreduce_offloaded);
}

static void expect_nothing_dropped(void)
{
    char line[512] = "";

    while (NULL == strstr(line, "is over")) {
        assert_true(server_line(&server, line, sizeof(line), 10000));
        assert_null(strstr(line, "dropped"));
    }
}

/* However many there are: each has to be kept for its chunk, which has no memory yet. */
static void test_many_early(void **state)
{
    const char *options[] = {"--memory-limit", "1M", "--aggregators", "1", NULL};
    oc_job_settings_t settings;

    (void) state;
    server_start(&server, options);
    settings = patient_settings();
    settings.chunk_size = EARLY_CHUNK;
    settings.window = EARLY_WINDOW;
    assert_int_equal(ranks_run(EARLY_RANKS, &settings, body_early, 60), 0);
    expect_nothing_dropped();
    assert_int_equal(server_stop(&server), 0);
}

/* ---- the bound of a process ---- */

static void body_once(rank_t *rank)
{
    float one = 1, sum = 0;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK((float) rank->num_ranks == sum && 1 == rank->counters.allreduce_offloaded);
}

#define WIDE_GROUPS 100

/* The bound for one client and this memory limit, and what the system allows beyond it, in KiB. */
#define MOST_KIB (240 * 1024)

static int oom_score_of(pid_t pid)
{
    char path[64];
    int score = -2000;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int) pid);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &score), 1);
    fclose(file);
    return score;
}

static oc_joined_t wide[WIDE_GROUPS];

static void join_wide(member_t *member)
{
    for (unsigned i = 0; i < WIDE_GROUPS; i++) {
        oc_join_t join = join_of(i + 1, 65536, 64);

        wide[i] = member_join(member, &join);
    }
}

/* In each group 4 MiB, which is its window; in all of them four times the bound. */
static unsigned long long send_wide(member_t *member, pid_t pid)
{
    unsigned long long most = 0, now;

    for (unsigned i = 0; i < WIDE_GROUPS && NULL != member->worker; i++) {
        member_flood(member, 63, 65536, chunk_tag(&wide[i], 0), 1);
        now = memory_kib_of(pid, "VmHWM");
        most = now > most ? now : most;
    }
    return most;
}

/* Whoever keeps its windows in more groups than there is memory for ends its job, and no other. */
static void flood_job(void)
{
    oc_job_settings_t settings;
    oc_job_t job = new_job();
    unsigned long long most;
    member_t member;
    ranks_t ranks;
    bool reached;
    pid_t pid;

    server_start(&server, small_server);
    settings = patient_settings();
    ranks_start(&ranks, 3, &settings, body_goes_on, 60);
    reached = ranks_reach(&ranks, 10);
    member_open(&member, server.port, &job, 0);
    pid = last_child_of(server.pid);
    assert_int_not_equal(pid, server_data_process(&server));
    assert_true(oom_score_of(pid) > oom_score_of(server.pid));
    join_wide(&member);
    most = send_wide(&member, pid);
    print_message("VmHWM at most %llu KiB\n", most);
    member_expect(&member, OC_CONTROL_JOB_ERROR, "start it with a higher --memory-limit",
                  PATIENCE_MS);
    member_close(&member, false);
    assert_true(server_said(&server, "the job ends: the server's process for this job holds ",
                            PATIENCE_MS));
    reached = reached && ranks_reach(&ranks, atomic_load(&ranks.shared->operations) + 20);
    atomic_store(&ranks.shared->signal, 1);
    assert_int_equal(ranks_wait(&ranks), 0);
    assert_true(reached);
    assert_int_equal(server_stop(&server), 0);
    assert_in_range(most, 1, MOST_KIB);
}

static void test_bound(void **state)
{
    (void) state;
    if (MEASURES_MEMORY) {
        flood_job();
    }
}

/* Where there is no time to say why, the process ends, and nothing else does. */
static void test_system_limit(void **state)
{
    oc_job_settings_t settings;
    oc_job_t job = new_job();
    struct rlimit limit;
    member_t member;
    pid_t pid;

    (void) state;
    if (!MEASURES_MEMORY) {
        return;
    }
    use_tcp();
    server_start(&server, small_server);
    member_open(&member, server.port, &job, 0);
    pid = server_data_process(&server);
    join_wide(&member);
    assert_int_equal(prlimit(pid, RLIMIT_DATA, NULL, &limit), 0);
    assert_in_range(limit.rlim_cur, 1, (uint64_t) MOST_KIB * 1024);
    limit.rlim_cur = memory_kib_of(pid, "VmData") * 1024;
    assert_int_equal(prlimit(pid, RLIMIT_DATA, &limit, NULL), 0);
    (void) send_wide(&member, pid);
    assert_true(member_is_left(&member, PATIENCE_MS));
    member_close(&member, false);
    assert_true(server_said(&server, "its process was ended by signal ", PATIENCE_MS));
    settings = patient_settings();
    assert_true(ranks_succeed(&server, 2, &settings, body_once, 20));
    use_any();
}

static void test_bound_tcp(void **state)
{
    (void) state;
    use_tcp();
    if (MEASURES_MEMORY) {
        flood_job();
    }
    use_any();
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strange),
        cmocka_unit_test(test_strange_tcp),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_from_above),
        cmocka_unit_test(test_many_early),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_bound_tcp),
        cmocka_unit_test(test_system_limit),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(480);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
