/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of tagged messages over UCX: two workers that speak inside one process. */
/* Test: quick 120; all 120 x20 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include "base/clock.h"
#include "ucx_backend/worker.h"

#define PATIENCE (60 * OC_SECOND)
#define LARGE    (3u << 20)
#define ROUNDS   3000

typedef struct {
    oc_transfer_t transfer;
    unsigned calls;
} counted_t;

static oc_worker_t *left, *right;
static oc_endpoint_t *to_right, *to_left;
static unsigned failures;

/* UCX calls this one instead of the C library's. */
static atomic_ullong sends;

__attribute__((visibility("default"))) ssize_t send(int fd, const void *bytes, size_t length,
                                                    int flags);

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    atomic_fetch_add(&sends, 1);
    return syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0);
}

/* The same here: whether UCX was told so, and nothing else. */
static unsigned maps, unmaps;

__attribute__((visibility("default"))) ucs_status_t
ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t *params, ucp_mem_h *handle);
__attribute__((visibility("default"))) ucs_status_t
ucp_mem_unmap(ucp_context_h context, ucp_mem_h handle);

ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t *params,
                         ucp_mem_h *handle)
{
    (void) context;
    maps++;
    *handle = params->address;
    return UCS_OK;
}

ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h handle)
{
    (void) context;
    (void) handle;
    unmaps++;
    return UCS_OK;
}

static void on_done(oc_transfer_t *transfer)
{
    ((counted_t *) transfer)->calls++;
}

static void on_failed(void *arg)
{
    (*(unsigned *) arg)++;
}

static oc_worker_t *open_worker(void)
{
    oc_worker_t *worker = NULL;
    char error[256] = "";

    if (OC_OK != oc_worker_open(NULL, &worker, error, sizeof(error))) {
        fail_msg("%s", error);
    }
    return worker;
}

static oc_endpoint_t *connect_to(oc_worker_t *from, oc_worker_t *to)
{
    oc_endpoint_t *endpoint = NULL;
    size_t length;
    const void *address = oc_worker_address(to, &length);
    void *copy = malloc(length);

    assert_in_range(length, 1, 16384);
    memcpy(copy, address, length);
    assert_int_equal(oc_endpoint_open(from, copy, on_failed, &failures, &endpoint), OC_OK);
    free(copy);
    return endpoint;
}

static int setup(void **state)
{
    (void) state;
    failures = 0;
    left = open_worker();
    right = open_worker();
    to_right = connect_to(left, right);
    to_left = connect_to(right, left);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    oc_worker_close(left);
    oc_worker_close(right);
    left = right = NULL;
    return 0;
}

/* Network transport only: what two hosts would use. */
static int setup_tcp(void **state)
{
    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
    return setup(state);
}

static int teardown_tcp(void **state)
{
    unsetenv("OPTCAST_UCX_TLS");
    unsetenv("OPTCAST_UCX_NET_DEVICES");
    return teardown(state);
}

static void progress_both(void)
{
    if (NULL != left) {
        (void) oc_worker_progress(left);
    }
    if (NULL != right) {
        (void) oc_worker_progress(right);
    }
}

static void wait_for(const counted_t *counted, unsigned calls)
{
    uint64_t end = oc_clock_ns() + PATIENCE;

    while (counted->calls < calls && oc_clock_ns() < end) {
        progress_both();
    }
    assert_int_equal(counted->calls, calls);
}

static void run_for(uint64_t time)
{
    uint64_t end = oc_clock_ns() + time;

    while (oc_clock_ns() < end) {
        progress_both();
    }
}

static uint8_t *pattern(size_t length, unsigned seed)
{
    uint8_t *bytes = malloc(length > 0 ? length : 1);

    for (size_t i = 0; i < length; i++) {
        bytes[i] = (uint8_t) (i * 7 + i / 251 + seed);
    }
    return bytes;
}

