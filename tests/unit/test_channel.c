/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of what the supervisor and a data process tell each other: also of what a data
 * process could say that somebody else has taken over.
 */
/* Test: quick 10 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/daemon/channel.h"

#define HEAD offsetof(oc_channel_message_t, bytes)
#define MOST 8

static int ends[2];
static oc_channel_message_t sent, got;

static int setup(void **state)
{
    (void) state;
    memset(&sent, 0, sizeof(sent));
    memset(&got, 0x5a, sizeof(got));
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int teardown(void **state)
{
    (void) state;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static int count_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 256; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

/* Any bytes, with descriptors of this process. */
static void send_raw(const void *bytes, size_t length, unsigned descriptors)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(MOST * sizeof(int))];
    } control = {.space = {0}};
    struct iovec io = {.iov_base = (void *) bytes, .iov_len = length};
    struct msghdr header = {.msg_iov = &io, .msg_iovlen = 1};
    int fds[MOST] = {0};

    if (descriptors > 0) {
        header.msg_control = &control;
        header.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(descriptors * sizeof(int));
        memcpy(CMSG_DATA(&control.header), fds, descriptors * sizeof(int));
    }
    assert_int_equal(sendmsg(ends[0], &header, 0), length);
}

static void test_message(void **state)
{
    int fd = 0;

    (void) state;
    sent = (oc_channel_message_t) {.type = OC_CHANNEL_ADOPT, .number = 7, .length = 5};
    memcpy(sent.bytes, "hello", 5);
    assert_true(oc_channel_send(ends[0], &sent, -1));
    assert_int_equal(oc_channel_receive(ends[1], &got, &fd), 1);
    assert_int_equal(fd, -1);
    assert_memory_equal(&got, &sent, HEAD + 5);
    assert_int_equal(oc_channel_receive(ends[1], &got, &fd), 0);
    sent.length = sizeof(sent.bytes);
    assert_true(oc_channel_send(ends[0], &sent, -1));
    assert_int_equal(oc_channel_receive(ends[1], &got, &fd), 1);
    assert_memory_equal(&got, &sent, sizeof(sent));
    close(ends[0]);
    ends[0] = -1;
    assert_int_equal(oc_channel_receive(ends[1], &got, &fd), -1);
}

static void test_descriptor(void **state)
{
    int before = count_descriptors(), fd = -1;

    (void) state;
    assert_true(oc_channel_send(ends[0], &sent, 0));
    assert_int_equal(oc_channel_receive(ends[1], &got, &fd), 1);
    assert_true(fd > 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    assert_int_equal(count_descriptors(), before);
}

/* One that expects none keeps none. */
static void test_unwanted(void **state)
{
    int before = count_descriptors();

    (void) state;
    for (unsigned i = 1; i <= MOST; i++) {
        send_raw(&sent, HEAD, i);
        assert_int_equal(oc_channel_receive(ends[1], &got, NULL), 1);
    }
    assert_int_equal(count_descriptors(), before);
}

static void test_several(void **state)
{
    int before = count_descriptors(), fd;

    (void) state;
    for (unsigned i = 1; i <= MOST; i++) {
        send_raw(&sent, HEAD, i);
        fd = -1;
        assert_int_equal(oc_channel_receive(ends[1], &got, &fd), 1);
        assert_true(fd > 0);
        close(fd);
    }
    assert_int_equal(count_descriptors(), before);
}

static void refuse(uint32_t told, size_t length)
{
    int before = count_descriptors(), fd = 0;
    static uint8_t bytes[sizeof(oc_channel_message_t) + 100];

    sent.length = told;
    memcpy(bytes, &sent, sizeof(sent));
    send_raw(bytes, length, 1);
    assert_int_equal(oc_channel_receive(ends[1], &got, &fd), -1);
    assert_int_equal(fd, -1);
    assert_int_equal(count_descriptors(), before);
}

/* The length is that of what has come, whatever the message says. */
static void test_length(void **state)
{
    (void) state;
    refuse(0, 1);
    refuse(0, HEAD - 1);
    refuse(0, HEAD + 1);
    refuse(1, HEAD);
    refuse(UINT32_MAX, HEAD);
    refuse(UINT32_MAX - HEAD + 1, HEAD);
    refuse(sizeof(sent.bytes), sizeof(sent) - 1);
    refuse(sizeof(sent.bytes) + 100, sizeof(sent) + 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_message, setup, teardown),
        cmocka_unit_test_setup_teardown(test_descriptor, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unwanted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_several, setup, teardown),
        cmocka_unit_test_setup_teardown(test_length, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
