/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings of places: streams of steps in several processes, wake-ups, failures, wrong members. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/ring.h"

#define MAX_MEMBERS 4
#define WORDS       1024

static const oc_ring_shape_t shape = {.capacity = 5, .place_size = WORDS * sizeof(uint64_t)};

/* What all members have before they open their rings. */
typedef struct {
    uint32_t count;
    oc_doorbell_t *bells[MAX_MEMBERS];
    uint8_t names[MAX_MEMBERS][OC_SEGMENT_NAME_SIZE];
    oc_segment_t *made[MAX_MEMBERS];
} crew_t;

static void crew_make(crew_t *crew, uint32_t count)
{
    char error[256];

    *crew = (crew_t) {.count = count};
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(oc_doorbell_open(&crew->bells[i], error, sizeof(error)), OC_OK);
        assert_int_equal(oc_segment_create(oc_ring_segment_size(&shape), &crew->made[i], error,
                                           sizeof(error)), OC_OK);
        oc_segment_name(crew->made[i], crew->names[i]);
    }
}

static void crew_end(crew_t *crew)
{
    for (uint32_t i = 0; i < crew->count; i++) {
        oc_doorbell_close(crew->bells[i]);
        oc_segment_close(crew->made[i]);
    }
}

static oc_ring_t *open_ring(const crew_t *crew, uint32_t self)
{
    oc_ring_member_t members[MAX_MEMBERS];
    oc_ring_t *ring = NULL;
    char error[256];

    for (uint32_t i = 0; i < crew->count; i++) {
        oc_doorbell_name(crew->bells[i], members[i].bell);
        if (OC_OK != oc_segment_attach(crew->names[i], &members[i].segment, error,
                                       sizeof(error))) {
            return NULL;
        }
    }
    (void) oc_ring_open(&shape, members, crew->count, self, crew->bells[self], &ring);
    return ring;
}

static uint64_t word(uint32_t member, uint64_t step, unsigned i)
{
    return (member + 1) * 1000003ull + step * 10007 + i;
}

static void fill(const oc_ring_t *ring, uint32_t self, uint64_t step)
{
    uint64_t *place = oc_ring_place(ring, self, step);

    for (unsigned i = 0; i < WORDS; i++) {
        place[i] = word(self, step, i);
    }
}

static void sum(const oc_ring_t *ring, uint32_t count, uint32_t self, uint64_t step)
{
    uint64_t *result = oc_ring_place(ring, self, step);

    for (uint32_t m = 0; m < count; m++) {
        const uint64_t *place = oc_ring_place(ring, m, step);

        for (unsigned i = 0; m != self && i < WORDS; i++) {
            result[i] += place[i];
        }
    }
}

static bool is_sum(const oc_ring_t *ring, uint32_t count, uint32_t owner, uint64_t step)
{
    const uint64_t *place = oc_ring_place(ring, owner, step);

    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t expected = 0;

        for (uint32_t m = 0; m < count; m++) {
            expected += word(m, step, i);
        }
        if (place[i] != expected) {
            return false;
        }
    }
    return true;
}

/* Not a power of the number of members, and not the place: owners change in a place. */
static uint32_t owner_of(uint64_t step, uint32_t count)
{
    return (uint32_t) ((step / 3 + step) % count);
}

typedef struct {
    oc_ring_t *ring;
    uint32_t count, self;
    uint64_t steps, summed;
    bool wrong;
} runner_t;

