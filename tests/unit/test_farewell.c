/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of sockets that are done with: all that was said last arrives, whatever the peer says meanwhile. */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "control/farewell.h"

static oc_farewell_t *farewells;
static int own, peer;
static char bytes[65536];

/* A connection of TCP, whose peer has no room for much. */
static void open_connection(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0), small = 4096;

    assert_true(listener >= 0);
    assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
    assert_int_equal(bind(listener, (struct sockaddr *) &address, length), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *) &address, &length), 0);
    own = oc_fd_make(socket(AF_INET, SOCK_STREAM, 0));
    assert_int_equal(connect(own, (struct sockaddr *) &address, length), 0);
    peer = accept(listener, NULL, NULL);
    assert_true(peer >= 0);
    close(listener);
}

/* As much as goes without somebody who reads; how much that is. */
static size_t say_much(void)
{
    size_t said = 0;
    ssize_t sent;

    while ((sent = send(own, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL)) > 0) {
        said += (size_t) sent;
    }
    return said;
}

static void peer_says_something(void)
{
    assert_int_equal(send(peer, bytes, 100, MSG_NOSIGNAL), 100);
    usleep(20000);
}

/* Up to the end, which is in order; how much that is. */
static size_t peer_reads_all(void)
{
    size_t read = 0;
    ssize_t got;

    for (int patience = 5000; patience > 0; patience--) {
        struct pollfd wait = {.fd = peer, .events = POLLIN};

        (void) poll(&wait, 1, 2);
        oc_farewells_look(&farewells);
        got = recv(peer, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (0 == got) {
            return read;
        }
        read += got > 0 ? (size_t) got : 0;
    }
    return SIZE_MAX;
}

static void test_words_arrive(void **state)
{
    size_t said;

    (void) state;
    open_connection();
    said = say_much();
    assert_true(said > sizeof(bytes));
    oc_farewell_begin(&farewells, own);
    for (int i = 0; i < 3; i++) {
        peer_says_something();
        oc_farewells_look(&farewells);
        assert_non_null(farewells);
    }
    assert_int_equal(peer_reads_all(), said);
    oc_farewells_look(&farewells);
    assert_null(farewells);
    close(peer);
}

/* The peer need not close its end, nor read: its system has got all. */
static void test_closes_when_all_arrived(void **state)
{
    (void) state;
    open_connection();
    assert_int_equal(send(own, bytes, 10, MSG_NOSIGNAL), 10);
    oc_farewell_begin(&farewells, own);
    for (int patience = 500; NULL != farewells && patience > 0; patience--) {
        usleep(2000);
        oc_farewells_look(&farewells);
    }
    assert_null(farewells);
    peer_says_something();
    assert_int_equal(recv(peer, bytes, sizeof(bytes), MSG_DONTWAIT), 10);
    close(peer);
}

static void test_closes_when_peer_is_gone(void **state)
{
    (void) state;
    open_connection();
    (void) say_much();
    oc_farewell_begin(&farewells, own);
    close(peer);
    for (int patience = 500; NULL != farewells && patience > 0; patience--) {
        usleep(2000);
        oc_farewells_look(&farewells);
    }
    assert_null(farewells);
}

static void test_ends_all(void **state)
{
    (void) state;
    for (int i = 0; i < 3; i++) {
        open_connection();
        (void) say_much();
        oc_farewell_begin(&farewells, own);
        close(peer);
    }
    oc_farewells_end(&farewells);
    assert_null(farewells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_arrive),
        cmocka_unit_test(test_closes_when_all_arrived),
        cmocka_unit_test(test_closes_when_peer_is_gone),
        cmocka_unit_test(test_ends_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
