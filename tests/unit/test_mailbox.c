/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the mailbox: order, threads, and an event that is never lost. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/aggregator/mailbox.h"

#define NUM_COMMANDS 20000

static oc_mailbox_t box;

static bool is_readable(int timeout_ms)
{
    struct pollfd event = {.fd = box.event_fd, .events = POLLIN};

    return 1 == poll(&event, 1, timeout_ms);
}

static void post(uint32_t token)
{
    oc_command_t *command = oc_command_new(OC_COMMAND_PING, &token, sizeof(token));

    command->token = token;
    oc_mailbox_post(&box, command);
}

static void test_command(void **state)
{
    oc_command_t *command = oc_command_new(OC_COMMAND_ADOPT, "hello", 6);

    (void) state;
    assert_int_equal(command->type, OC_COMMAND_ADOPT);
    assert_int_equal(command->fd, -1);
    assert_int_equal(command->length, 6);
    assert_string_equal((char *) command->data, "hello");
    assert_int_equal(command->client, 0);
    assert_int_equal(command->status, OC_OK);
    assert_int_equal(command->text[0], '\0');
    free(command);
}

static void test_order(void **state)
{
    (void) state;
    for (uint32_t i = 0; i < 100; i++) {
        post(i);
    }
    for (uint32_t i = 0; i < 100; i++) {
        oc_command_t *command = oc_mailbox_take(&box);

        assert_non_null(command);
        assert_int_equal(command->token, i);
        assert_int_equal(command->length, sizeof(i));
        assert_memory_equal(command->data, &i, sizeof(i));
        free(command);
    }
    assert_null(oc_mailbox_take(&box));
}

/* Readable from the first post until somebody found nothing. */
static void test_event(void **state)
{
    (void) state;
    assert_false(is_readable(0));
    assert_null(oc_mailbox_take(&box));
    assert_false(is_readable(0));
    for (int round = 0; round < 100; round++) {
        post(1);
        post(2);
        assert_true(is_readable(0));
        free(oc_mailbox_take(&box));
        assert_true(is_readable(0));
        free(oc_mailbox_take(&box));
        assert_null(oc_mailbox_take(&box));
        assert_false(is_readable(0));
    }
}

static void *produce(void *arg)
{
    uint32_t random = 1;

    (void) arg;
    for (uint32_t i = 0; i < NUM_COMMANDS; i++) {
        random = random * 1664525u + 1013904223u;
        if (0 == random >> 26) {
            usleep(50);
        }
        post(i);
    }
    return NULL;
}

/* The taker only looks when the event says so: a lost one would leave it waiting. */
static void test_two_threads(void **state)
{
    pthread_t thread;
    uint32_t next = 0;
    oc_command_t *command;

    (void) state;
    assert_int_equal(pthread_create(&thread, NULL, produce, NULL), 0);
    while (next < NUM_COMMANDS) {
        assert_true(is_readable(5000));
        while (NULL != (command = oc_mailbox_take(&box))) {
            assert_int_equal(command->token, next++);
            free(command);
        }
    }
    pthread_join(thread, NULL);
    assert_null(oc_mailbox_take(&box));
    assert_false(is_readable(0));
}

/* Nobody took them: memory goes, and so does the descriptor that one of them carries. */
static void test_close_with_commands(void **state)
{
    oc_command_t *command = oc_command_new(OC_COMMAND_ADOPT, NULL, 0);
    int fds[2];

    (void) state;
    assert_int_equal(pipe(fds), 0);
    command->fd = fds[0];
    oc_mailbox_post(&box, command);
    post(1);
    oc_mailbox_close(&box);
    assert_int_equal(box.event_fd, -1);
    assert_int_equal(fcntl(fds[0], F_GETFD), -1);
    close(fds[1]);
    oc_mailbox_close(&box);
}

static int setup(void **state)
{
    (void) state;
    return OC_OK == oc_mailbox_open(&box) ? 0 : -1;
}

static int teardown(void **state)
{
    (void) state;
    oc_mailbox_close(&box);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command),
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_event, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_close_with_commands, setup, teardown),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