/* Does what can be done; whether there was anything. */
static bool run_once(runner_t *r)
{
    uint64_t step = oc_ring_given(r->ring);
    uint32_t who;
    bool moved = false;

    if (step < r->steps && oc_ring_has_room(r->ring)) {
        fill(r->ring, r->self, step);
        oc_ring_give(r->ring, step * 31, owner_of(step, r->count));
        moved = true;
    }
    if (r->summed < oc_ring_given(r->ring)) {
        uint32_t owner = owner_of(r->summed, r->count);
        oc_status_t status = owner != r->self
                                 ? OC_OK : oc_ring_has_gathered(r->ring, r->summed, &who);

        if (OC_OK == status && owner == r->self) {
            sum(r->ring, r->count, r->self, r->summed);
            oc_ring_publish(r->ring, r->summed);
        }
        r->wrong = r->wrong || (OC_OK != status && OC_IN_PROGRESS != status);
        r->summed += OC_OK == status;
        moved = moved || OC_OK == status;
    }
    step = oc_ring_taken(r->ring);
    if (step < r->summed && oc_ring_is_published(r->ring, owner_of(step, r->count), step)) {
        r->wrong = r->wrong || !is_sum(r->ring, r->count, owner_of(step, r->count), step);
        oc_ring_take(r->ring, owner_of(step, r->count));
        moved = true;
    }
    return moved;
}

/* Sleeps whenever there is nothing to do; 2 when a wake-up was lost. */
static int run_steps(const crew_t *crew, uint32_t self, uint64_t steps, unsigned places)
{
    runner_t r = {.ring = open_ring(crew, self), .count = crew->count, .self = self,
                  .steps = steps};
    struct pollfd event = {.fd = oc_doorbell_fd(crew->bells[self]), .events = POLLIN};

    if (NULL == r.ring) {
        return 3;
    }
    oc_ring_limit(r.ring, places);
    while (oc_ring_taken(r.ring) < steps && !r.wrong) {
        if (run_once(&r)) {
            continue;
        }
        oc_ring_arm(r.ring);
        if (run_once(&r)) {
            continue;
        }
        if (1 != poll(&event, 1, 10000)) {
            return 2;
        }
        (void) oc_doorbell_listen(crew->bells[self]);
    }
    oc_ring_close(r.ring);
    return r.wrong ? 1 : 0;
}