static void exchange(size_t length, uint64_t tag, bool receive_first)
{
    counted_t sent = {.transfer.done = on_done}, received = {.transfer.done = on_done};
    uint8_t *from = pattern(length, (unsigned) tag), *to = calloc(1, length + 1);

    if (receive_first) {
        oc_receive(right, &received.transfer, to, length, tag, ~0ull);
    }
    oc_send(to_right, &sent.transfer, from, length, tag);
    assert_int_equal(sent.calls + received.calls, 0);
    if (!receive_first) {
        run_for(OC_MILLISECOND);
        oc_receive(right, &received.transfer, to, length, tag, ~0ull);
        assert_int_equal(received.calls, 0);
    }
    wait_for(&received, 1);
    wait_for(&sent, 1);
    assert_int_equal(sent.transfer.status, OC_OK);
    assert_int_equal(received.transfer.status, OC_OK);
    assert_int_equal(received.transfer.length, length);
    assert_true(received.transfer.tag == tag);
    assert_memory_equal(from, to, length);
    assert_int_equal(to[length], 0);
    assert_int_equal(oc_worker_pending(left) + oc_worker_pending(right), 0);
    free(from);
    free(to);
}

/* From eager to rendezvous, expected and unexpected. */
static void test_sizes(void **state)
{
    static const size_t sizes[] = {0, 1, 64, 4096, 8192, 16448, 65536, 262144, 1u << 20, LARGE};

    (void) state;
    for (uint64_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        exchange(sizes[i], 0x1000 + i, true);
        exchange(sizes[i], 0xf000000000000000ull + i, false);
    }
}

/* Whether a message of that length leaves while nobody receives it; it arrives in any case. */
static bool leaves_unasked(size_t length, void (*way)(oc_endpoint_t *endpoint,
                                                      oc_transfer_t *transfer, const void *buffer,
                                                      size_t length, uint64_t tag))
{
    counted_t sent = {.transfer.done = on_done}, received = {.transfer.done = on_done};
    uint8_t *from = pattern(length, 3), *to = calloc(1, length);
    bool unasked;

    exchange(64, 8, true); /* they are connected */
    way(to_right, &sent.transfer, from, length, 9);
    run_for(100 * OC_MILLISECOND);
    unasked = 1 == sent.calls;
    oc_receive(right, &received.transfer, to, length, 9, ~0ull);
    wait_for(&received, 1);
    wait_for(&sent, 1);
    assert_int_equal(received.transfer.length, length);
    assert_memory_equal(from, to, length);
    free(from);
    free(to);
    return unasked;
}

static void test_eager_tcp(void **state)
{
    (void) state;
    assert_false(leaves_unasked(LARGE, oc_send));
    assert_false(leaves_unasked(8193, oc_send));
    assert_true(leaves_unasked(8000, oc_send));
    assert_true(leaves_unasked(LARGE, oc_send_eager));
    assert_true(leaves_unasked(8193, oc_send_eager));
}

/* Calls of the system for 3 MiB: UCX's own segments of 8 KiB would be 384 or more. */
static unsigned long long count_sends(void)
{
    unsigned long long before;

    assert_true(leaves_unasked(LARGE, oc_send_eager));
    before = atomic_load(&sends);
    assert_true(leaves_unasked(LARGE, oc_send_eager));
    return atomic_load(&sends) - before;
}

static void test_segments_tcp(void **state)
{
    (void) state;
    assert_in_range(count_sends(), 94, 150);
}

/* Also of transports. */
static void test_settings_of_transports(void **state)
{
    setenv("OPTCAST_UCX_TCP_TX_SEG_SIZE", "8k", 1);
    assert_int_equal(setup_tcp(state), 0);
    assert_in_range(count_sends(), 384, 1000);
    assert_int_equal(teardown_tcp(state), 0);
    unsetenv("OPTCAST_UCX_TCP_TX_SEG_SIZE");
}

