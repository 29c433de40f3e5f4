/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of messages that go through shared memory: ends inside one process, and in
 * two that can or cannot get at each other's memory.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "multicast/peers/cast_peers.h"
#include "multicast/peers/note.h"
#include "multicast/wire/contact.h"
#include "protocol/tag.h"
#include "ucx_backend/worker.h"

#define PATIENCE     (20 * OC_SECOND)
#define LONGEST      4096u
#define MANY         1000u
#define HEAD         24u
#define LEFT         3u        /* numbers of processes */
#define RIGHT        7u
#define MAX_ADDRESS  4096u
#define NO_NAMESPACE 77        /* exit status: this system does not let the test make one */

typedef struct {
    oc_peers_t *peers;
    unsigned arrived, shared, lost, wrong, forged;
    size_t shared_bytes;
} end_t;

static const uint8_t job_key[OC_JOB_KEY_SIZE] = {1, 2, 3};

static end_t left, right;
static oc_cast_peer_t *to_right, *to_left;

static uint8_t byte_at(size_t length, size_t i)
{
    return (uint8_t) (length * 13 + i * 7 + 1);
}

static void on_arrived(void *arg, const uint8_t *bytes, size_t length)
{
    end_t *end = arg;

    end->arrived++;
    for (size_t i = 0; i < length; i++) {
        if (byte_at(length, i) != bytes[i]) {
            end->wrong++;
            return;
        }
    }
}

static void on_shared(void *arg, size_t length)
{
    end_t *end = arg;

    end->shared++;
    end->shared_bytes += length;
}

static void on_lost(void *arg, oc_cast_peer_t *peer)
{
    end_t *end = arg;

    (void) peer;
    end->lost++;
}

static void on_forged_note(void *arg)
{
    end_t *end = arg;

    end->forged++;
}

static void open_end(end_t *end)
{
    oc_peers_events_t events = {
        .arrived = on_arrived, .lost = on_lost, .shared = on_shared,
        .forged = on_forged_note, .arg = end};
    char error[256] = "";

    *end = (end_t) {0};
    if (OC_OK
        != oc_peers_open(&events, NULL, LONGEST, job_key, &end->peers, error, sizeof(error))) {
        fail_msg("%s", error);
    }
    oc_admission_admit(oc_peers_admission(end->peers), &in6addr_loopback, 1);
}

static oc_cast_peer_t *know_peer(end_t *from, uint32_t own, uint32_t process, const void *address,
                                 size_t length)
{
    oc_cast_peer_t *peer = oc_cast_peer_get(from->peers, process,
                                            oc_contact_digest(address, length));

    if (NULL != peer) {
        oc_cast_peer_learn(peer, address, length, false);
        oc_cast_peer_share(peer, own);
    }
    return peer;
}

static oc_cast_peer_t *get_peer(end_t *from, uint32_t own, uint32_t process, const end_t *to)
{
    size_t length;
    const void *address = oc_peers_address(to->peers, &length);

    return know_peer(from, own, process, address, length);
}

static int setup(void **state)
{
    (void) state;
    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
    open_end(&left);
    open_end(&right);
    to_right = get_peer(&left, LEFT, RIGHT, &right);
    to_left = get_peer(&right, RIGHT, LEFT, &left);
    assert_non_null(to_right);
    assert_non_null(to_left);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    oc_peers_close(left.peers);
    oc_peers_close(right.peers);
    return 0;
}

static void post_by(oc_cast_peer_t *peer, oc_outbox_t *outbox, size_t head, size_t data)
{
    uint8_t bytes[LONGEST];

    for (size_t i = 0; i < head + data; i++) {
        bytes[i] = byte_at(head + data, i);
    }
    oc_cast_peer_post(peer, outbox, bytes, head, bytes + head, data);
    memset(bytes, 0, sizeof(bytes));
}

static void post(size_t head, size_t data)
{
    post_by(to_right, NULL, head, data);
}

static void progress(void)
{
    (void) oc_peers_progress(left.peers);
    (void) oc_peers_progress(right.peers);
}

static void wait_for(const unsigned *count, unsigned value)
{
    uint64_t end = oc_clock_ns() + PATIENCE;

    while (*count < value && oc_clock_ns() < end) {
        progress();
    }
    assert_int_equal(*count, value);
}

