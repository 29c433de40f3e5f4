/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of servers that are back, and that some rank cannot use: it does not get through to them, or they do
 * not answer. The job does without them, however often they come, and takes one that is as it should be.
 */
/* Test: default 120 -- test_barred; all 400; sanitizers: all 600 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "client/state/types.h"
#include "tests/engine/doorman.h"
#include "tests/engine/fake_server.h"
#include "tests/engine/member.h"
#include "tests/engine/visitor.h"

/* Seconds for which servers are waited for: a busy machine may need many, but not where one never answers. */
#define PATIENT   20
#define IMPATIENT 3

/* In that time a server that could be taken back would be. */
#define LONG_MS 2500

/* One that was lost for the first time soon after it had come would be taken back a second time. */
#define LONGER_MS 3500

static visitor_t visitor;

/* Ranks are patient, and after the first order they are not. */
static unsigned lose_patience(rank_t *rank, unsigned order)
{
    pthread_mutex_lock(&rank->client->lock);
    rank->settings.connect_timeout = 1 == order ? IMPATIENT : PATIENT;
    pthread_mutex_unlock(&rank->client->lock);
    return 0;
}

static void begin_away(const char *aggregators)
{
    oc_job_settings_t settings = visitor_settings(PATIENT);

    visitor_begin_away(&visitor, &settings, aggregators, lose_patience);
}

static void change_patience(void)
{
    traffic_order(&visitor.traffic);
    traffic_await_obedience(&visitor.traffic);
}

/* Somebody waited for it in vain. */
static void expect_sent_away(void)
{
    TRAFFIC_AWAIT(&visitor.traffic, visitor_sent_away);
    change_patience();
}

/* ---- out of reach ---- */

static doorman_t *doorman;

/* Rank 0 is welcomed, and says that the server is back; one of the others does not get through. */
static void come_behind_doorman(const char *aggregators, unsigned barred, unsigned ignored)
{
    const char *options[] = {"--aggregators", aggregators, NULL};

    server_start(&visitor.server, options);
    atomic_store(&doorman->barred, barred);
    atomic_store(&doorman->ignored, ignored);
    doorman_start(doorman, visitor.port, visitor.server.port);
}

static void out_of_reach(unsigned barred, unsigned ignored)
{
    begin_away("2");
    change_patience();
    come_behind_doorman("2", barred, ignored);
    expect_sent_away();
    /* the same server, which is well, and ends nobody's service any more */
    atomic_store(&doorman->barred, 0);
    atomic_store(&doorman->ignored, 0);
    TRAFFIC_AWAIT(&visitor.traffic, visitor_back_for_good);
    visitor_end(&visitor);
    doorman_stop(doorman);
}

static void test_barred(void **state)
{
    (void) state;
    out_of_reach(1u << 1, 0);
}

static void test_ignored(void **state)
{
    (void) state;
    out_of_reach(0, 1u << 2);
}

/* Nobody can reach it, and nobody is interrupted. */
static void test_all_barred(void **state)
{
    (void) state;
    begin_away("2");
    come_behind_doorman("2", 7, 0);
    TRAFFIC_HOLD(&visitor.traffic, visitor_first_away, LONG_MS);
    atomic_store(&doorman->barred, 0);
    TRAFFIC_AWAIT(&visitor.traffic, visitor_back_for_good);
    visitor_end(&visitor);
    doorman_stop(doorman);
}

/* It has as many jobs as it may have, and does not even say WELCOME. */
static void test_other_job(void **state)
{
    oc_join_t join = {.group = 1, .num_ranks = 1, .chunk_bytes = 4096, .window = 1};
    member_t member;
    oc_job_t job;

    (void) state;
    begin_away("2");
    fill_random(&job, sizeof(job));
    /* before the ranks do */
    visitor_come_to(&visitor, free_port(), "2", "--max-jobs", "1");
    member_open(&member, visitor.server.port, &job, 0);
    (void) member_join(&member, &join);
    atomic_store(&doorman->barred, 0);
    atomic_store(&doorman->ignored, 0);
    doorman_start(doorman, visitor.port, visitor.server.port);
    TRAFFIC_HOLD(&visitor.traffic, visitor_first_away, LONG_MS);
    assert_true(server_said(&visitor.server, "which is its max-jobs", 100));
    member_close(&member, true);
    TRAFFIC_AWAIT(&visitor.traffic, visitor_back_for_good);
    visitor_end(&visitor);
    doorman_stop(doorman);
}

/* ---- it answers, but not as it should ---- */

static fake_server_t fake = {.pid = -1};

/* Another program listens there. */
static void come_fake(fake_t behaviour)
{
    change_patience();
    fake_server_start_at(&fake, visitor.port, behaviour);
    expect_sent_away();
    TRAFFIC_HOLD(&visitor.traffic, visitor_sent_away, LONGER_MS);
    /* it has the same incarnation each time: that is lost for ever */
    assert_int_equal(traffic_seen(&visitor.traffic, 0, TRAFFIC_RETURNS), 1);
    fake_server_stop(&fake);
    fake.pid = -1;
}

/* JOINED comes from it, and never READY, while all other servers are ready. */
static void test_never_ready(void **state)
{
    (void) state;
    begin_away("1");
    come_fake(FAKE_SILENT);
    visitor_come(&visitor, "1", NULL, NULL);
    TRAFFIC_AWAIT(&visitor.traffic, visitor_back_for_good);
    visitor_end(&visitor);
}

static void test_never_joined(void **state)
{
    (void) state;
    begin_away("1");
    come_fake(FAKE_IDLE);
    visitor_come(&visitor, "1", NULL, NULL);
    TRAFFIC_AWAIT(&visitor.traffic, visitor_back_for_good);
    visitor_end(&visitor);
}

static int clean(void **state)
{
    (void) state;
    visitor_clean(&visitor);
    if (doorman->pid > 0) {
        doorman_stop(doorman);
    }
    if (fake.pid > 0) {
        fake_server_stop(&fake);
        fake.pid = -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_barred, clean),
        cmocka_unit_test_teardown(test_ignored, clean),
        cmocka_unit_test_teardown(test_all_barred, clean),
        cmocka_unit_test_teardown(test_other_job, clean),
        cmocka_unit_test_teardown(test_never_ready, clean),
        cmocka_unit_test_teardown(test_never_joined, clean),
    };

    doorman = shared_memory(sizeof(*doorman));
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