/* Workers of two environments. */
static void open_with(const char *left_segment, const char *left_buffer, const char *right_buffer)
{
    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
    setenv("OPTCAST_UCX_TCP_TX_SEG_SIZE", left_segment, 1);
    setenv("OPTCAST_UCX_TCP_RX_SEG_SIZE", left_buffer, 1);
    left = open_worker();
    setenv("OPTCAST_UCX_TCP_TX_SEG_SIZE", "8k", 1);
    setenv("OPTCAST_UCX_TCP_RX_SEG_SIZE", right_buffer, 1);
    right = open_worker();
    unsetenv("OPTCAST_UCX_TCP_TX_SEG_SIZE");
    unsetenv("OPTCAST_UCX_TCP_RX_SEG_SIZE");
    to_right = connect_to(left, right);
    to_left = connect_to(right, left);
}

/* UCX writes behind a buffer that is too small for a segment: no environment leads to that. */
static void test_unequal_segments(void **state)
{
    static const char *const cases[][3] = {
        {"128k", "128k", "64k"}, {"256kb", "1m", "8k"}, {"inf", "inf", "16k"},
        {"junk", "64k", "8k"}, {"131072", "131072", "65536"}, {"64k", "64k", "8k"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_with(cases[i][0], cases[i][1], cases[i][2]);
        /* of 64 KiB each */
        assert_in_range(count_sends(), 48, 80);
        assert_int_equal(teardown_tcp(state), 0);
    }
    /* also where nothing is too large by itself */
    open_with("8k", "256k", "8k");
    assert_in_range(count_sends(), 384, 1000);
    assert_int_equal(teardown_tcp(state), 0);
}

/* Whatever way TCP is allowed in, its segments are ours. */
static void test_ways_to_tcp(void **state)
{
    static const char *const ways[] = {"^sm", "^ib,shm,self", "all", "self,tcp", "\\tcp", "tcp,ib"};

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        setenv("OPTCAST_UCX_TLS", ways[i], 1);
        setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
        setenv("OPTCAST_UCX_SHM_DEVICES", "", 1);
        setenv("OPTCAST_UCX_SELF_DEVICES", "", 1);
        assert_int_equal(setup(state), 0);
        assert_in_range(count_sends(), 94, 150);
        assert_int_equal(teardown_tcp(state), 0);
        unsetenv("OPTCAST_UCX_SHM_DEVICES");
        unsetenv("OPTCAST_UCX_SELF_DEVICES");
    }
}

/* What the user says about large messages holds. */
static void test_eager_thresholds(void **state)
{
    setenv("OPTCAST_UCX_RNDV_THRESH", "16k", 1);
    assert_int_equal(setup_tcp(state), 0);
    assert_false(leaves_unasked(LARGE, oc_send_eager));
    assert_int_equal(teardown_tcp(state), 0);
    setenv("OPTCAST_UCX_RNDV_THRESH", "inf", 1);
    assert_int_equal(setup_tcp(state), 0);
    assert_true(leaves_unasked(LARGE, oc_send));
    assert_int_equal(teardown_tcp(state), 0);
    unsetenv("OPTCAST_UCX_RNDV_THRESH");
}

/* The mask chooses; the tag of the message is reported whole. */
static void test_tags(void **state)
{
    counted_t sent[3] = {{.calls = 0}}, received[3] = {{.calls = 0}};
    static const uint64_t tags[] = {0x1000000000000001ull, 0x2000000000000002ull,
                                    0x1000000000000003ull};
    uint32_t values[3] = {101, 102, 103}, got[3] = {0};

    (void) state;
    for (int i = 0; i < 3; i++) {
        sent[i].transfer.done = received[i].transfer.done = on_done;
    }
    oc_receive(right, &received[0].transfer, &got[0], 4, tags[2], ~0ull);
    oc_receive(right, &received[1].transfer, &got[1], 4, 0x1000000000000000ull, 0xfull << 60);
    oc_receive(right, &received[2].transfer, &got[2], 4, 0, 0);
    for (int i = 0; i < 3; i++) {
        oc_send(to_right, &sent[i].transfer, &values[i], 4, tags[i]);
    }
    for (int i = 0; i < 3; i++) {
        wait_for(&received[i], 1);
        wait_for(&sent[i], 1);
    }
    assert_int_equal(got[0], 103);
    assert_int_equal(got[1], 101);
    assert_true(received[1].transfer.tag == tags[0]);
    assert_int_equal(got[2], 102);
    assert_true(received[2].transfer.tag == tags[1]);
}

