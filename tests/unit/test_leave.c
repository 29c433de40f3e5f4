/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of what a rank says to servers when it leaves a communicator, in the middle of a recovery and otherwise. */
/* Test: quick 20 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/socket.h>

#include "client/group/served.h"
#include "client/recovery/renewal.h"
#include "client/servers/connection.h"

#define RANK  3u
#define GROUP UINT64_C(0x1234500000000)

static const oc_uplink_owner_t owner = {.title = "server"};
static const oc_rhythm_t rhythm = {0};
static oc_counters_t counters;
static oc_client_t client;
static oc_connection_t connection;
static oc_group_servers_t servers;
static oc_group_t group;
static oc_stream_t server_end;

/* A member that has said JOIN, or not, on a connection in that state. */
static void join(bool asked, oc_uplink_state_t uplink_state)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    oc_stream_init(&server_end, ends[1], OC_MAX_BODY);
    connection = (oc_connection_t) {.users = 2};
    oc_uplink_init(&connection.uplink, &owner, NULL, "one", &rhythm);
    oc_stream_init(&connection.uplink.stream, ends[0], OC_MAX_BODY);
    connection.uplink.state = uplink_state;
    client = (oc_client_t) {.config.counters = &counters};
    servers = (oc_group_servers_t) {.id = GROUP, .num_links = 1, .links = calloc(1, sizeof(*servers.links)),
                                    .teams = {.count = 1, .own = 1, .step = 1, .num_ranks = 4, .rank = RANK}};
    servers.links[0] = (oc_link_t) {.connection = &connection, .teams = calloc(1, sizeof(*servers.links[0].teams))};
    servers.links[0].teams[0].asked = asked;
    group = (oc_group_t) {.client = &client, .servers = &servers};
}

/* As after the loss of a server. */
static void begin_renewal(void)
{
    servers.renewal = calloc(1, sizeof(*servers.renewal));
    client.renewals = 1;
    client.pending = 1;
}

/* The only message of the rank, or none. */
static bool hear_leave(oc_leave_t *leave)
{
    oc_control_t message;
    size_t used;
    bool heard;

    (void) oc_stream_read(&server_end);
    heard = OC_OK == oc_stream_next(&server_end, &message, &used);
    if (heard) {
        assert_int_equal(message.type, OC_CONTROL_LEAVE);
        *leave = message.leave;
        oc_stream_drop(&server_end, used);
        assert_int_not_equal(oc_stream_next(&server_end, &message, &used), OC_OK);
    }
    return heard;
}

static void leave_group(void)
{
    oc_service_servers.withdraw(&group);
    assert_null(servers.links);
    assert_null(servers.renewal);
    assert_int_equal(connection.users, 1);
}

static void close_ends(void)
{
    oc_uplink_free(&connection.uplink, NULL);
    oc_stream_close(&server_end);
}

static void test_settled(void **state)
{
    oc_leave_t leave;

    (void) state;
    join(true, OC_UPLINK_READY);
    leave_group();
    assert_true(hear_leave(&leave));
    assert_true(GROUP == leave.group);
    assert_int_equal(leave.rank, RANK);
    assert_false(leave.unsettled);
    close_ends();
}

/* The others would wait for it for ever in the settlement that it has left. */
static void test_unsettled(void **state)
{
    oc_leave_t leave;

    (void) state;
    join(true, OC_UPLINK_READY);
    begin_renewal();
    leave_group();
    assert_true(hear_leave(&leave));
    assert_true(GROUP == leave.group);
    assert_true(leave.unsettled);
    assert_int_equal(client.renewals, 0);
    assert_int_equal(client.pending, 0);
    close_ends();
}

/* Before WELCOME, a server takes anything but HELLO and BYE for the word of a stranger; and it knows nobody who has not joined. */
static void test_nothing_to_say(void **state)
{
    oc_leave_t leave;

    (void) state;
    join(true, OC_UPLINK_GREETING);
    begin_renewal();
    leave_group();
    assert_false(hear_leave(&leave));
    close_ends();
    join(false, OC_UPLINK_READY);
    begin_renewal();
    leave_group();
    assert_false(hear_leave(&leave));
    close_ends();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settled),
        cmocka_unit_test(test_unsettled),
        cmocka_unit_test(test_nothing_to_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