static void test_data_is_shared(void **state)
{
    unsigned count = 0;
    size_t bytes = 0;

    (void) state;
    for (size_t data = 1; data <= LONGEST - HEAD; data = data * 2 + 5) {
        post(HEAD, data);
        wait_for(&right.arrived, ++count);
        bytes += HEAD + data;
    }
    post(HEAD, LONGEST - HEAD);
    wait_for(&right.arrived, ++count);
    assert_int_equal(right.shared, count);
    assert_int_equal(right.shared_bytes, bytes + LONGEST);
    assert_int_equal(right.wrong, 0);
    assert_int_equal(left.shared, 0);
}

/* Both ways, and many more than there are slots. */
static void test_many(void **state)
{
    (void) state;
    for (unsigned i = 0; i < MANY; i++) {
        post_by(to_right, NULL, HEAD, 1 + i);
        post_by(to_left, NULL, HEAD, 2000 - i);
        if (0 == (i + 1) % OC_SHELF_SHARE || MANY - 1 == i) {
            wait_for(&right.arrived, i + 1);
            wait_for(&left.arrived, i + 1);
        }
    }
    assert_int_equal(right.wrong + left.wrong, 0);
    assert_int_equal(right.shared, MANY);
    assert_int_equal(left.shared, MANY);
}

/* What is awaited has to leave this process, and without data there is nothing to share. */
static void test_what_is_not_shared(void **state)
{
    oc_outbox_t *outbox = oc_outbox_new();

    (void) state;
    post(HEAD, 0);
    post_by(to_right, outbox, HEAD, 1000);
    wait_for(&right.arrived, 2);
    assert_int_equal(right.shared, 0);
    assert_int_equal(right.wrong, 0);
    oc_outbox_drop(outbox);
}

/* A peer that is elsewhere: what does not fit is sent. */
static void test_no_slot_is_free(void **state)
{
    (void) state;
    for (unsigned i = 0; i < OC_SHELF_SHARE + 20; i++) {
        post(HEAD, 100 + i);
    }
    wait_for(&right.arrived, OC_SHELF_SHARE + 20);
    assert_int_equal(right.shared, OC_SHELF_SHARE);
    assert_int_equal(right.wrong, 0);
    post(HEAD, 100);
    wait_for(&right.arrived, OC_SHELF_SHARE + 21);
    assert_int_equal(right.shared, OC_SHELF_SHARE + 1);
}

/* What a lost peer has not taken takes no room from those that come later. */
static void test_lost_peers(void **state)
{
    (void) state;
    for (unsigned i = 1; i <= 2 * OC_SHELF_SLOTS / OC_SHELF_SHARE; i++) {
        post(HEAD, 10);
        wait_for(&right.arrived, 1);
        assert_int_equal(right.shared, 1);
        for (unsigned k = 0; k < OC_SHELF_SHARE; k++) {
            post(HEAD, 1000);
        }
        oc_peers_close(right.peers);
        right.peers = NULL;
        open_end(&right);
        oc_cast_peer_release(to_right);
        to_right = get_peer(&left, LEFT, RIGHT, &right);
        to_left = get_peer(&right, RIGHT, LEFT, &left);
    assert_non_null(to_right);
    assert_non_null(to_left);
        wait_for(&left.lost, i);
    }
    for (unsigned k = 0; k < OC_SHELF_SHARE; k++) {
        post(HEAD, 1000);
    }
    wait_for(&right.arrived, OC_SHELF_SHARE);
    assert_int_equal(right.shared, OC_SHELF_SHARE);
    assert_int_equal(right.wrong, 0);
}

/* ---- notes that nobody of this job has sent ---- */

static unsigned forged_left;

static void on_forged(oc_transfer_t *transfer)
{
    (void) transfer;
    forged_left++;
}

static uint64_t forged_serial;