static void truncate_one(size_t length, size_t room)
{
    counted_t sent = {.transfer.done = on_done}, received = {.transfer.done = on_done};
    uint8_t *from = pattern(length, 1), *to = malloc(room + 16);

    memset(to, 0xee, room + 16);
    oc_receive(right, &received.transfer, to, room, 5, ~0ull);
    oc_send(to_right, &sent.transfer, from, length, 5);
    wait_for(&received, 1);
    wait_for(&sent, 1);
    assert_int_equal(received.transfer.status, OC_ERR_TRUNCATED);
    for (int i = 0; i < 16; i++) {
        assert_int_equal(to[room + (size_t) i], 0xee);
    }
    free(from);
    free(to);
}

static void test_truncation(void **state)
{
    (void) state;
    truncate_one(100, 99);
    truncate_one(100, 0);
    truncate_one(LARGE, LARGE - 1);
    exchange(100, 6, true);
}

static void test_cancel(void **state)
{
    counted_t received = {.transfer.done = on_done};
    uint32_t value = 0;

    (void) state;
    oc_receive(right, &received.transfer, &value, sizeof(value), 77, ~0ull);
    run_for(OC_MILLISECOND);
    assert_int_equal(received.calls, 0);
    assert_int_equal(oc_worker_pending(right), 1);
    oc_receive_cancel(&received.transfer);
    assert_int_equal(received.calls, 0);
    wait_for(&received, 1);
    assert_int_equal(received.transfer.status, OC_ERR_CANCELED);
    assert_int_equal(oc_worker_pending(right), 0);
    oc_receive_cancel(&received.transfer);
    run_for(OC_MILLISECOND);
    assert_int_equal(received.calls, 1);
    exchange(4, 77, false);
}

static void test_fail(void **state)
{
    counted_t counted = {.transfer.done = on_done};
    uint64_t end = oc_clock_ns() + PATIENCE;
    int fd;

    (void) state;
    exchange(16, 1, true);
    do {
        progress_both();
    } while (OC_OK != oc_worker_arm(left, &fd) && oc_clock_ns() < end);
    assert_int_equal(oc_worker_arm(left, &fd), OC_OK);
    oc_transfer_fail(left, &counted.transfer, OC_ERR_REFUSED);
    assert_int_equal(counted.calls, 0);
    assert_int_equal(oc_worker_pending(left), 1);
    assert_int_equal(oc_worker_arm(left, &fd), OC_IN_PROGRESS);
    assert_int_equal(oc_worker_progress(left), 1);
    assert_int_equal(counted.calls, 1);
    assert_int_equal(counted.transfer.status, OC_ERR_REFUSED);
}

/* Receives without a message, sends without a receiver: each is called back exactly once. */
static void test_close_with_pending(void **state)
{
    counted_t received[8], sent[8];
    uint8_t *from = pattern(LARGE, 1), *to = malloc(8 * 64);

    (void) state;
    memset(received, 0, sizeof(received));
    memset(sent, 0, sizeof(sent));
    for (unsigned i = 0; i < 8; i++) {
        received[i].transfer.done = sent[i].transfer.done = on_done;
        oc_receive(left, &received[i].transfer, to + 64 * i, 64, 1000 + i, ~0ull);
        oc_send(to_right, &sent[i].transfer, from, i < 4 ? 64 : LARGE, i);
    }
    progress_both();
    oc_worker_close(left);
    left = NULL;
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(received[i].calls, 1);
        assert_int_equal(received[i].transfer.status, OC_ERR_CANCELED);
        assert_int_equal(sent[i].calls, 1);
    }
    assert_int_not_equal(sent[7].transfer.status, OC_OK);
    free(from);
    free(to);
    run_for(OC_MILLISECOND);
}

