/* SPDX-License-Identifier: BSD-3-Clause */
/* An aggregator that a test serves. */
#include "tests/unit/aggregator_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "server/aggregator/aggregator_check.h"
#include "server/aggregator/aggregator_state.h"
#include "server/aggregator/commands.h"

#define CLIENT 1u

static const oc_secret_t secret = {.key = {1, 2, 3}, .leaf = 1};

static void on_failed(void *arg)
{
    (void) arg;
}

static void tell(aggregator_fixture_t *fixture, oc_command_t *command)
{
    oc_aggregator_post(fixture->aggregator, command);
    oc_commands_carry_out(fixture->aggregator);
}

static oc_command_t *make(oc_command_type_t type, const void *data, size_t length)
{
    oc_command_t *command = oc_command_new(type, data, length);

    assert_non_null(command);
    command->client = CLIENT;
    return command;
}

void aggregator_open(aggregator_fixture_t *fixture, size_t memory_limit)
{
    oc_aggregator_config_t config = {.memory_limit = memory_limit, .control = &fixture->control};
    const void *address;
    char error[256];
    size_t length;

    *fixture = (aggregator_fixture_t) {0};
    assert_int_equal(oc_mailbox_open(&fixture->control), OC_OK);
    assert_int_equal(oc_aggregator_new(&config, &fixture->aggregator, error, sizeof(error)), OC_OK);
    assert_int_equal(oc_worker_open(NULL, &fixture->clients, error, sizeof(error)), OC_OK);
    address = oc_aggregator_address(fixture->aggregator, &length);
    assert_int_equal(oc_endpoint_open(fixture->clients, address, on_failed, NULL,
                                      &fixture->to_aggregator), OC_OK);
    tell(fixture, make(OC_COMMAND_KEY, &secret, sizeof(secret)));
    address = oc_worker_address(fixture->clients, &length);
    tell(fixture, make(OC_COMMAND_CLIENT_ADD, address, length));
}

void aggregator_connect_above(aggregator_fixture_t *fixture)
{
    size_t length;
    const void *address = oc_worker_address(fixture->clients, &length);

    tell(fixture, make(OC_COMMAND_PARENT_ADD, address, length));
    assert_non_null(fixture->aggregator->parent);
}

oc_server_group_t *aggregator_join(aggregator_fixture_t *fixture,
                                   const oc_server_member_t *member)
{
    oc_server_group_t *group;

    for (uint32_t rank = 0; rank < member->num_ranks; rank++) {
        oc_command_t *command = make(OC_COMMAND_MEMBER_ADD, NULL, 0);

        command->member = *member;
        command->member.rank = rank;
        command->member.reply_handle = member->reply_handle + rank;
        tell(fixture, command);
    }
    HASH_FIND(hh, fixture->aggregator->groups, &member->handle, sizeof(uint32_t), group);
    assert_non_null(group);
    return group;
}

void aggregator_drop(aggregator_fixture_t *fixture, const oc_server_group_t *group)
{
    oc_command_t *command = make(OC_COMMAND_GROUP_DROP, NULL, 0);

    command->handle = group->handle;
    tell(fixture, command);
}

void aggregator_settle(aggregator_fixture_t *fixture)
{
    uint64_t end = oc_clock_ns() + 5 * OC_SECOND;

    while (oc_worker_pending(fixture->aggregator->worker) > 0 && oc_clock_ns() < end) {
        (void) oc_worker_progress(fixture->aggregator->worker);
        (void) oc_worker_progress(fixture->clients);
    }
    assert_int_equal(oc_worker_pending(fixture->aggregator->worker), 0);
}

void aggregator_expect(aggregator_fixture_t *fixture, oc_command_type_t type, const char *text)
{
    oc_command_t *command = oc_mailbox_take(&fixture->control);

    assert_non_null(command);
    assert_int_equal(command->type, type);
    if (NULL == strstr(command->text, text)) {
        fail_msg("\"%s\" is not in \"%s\"", text, command->text);
    }
    free(command);
}

static void discard(oc_worker_t *worker)
{
    oc_unexpected_t message;

    while (oc_unexpected_take(worker, 0, 0, &message)) {
        oc_unexpected_drop(worker, &message);
    }
}

/* UCX would tell of each message that is left, and of each connection that is not made yet. */
static void discard_all(aggregator_fixture_t *fixture)
{
    for (unsigned i = 0; i < 1000; i++) {
        (void) oc_worker_progress(fixture->aggregator->worker);
        (void) oc_worker_progress(fixture->clients);
        discard(fixture->aggregator->worker);
        discard(fixture->clients);
    }
}

static void expect_right(const char *wrong)
{
    if (NULL != wrong) {
        fail_msg("%s", wrong);
    }
}

void aggregator_expect_sound(const aggregator_fixture_t *fixture)
{
    expect_right(oc_aggregator_check(fixture->aggregator));
}

void aggregator_close(aggregator_fixture_t *fixture)
{
    oc_server_group_t *group, *next;

    HASH_ITER (hh, fixture->aggregator->groups, group, next) {
        aggregator_drop(fixture, group);
    }
    discard_all(fixture);
    /* no failure that the test has not taken */
    assert_null(oc_mailbox_take(&fixture->control));
    /* what the client has not received ends with an error */
    tell(fixture, make(OC_COMMAND_CLIENT_DROP, NULL, 0));
    aggregator_settle(fixture);
    expect_right(oc_aggregator_check_empty(fixture->aggregator));
    assert_int_equal(fixture->aggregator->pool.used, 0);
    oc_worker_close(fixture->clients);
    oc_aggregator_free(fixture->aggregator);
    oc_mailbox_close(&fixture->control);
}