static void forge(const end_t *to, const void *bytes, size_t length)
{
    oc_transfer_t transfer = {.done = on_forged};
    size_t address_length;
    const void *address = oc_peers_address(to->peers, &address_length);
    oc_endpoint_t *endpoint;
    oc_worker_t *worker;
    uint64_t end = oc_clock_ns() + PATIENCE;
    char error[256];

    forged_left = 0;
    assert_int_equal(oc_worker_open(NULL, &worker, error, sizeof(error)), OC_OK);
    assert_int_equal(oc_endpoint_open(worker, address, NULL, NULL, &endpoint), OC_OK);
    oc_send(endpoint, &transfer, bytes, length, oc_tag(OC_KIND_CAST, 0, 0, 0, OC_NOTE_SLOT));
    for (unsigned rounds = 0; rounds < 200 && oc_clock_ns() < end; rounds += forged_left) {
        (void) oc_worker_progress(worker);
        progress();
    }
    assert_int_equal(forged_left, 1);
    oc_worker_close(worker);
}

/* As if somebody had the key. */
static void forge_note(oc_note_t note)
{
    oc_mac_t *mac = oc_mac_new(job_key, sizeof(job_key), OC_NOTE_PURPOSE, NULL, 0);
    uint8_t bytes[OC_NOTE_SIZE];

    note.serial = ++forged_serial;
    oc_note_encode(&note, bytes);
    oc_note_seal(mac, RIGHT, &note, bytes);
    oc_mac_free(mac);
    forge(&right, bytes, sizeof(bytes));
}

/* Whatever strangers say, before and while a shelf is in use: nothing arrives, nothing is lost. */
static void test_forged_notes(void **state)
{
    oc_note_t note = {.kind = OC_NOTE_LAID, .process = LEFT, .place = {.length = 100}};

    (void) state;
    for (unsigned i = 0; i < 2; i++) {
        forge(&right, "no note", 7);
        forge_note(note);
        note.shelf[0] = 1;
        note.place.slot = UINT32_MAX;
        forge_note(note);
        note.process = 99; /* nobody */
        forge_note(note);
        note.process = LEFT;
        note.kind = OC_NOTE_REFUSED;
        forge_note(note);
        assert_int_equal(right.arrived, 3 * i);
        for (unsigned k = 0; k < 3; k++) {
            post(HEAD, 1000);
        }
        wait_for(&right.arrived, 3 * (i + 1));
        assert_int_equal(right.shared, right.arrived);
        assert_int_equal(right.wrong, 0);
        post_by(to_left, NULL, HEAD, 1000); /* whose shelf was not the one that was refused */
        wait_for(&left.arrived, i + 1);
        assert_int_equal(left.shared, left.arrived);
        note.kind = OC_NOTE_LAID;
    }
}

static unsigned seen;

static void on_seen(oc_transfer_t *transfer)
{
    (void) transfer;
    seen++;
}

/* A note of the left end about its shelf, as somebody sees it on its way. */
static void see_note(uint8_t bytes[OC_NOTE_SIZE])
{
    oc_transfer_t transfer = {.done = on_seen};
    uint64_t end = oc_clock_ns() + PATIENCE;
    const void *address;
    oc_worker_t *worker;
    oc_cast_peer_t *spy;
    size_t length;
    char error[256];

    seen = 0;
    assert_int_equal(oc_worker_open(NULL, &worker, error, sizeof(error)), OC_OK);
    address = oc_worker_address(worker, &length);
    oc_receive(worker, &transfer, bytes, OC_NOTE_SIZE, oc_tag(OC_KIND_CAST, 0, 0, 0, OC_NOTE_SLOT),
               UINT64_MAX);
    spy = know_peer(&left, LEFT, 99, address, length);
    assert_non_null(spy);
    post_by(spy, NULL, HEAD, 1000);
    while (0 == seen && oc_clock_ns() < end) {
        (void) oc_worker_progress(worker);
        progress();
    }
    assert_int_equal(seen, 1);
    oc_cast_peer_release(spy);
    oc_worker_close(worker);
}