/* What UCX prints while that worker is closed; the caller frees it. */
static char *words_of_close(oc_worker_t *worker)
{
    FILE *file = tmpfile();
    int screen = dup(STDOUT_FILENO);
    char *words = calloc(1, 4096);

    assert_non_null(file);
    fflush(stdout);
    assert_int_equal(dup2(fileno(file), STDOUT_FILENO), STDOUT_FILENO);
    oc_worker_close(worker);
    fflush(stdout);
    assert_int_equal(dup2(screen, STDOUT_FILENO), STDOUT_FILENO);
    close(screen);
    rewind(file);
    (void) !fread(words, 1, 4095, file);
    fclose(file);
    return words;
}

/* Until the beginning of a message of that tag is there. */
static void wait_to_hold(uint64_t tag)
{
    uint64_t end = oc_clock_ns() + PATIENCE;

    while (!oc_worker_holds(right, tag, ~0ull) && oc_clock_ns() < end) {
        progress_both();
    }
    assert_true(oc_worker_holds(right, tag, ~0ull));
}

/* Messages that nobody receives: whole, in several segments, announced, here in part. UCX does not warn of them. */
static void test_close_with_messages(void **state)
{
    static const size_t lengths[] = {64, 16384, LARGE, LARGE, LARGE};
    counted_t sent[5] = {{.calls = 0}};
    uint8_t *from = pattern(LARGE, 1);
    char *words;

    (void) state;
    for (unsigned i = 0; i < 5; i++) {
        sent[i].transfer.done = on_done;
        (2 == i ? oc_send : oc_send_eager)(to_right, &sent[i].transfer, from, lengths[i], i);
        wait_to_hold(i);
        if (i < 4) {
            run_for(10 * OC_MILLISECOND);
        }
    }
    words = words_of_close(right);
    right = NULL;
    assert_string_equal(words, "");
    free(words);
    oc_worker_close(left);
    left = NULL;
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(sent[i].calls, 1);
    }
    free(from);
}

/* A callback may free its transfer, start the next and close what it likes. */
typedef struct {
    oc_transfer_t transfer;
    unsigned *left_to_do;
    uint32_t value;
} chain_t;

static void on_chain(oc_transfer_t *transfer)
{
    chain_t *chain = (chain_t *) transfer, *next;
    unsigned *left_to_do = chain->left_to_do;

    free(chain);
    if (0 == --*left_to_do) {
        oc_endpoint_close(to_right);
        to_right = NULL;
        return;
    }
    next = calloc(1, sizeof(*next));
    next->transfer.done = on_chain;
    next->left_to_do = left_to_do;
    oc_send(to_right, &next->transfer, &next->value, sizeof(next->value), 9);
}

static void test_callbacks_may_do_all(void **state)
{
    chain_t *first = calloc(1, sizeof(*first));
    unsigned left_to_do = 500;
    uint64_t end = oc_clock_ns() + PATIENCE;

    (void) state;
    first->transfer.done = on_chain;
    first->left_to_do = &left_to_do;
    oc_send(to_right, &first->transfer, &first->value, sizeof(first->value), 9);
    while (left_to_do > 0 && oc_clock_ns() < end) {
        progress_both();
    }
    assert_int_equal(left_to_do, 0);
    assert_int_equal(oc_worker_pending(left), 0);
    run_for(OC_MILLISECOND);
}