static void run_crew(uint32_t count, uint64_t steps, unsigned places)
{
    pid_t pids[MAX_MEMBERS];
    int status;
    crew_t crew;

    crew_make(&crew, count);
    for (uint32_t i = 0; i < count; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (0 == pids[i]) {
            alarm(60);
            _exit(run_steps(&crew, i, steps, places));
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    crew_end(&crew);
}

static void test_streams(void **state)
{
    (void) state;
    run_crew(1, 50, 5);
    run_crew(2, 5000, 1);
    run_crew(2, 5000, 2);
    run_crew(3, 5000, 5);
    run_crew(4, 3000, 3);
}

/* Two members in one process: what is allowed when. */
static void test_rules(void **state)
{
    oc_ring_t *a, *b;
    uint32_t who;
    crew_t crew;

    (void) state;
    crew_make(&crew, 2);
    a = open_ring(&crew, 0);
    b = open_ring(&crew, 1);
    oc_ring_limit(a, 2);
    oc_ring_limit(b, 2);
    for (int step = 0; step < 2; step++) {
        assert_true(oc_ring_has_room(a));
        oc_ring_give(a, 7, 0);
    }
    assert_false(oc_ring_has_room(a));
    assert_int_equal(oc_ring_has_gathered(a, 0, &who), OC_IN_PROGRESS);
    oc_ring_give(b, 7, 0);
    assert_int_equal(oc_ring_has_gathered(a, 0, &who), OC_OK);
    assert_int_equal(oc_ring_has_gathered(a, 1, &who), OC_IN_PROGRESS);
    assert_false(oc_ring_is_published(b, 0, 0));
    oc_ring_publish(a, 0);
    assert_true(oc_ring_is_published(b, 0, 0));
    assert_false(oc_ring_is_published(b, 0, 2));
    oc_ring_take(a, 0);
    assert_false(oc_ring_has_room(a)); /* the other one still reads it */
    oc_ring_take(b, 0);
    assert_true(oc_ring_has_room(a));
    oc_ring_close(a);
    oc_ring_close(b);
    crew_end(&crew);
}

static void test_mismatch(void **state)
{
    oc_ring_t *a, *b;
    uint32_t who = 77;
    crew_t crew;

    (void) state;
    crew_make(&crew, 2);
    a = open_ring(&crew, 0);
    b = open_ring(&crew, 1);
    oc_ring_give(a, 7, 0);
    oc_ring_give(b, 8, 0);
    assert_int_equal(oc_ring_has_gathered(a, 0, &who), OC_ERR_MISMATCH);
    assert_int_equal(who, 1);
    oc_ring_close(a);
    oc_ring_close(b);
    crew_end(&crew);
}

/* A step that others may have gone past is no mismatch; one that they cannot have is. */
static void test_matches(void **state)
{
    oc_ring_t *a, *b;
    crew_t crew;

    (void) state;
    crew_make(&crew, 2);
    a = open_ring(&crew, 0);
    b = open_ring(&crew, 1);
    oc_ring_give(b, 7, 1);
    assert_int_equal(oc_ring_matches(b, 0, 0, 7), OC_IN_PROGRESS);
    for (unsigned step = 0; step < shape.capacity; step++) {
        oc_ring_give(a, 7, 1);
    }
    assert_int_equal(oc_ring_matches(b, 0, 0, 7), OC_OK);
    assert_int_equal(oc_ring_matches(b, 0, 0, 8), OC_ERR_MISMATCH); /* it waits for b */
    oc_ring_publish(b, 0);
    oc_ring_take(a, 1);
    assert_int_equal(oc_ring_matches(b, 0, 0, 8), OC_OK);
    assert_int_equal(oc_ring_matches(b, 0, 1, 8), OC_ERR_MISMATCH);
    oc_ring_give(a, 9, 1);
    assert_int_equal(oc_ring_matches(b, 0, 0, 7), OC_OK);
    oc_ring_close(a);
    oc_ring_close(b);
    crew_end(&crew);
}

/* The least of all, and each change wakes. */
static void test_committed(void **state)
{
    oc_ring_t *a, *b;
    crew_t crew;

    (void) state;
    crew_make(&crew, 2);
    a = open_ring(&crew, 0);
    b = open_ring(&crew, 1);
    assert_int_equal(oc_ring_committed(a), 0);
    oc_ring_arm(a);
    oc_ring_commit(a, 9);
    assert_int_equal(oc_ring_committed(a), 0);
    assert_false(oc_doorbell_listen(crew.bells[0])); /* its own affair */
    oc_ring_commit(b, 4);
    assert_true(oc_doorbell_listen(crew.bells[0]));
    assert_int_equal(oc_ring_committed(a), 4);
    assert_int_equal(oc_ring_committed(b), 4);
    oc_ring_commit(b, 12);
    assert_int_equal(oc_ring_committed(a), 9);
    oc_ring_close(a);
    oc_ring_close(b);
    crew_end(&crew);
}

/* One member is a step ahead when they stop, and the result of a later step is there and that of an earlier one not. */
static void test_restart(void **state)
{
    crew_t crew;
    oc_ring_t *ring[2];
    uint32_t other;

    (void) state;
    crew_make(&crew, 2);
    for (uint32_t i = 0; i < 2; i++) {
        ring[i] = open_ring(&crew, i);
        oc_ring_give(ring[i], 1, 0);
        oc_ring_give(ring[i], 2, 1);
        oc_ring_commit(ring[i], 7);
    }
    oc_ring_give(ring[0], 3, 0);
    fill(ring[1], 1, 1);
    oc_ring_publish(ring[1], 1);
    oc_ring_stop(ring[0], 5);
    assert_false(oc_ring_have_stopped(ring[0], 5));
    oc_ring_stop(ring[1], 6);
    assert_false(oc_ring_have_stopped(ring[0], 5) || oc_ring_have_stopped(ring[1], 6));
    oc_ring_stop(ring[0], 6);
    assert_true(oc_ring_have_stopped(ring[0], 6) && oc_ring_have_stopped(ring[1], 6));
    assert_true(oc_ring_is_published(ring[0], 1, 1) && !oc_ring_is_published(ring[1], 0, 0));
    oc_ring_leave(ring[1], 6);
    assert_false(oc_ring_restart(ring[1], 6));
    oc_ring_leave(ring[0], 6);
    assert_true(oc_ring_restart(ring[1], 6));
    /* the one that is first goes on at once */
    assert_int_equal(oc_ring_given(ring[1]), 3);
    assert_true(oc_ring_has_room(ring[1]));
    oc_ring_give(ring[1], 4, 0);
    assert_true(oc_ring_restart(ring[0], 6));
    assert_int_equal(oc_ring_given(ring[0]), 3);
    assert_int_equal(oc_ring_taken(ring[0]), 3);
    assert_int_equal(oc_ring_committed(ring[0]), 0);
    oc_ring_give(ring[0], 4, 0);
    assert_int_equal(oc_ring_has_gathered(ring[0], 3, &other), OC_OK);
    oc_ring_close(ring[0]);
    oc_ring_close(ring[1]);
    crew_end(&crew);
}

static void test_failure(void **state)
{
    char text[OC_RING_TEXT_SIZE];
    oc_ring_t *a, *b;
    uint32_t who;
    crew_t crew;

    (void) state;
    crew_make(&crew, 2);
    a = open_ring(&crew, 0);
    b = open_ring(&crew, 1);
    assert_false(oc_ring_has_failed(a, &who, text));
    oc_ring_arm(a);
    oc_ring_fail(b, "server x\tdied");
    oc_ring_fail(b, "and again");
    assert_true(oc_doorbell_listen(crew.bells[0]));
    assert_true(oc_ring_has_failed(a, &who, text));
    assert_int_equal(who, 1);
    assert_string_equal(text, "server x?died");
    assert_false(oc_ring_has_failed(b, &who, text));
    oc_ring_close(a);
    oc_ring_close(b);
    crew_end(&crew);
}

/* One ring of the bell for each time that it is asked for, and none before. */
static void test_armed_once(void **state)
{
    oc_ring_t *a, *b;
    crew_t crew;

    (void) state;
    crew_make(&crew, 2);
    a = open_ring(&crew, 0);
    b = open_ring(&crew, 1);
    oc_ring_give(b, 7, 0);
    assert_false(oc_doorbell_listen(crew.bells[0]));
    oc_ring_arm(a);
    oc_ring_give(b, 7, 1);
    assert_false(oc_doorbell_listen(crew.bells[0])); /* its own affair */
    oc_ring_give(b, 7, 0);
    assert_true(oc_doorbell_listen(crew.bells[0]));
    oc_ring_publish(b, 1);
    assert_false(oc_doorbell_listen(crew.bells[0]));
    oc_ring_arm(a);
    oc_ring_publish(b, 1);
    assert_true(oc_doorbell_listen(crew.bells[0]));
    oc_ring_arm(a);
    oc_ring_disarm(a);
    oc_ring_publish(b, 1);
    assert_false(oc_doorbell_listen(crew.bells[0]));
    oc_ring_close(a);
    oc_ring_close(b);
    crew_end(&crew);
}

static void test_wrong_size(void **state)
{
    oc_ring_member_t members[1] = {0};
    oc_ring_t *ring;
    char error[256];
    crew_t crew;

    (void) state;
    crew_make(&crew, 1);
    assert_int_equal(oc_segment_create(oc_ring_segment_size(&shape) - 1, &members[0].segment,
                                       error, sizeof(error)), OC_OK);
    assert_int_equal(oc_ring_open(&shape, members, 1, 0, crew.bells[0], &ring), OC_ERR_INVALID);
    assert_int_equal(oc_ring_segment_size(&(oc_ring_shape_t) {.capacity = 1u << 30,
                                                              .place_size = SIZE_MAX / 4}), 0);
    oc_ring_close(NULL);
    crew_end(&crew);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),      cmocka_unit_test(test_mismatch),
        cmocka_unit_test(test_matches),    cmocka_unit_test(test_restart),
        cmocka_unit_test(test_failure),    cmocka_unit_test(test_armed_once),
        cmocka_unit_test(test_wrong_size), cmocka_unit_test(test_committed),
        cmocka_unit_test(test_streams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