/* The name of a shelf is no secret: who knows it does not end its use, or make up what is there. */
static void test_notes_without_the_key(void **state)
{
    uint8_t bytes[OC_NOTE_SIZE];
    oc_note_t note;

    (void) state;
    post(HEAD, 1000);
    wait_for(&right.arrived, 1);
    see_note(bytes);
    assert_true(oc_note_decode(bytes, sizeof(bytes), &note));
    forge(&right, bytes, sizeof(bytes)); /* as it is: it was for another process */
    assert_int_equal(right.forged, 1);
    note.kind = OC_NOTE_REFUSED;
    note.process = RIGHT;
    oc_note_encode(&note, bytes);
    forge(&left, bytes, sizeof(bytes));
    assert_int_equal(left.forged, 1);
    post(HEAD, 1000);
    wait_for(&right.arrived, 2);
    assert_int_equal(right.shared, 2);
    assert_int_equal(right.wrong, 0);
}

/* ---- two processes ---- */

static void exchange(int socket, const end_t *end, void *theirs, size_t *length)
{
    const void *mine = oc_peers_address(end->peers, length);
    ssize_t got;

    if ((ssize_t) *length != send(socket, mine, *length, 0)
        || (got = recv(socket, theirs, MAX_ADDRESS, 0)) <= 0) {
        exit(2);
    }
    *length = (size_t) got;
}

/* The left one: posts, and goes on until it is told to end. */
static int be_left(int socket)
{
    uint8_t address[MAX_ADDRESS];
    uint64_t end = oc_clock_ns() + PATIENCE;
    size_t length;
    char byte;

    open_end(&left);
    exchange(socket, &left, address, &length);
    to_right = know_peer(&left, LEFT, RIGHT, address, length);
    if (NULL == to_right) {
        return 3;
    }
    for (unsigned i = 0; i < MANY; i++) {
        post(HEAD, 1 + i);
    }
    while (recv(socket, &byte, 1, MSG_DONTWAIT) < 0 && EAGAIN == errno && oc_clock_ns() < end) {
        (void) oc_peers_progress(left.peers);
        usleep(50);
    }
    oc_peers_close(left.peers);
    return 0;
}

/* Runs be_left in a process that has another PID namespace, with another number there. */
static int be_elsewhere(int socket)
{
    int status;
    pid_t child;

    if (0 != unshare(CLONE_NEWPID)) {
        return NO_NAMESPACE;
    }
    child = fork();
    if (0 == child) {
        _exit(be_left(socket));
    }
    return child > 0 && child == waitpid(child, &status, 0) && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : 4;
}

/* false: there was no such namespace. */
static bool run_two_processes(int (*child)(int socket))
{
    uint8_t address[MAX_ADDRESS];
    uint64_t end = oc_clock_ns() + PATIENCE;
    int ends[2], status;
    size_t length;
    pid_t pid;

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (0 == pid) {
        close(ends[0]);
        _exit(child(ends[1]));
    }
    close(ends[1]);
    length = (size_t) recv(ends[0], address, 1, MSG_PEEK);
    if (1 == length) {
        open_end(&right);
        exchange(ends[0], &right, address, &length);
        to_left = know_peer(&right, RIGHT, LEFT, address, length);
        assert_non_null(to_left);
        while (right.arrived < MANY && oc_clock_ns() < end) {
            (void) oc_peers_progress(right.peers);
        }
    }
    (void) send(ends[0], "", 1, MSG_NOSIGNAL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(ends[0]);
    if (WIFEXITED(status) && NO_NAMESPACE == WEXITSTATUS(status)) {
        return false;
    }
    assert_int_equal(status, 0);
    assert_int_equal(right.arrived, MANY);
    assert_int_equal(right.wrong, 0);
    oc_peers_close(right.peers);
    return true;
}

static int environment(void **state)
{
    (void) state;
    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
    return 0;
}

static void test_two_processes(void **state)
{
    (void) state;
    assert_true(run_two_processes(be_left));
    assert_in_range(right.shared, OC_SHELF_SHARE, MANY);
}

/* What was laid out before the sender knows that it is for nothing is sent, too. */
static void test_other_pid_namespace(void **state)
{
    (void) state;
    if (!run_two_processes(be_elsewhere)) {
        skip();
    }
    assert_int_equal(right.shared, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* first: UCX is not used yet in the process that forks */
        cmocka_unit_test_setup(test_two_processes, environment),
        cmocka_unit_test_setup(test_other_pid_namespace, environment),
        cmocka_unit_test_setup_teardown(test_data_is_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_not_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_slot_is_free, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lost_peers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_forged_notes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_notes_without_the_key, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