static void test_endpoint_close_with_sends(void **state)
{
    counted_t sent[4];
    uint8_t *from = pattern(LARGE, 1);

    (void) state;
    memset(sent, 0, sizeof(sent));
    for (int i = 0; i < 4; i++) {
        sent[i].transfer.done = on_done;
        oc_send(to_right, &sent[i].transfer, from, LARGE, 3);
    }
    run_for(OC_MILLISECOND);
    oc_endpoint_close(to_right);
    oc_endpoint_close(NULL);
    for (int i = 0; i < 4; i++) {
        wait_for(&sent[i], 1);
        assert_int_not_equal(sent[i].transfer.status, OC_OK);
    }
    free(from);
}

/* The peer is gone: told once, and sends end with an error instead of waiting for ever. */
static void test_peer_closes(void **state)
{
    uint64_t end = oc_clock_ns() + PATIENCE;
    counted_t sent = {.transfer.done = on_done}, received = {.transfer.done = on_done};
    uint8_t *from = pattern(LARGE, 1);
    uint32_t value;

    (void) state;
    exchange(64, 1, true);
    oc_worker_close(right);
    right = NULL;
    oc_receive(left, &received.transfer, &value, sizeof(value), 1, ~0ull);
    oc_send(to_right, &sent.transfer, from, LARGE, 2);
    while (0 == failures && oc_clock_ns() < end) {
        progress_both();
    }
    assert_int_equal(failures, 1);
    wait_for(&sent, 1);
    assert_int_not_equal(sent.transfer.status, OC_OK);
    sent.calls = 0;
    oc_send(to_right, &sent.transfer, from, 64, 2);
    assert_int_equal(sent.calls, 0);
    wait_for(&sent, 1);
    assert_int_equal(sent.transfer.status, OC_ERR_UNREACHABLE);
    run_for(10 * OC_MILLISECOND);
    assert_int_equal(failures, 1);
    /* a receive is nobody's in particular: it stays until it is canceled */
    assert_int_equal(received.calls, 0);
    oc_receive_cancel(&received.transfer);
    wait_for(&received, 1);
    oc_endpoint_close(to_right);
    free(from);
}

/* One side of a ping-pong that sleeps whenever it has nothing to do. */
typedef struct {
    oc_worker_t *worker;
    oc_endpoint_t *endpoint;
    bool begins;
    bool lost;                 /* it slept through a message */
    size_t length;
    unsigned rounds;
} player_t;

static bool sleep_until(player_t *player, const counted_t *counted)
{
    struct pollfd event = {.events = POLLIN};

    while (0 == counted->calls) {
        if (oc_worker_progress(player->worker) > 0) {
            continue;
        }
        if (OC_OK == oc_worker_arm(player->worker, &event.fd) && 1 != poll(&event, 1, 4000)) {
            return false;
        }
    }
    return true;
}

static void *play(void *arg)
{
    player_t *player = arg;
    uint8_t *from = pattern(player->length, 3), *to = malloc(player->length);

    for (unsigned i = 0; i < 2 * player->rounds && !player->lost; i++) {
        counted_t counted = {.transfer.done = on_done};

        if (player->begins == (0 == i % 2)) {
            oc_send(player->endpoint, &counted.transfer, from, player->length, i);
        } else {
            oc_receive(player->worker, &counted.transfer, to, player->length, i, ~0ull);
        }
        player->lost = !sleep_until(player, &counted) || OC_OK != counted.transfer.status;
    }
    player->lost = player->lost || 0 != memcmp(from, to, player->length);
    free(from);
    free(to);
    return NULL;
}

static void ping_pong(size_t length, unsigned rounds)
{
    player_t one = {.worker = left, .endpoint = to_right, .begins = true, .length = length,
                    .rounds = rounds};
    player_t two = {.worker = right, .endpoint = to_left, .length = length, .rounds = rounds};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, play, &two), 0);
    (void) play(&one);
    pthread_join(thread, NULL);
    assert_false(one.lost);
    assert_false(two.lost);
}

static void test_sleeping(void **state)
{
    (void) state;
    ping_pong(16, ROUNDS);
    ping_pong(8192, ROUNDS / 10);
    ping_pong(262144, ROUNDS / 10);
}

/* Both sides sleep from their first word on: connecting must wake them as data does. */
static void test_sleeping_from_the_start(void **state)
{
    for (int i = 0; i < 20; i++) {
        assert_int_equal(setup(state), 0);
        ping_pong(64, 2);
        assert_int_equal(teardown(state), 0);
    }
}

static void test_sleeping_from_the_start_tcp(void **state)
{
    for (int i = 0; i < 20; i++) {
        assert_int_equal(setup_tcp(state), 0);
        ping_pong(64, 2);
        assert_int_equal(teardown_tcp(state), 0);
    }
}

/* How often left wants to be progressed within that time (ns). */
static unsigned rounds_of_left(uint64_t time)
{
    uint64_t end = oc_clock_ns() + time;
    struct pollfd event = {.events = POLLIN};
    unsigned rounds = 0;

    while (oc_clock_ns() < end) {
        rounds++;
        (void) oc_worker_progress(left);
        if (OC_OK == oc_worker_arm(left, &event.fd)) {
            (void) poll(&event, 1, 1000);
        }
    }
    return rounds;
}

static void run_alone(oc_worker_t *worker, uint64_t time)
{
    uint64_t end = oc_clock_ns() + time;

    while (oc_clock_ns() < end) {
        (void) oc_worker_progress(worker);
    }
}

/*
 * Both want to connect, and the right one does nothing before it has heard that the left one uses
 * its connection, too. Meanwhile UCX's descriptor is readable.
 */
static void test_sleeping_beside_an_idle_peer(void **state)
{
    uint64_t time = 300 * OC_MILLISECOND;
    unsigned rounds;

    (void) state;
    left = open_worker();
    right = open_worker();
    to_left = connect_to(right, left);
    run_alone(right, 5 * OC_MILLISECOND);
    run_alone(left, 20 * OC_MILLISECOND);
    to_right = connect_to(left, right);
    rounds = rounds_of_left(time);
    if (rounds < 10) {
        (void) teardown(state);
        print_message("this UCX has a descriptor that is not readable in vain\n");
        skip();
    }
    /* a processor is burnt unless most rounds are sleeps of 0.4 ms */
    assert_in_range(rounds, 10, 1500);
    exchange(64, 9, true);
    /* now the descriptor tells when there is something to do, and there is nothing */
    run_for(10 * OC_MILLISECOND);
    assert_in_range(rounds_of_left(time), 1, 100);
}

static void test_sleeping_beside_an_idle_peer_tcp(void **state)
{
    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
    test_sleeping_beside_an_idle_peer(state);
    assert_int_equal(teardown_tcp(state), 0);
}

/* A descriptor that always tells of something to do is believed, however often it does. */
static void test_no_nap_beside_messages(void **state)
{
    counted_t sent = {.transfer.done = on_done}, received = {.transfer.done = on_done};
    struct pollfd event = {.events = POLLIN};
    uint8_t *from = pattern(64, 9), to[64];
    uint64_t end = oc_clock_ns() + PATIENCE;

    (void) state;
    exchange(64, 9, true);
    for (unsigned i = 1; i <= 50; i++) {
        oc_receive(right, &received.transfer, to, 64, i, ~0ull);
        oc_send(to_right, &sent.transfer, from, 64, i);
        while (sent.calls < i) {
            (void) oc_worker_progress(left);
            assert_true(oc_clock_ns() < end);
        }
        /* perhaps it is not there yet, but once it is the worker wants to be progressed */
        while (OC_OK == oc_worker_arm(right, &event.fd)) {
            assert_int_equal(poll(&event, 1, 4000), 1);
            assert_true(oc_clock_ns() < end);
        }
        wait_for(&received, i);
    }
    free(from);
}

/* The workers' timers can be had, or not. */
static bool no_timers;

__attribute__((visibility("default"))) int timerfd_create(int clock, int flags);

int timerfd_create(int clock, int flags)
{
    if (no_timers) {
        errno = EMFILE;
        return -1;
    }
    return (int) syscall(SYS_timerfd_create, clock, flags);
}

static void test_no_timer(void **state)
{
    oc_worker_t *worker = NULL;
    char error[256] = "";

    (void) state;
    no_timers = true;
    assert_int_equal(oc_worker_open(NULL, &worker, error, sizeof(error)), OC_ERR_SYSTEM);
    no_timers = false;
    assert_null(worker);
    assert_string_equal(error, "no timer to be woken by: Too many open files");
}

/* Mappings of a worker are those of test_mappings. */
static void test_mappings(void **state)
{
    static char memory[1000];
    oc_mapping_t *first;

    (void) state;
    maps = unmaps = 0;
    first = oc_map(left, memory, 1000);
    assert_non_null(first);
    assert_ptr_equal(oc_map(left, memory + 500, 500), first);
    assert_int_equal(maps, 1);
    oc_unmap(left, first);
    assert_int_equal(unmaps, 0);
    oc_unmap(left, first);
    oc_unmap(left, NULL);
    assert_int_equal(unmaps, 1);
}

static void test_open_errors(void **state)
{
    oc_worker_t *worker = NULL;
    char error[256] = "";

    (void) state;
    oc_worker_close(NULL);
    assert_in_range(strlen(oc_ucx_version()), 3, 31);
    setenv("OPTCAST_UCX_TLS", "no_such_transport", 1);
    assert_int_not_equal(oc_worker_open(NULL, &worker, error, sizeof(error)), OC_OK);
    assert_non_null(strstr(error, "OPTCAST_UCX_"));
    assert_null(worker);
    unsetenv("OPTCAST_UCX_TLS");
}

/* Settings meant for the MPI library of the same process are not ours. */
static void test_other_environment(void **state)
{
    (void) state;
    setenv("UCX_TLS", "no_such_transport", 1);
    oc_worker_close(open_worker());
    unsetenv("UCX_TLS");
}

#define ON_BOTH(test) \
    cmocka_unit_test_setup_teardown(test, setup, teardown), \
    {#test " (tcp)", test, setup_tcp, teardown_tcp, NULL}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        ON_BOTH(test_sizes),
        ON_BOTH(test_tags),
        ON_BOTH(test_truncation),
        ON_BOTH(test_cancel),
        ON_BOTH(test_fail),
        ON_BOTH(test_close_with_pending),
        ON_BOTH(test_close_with_messages),
        ON_BOTH(test_callbacks_may_do_all),
        ON_BOTH(test_endpoint_close_with_sends),
        ON_BOTH(test_sleeping),
        cmocka_unit_test_setup_teardown(test_eager_tcp, setup_tcp, teardown_tcp),
        cmocka_unit_test_setup_teardown(test_segments_tcp, setup_tcp, teardown_tcp),
        cmocka_unit_test(test_settings_of_transports),
        cmocka_unit_test(test_unequal_segments),
        cmocka_unit_test(test_ways_to_tcp),
        cmocka_unit_test(test_eager_thresholds),
        cmocka_unit_test_setup_teardown(test_peer_closes, setup_tcp, teardown_tcp),
        cmocka_unit_test(test_sleeping_from_the_start),
        cmocka_unit_test(test_sleeping_from_the_start_tcp),
        cmocka_unit_test(test_sleeping_beside_an_idle_peer_tcp),
        cmocka_unit_test_setup_teardown(test_no_nap_beside_messages, setup_tcp, teardown_tcp),
        cmocka_unit_test_setup_teardown(test_mappings, setup, teardown),
        cmocka_unit_test(test_no_timer),
        cmocka_unit_test(test_open_errors),
        cmocka_unit_test(test_other_environment),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
