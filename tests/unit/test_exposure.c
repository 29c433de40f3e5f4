/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of the test whether multicast reaches servers: who is asked, what follows
 * from the answers, and that nobody is waited for. Multicast and the clock are made up.
 */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "base/log.h"
#include "client/servers/exposure.h"
#include "net/socket.h"

#define SERVERS 6
#define TOKEN   0x0123456789abcdefull
#define SECOND  OC_SECOND

/* Until servers that could not tell are asked again. */
#define AGAIN (10 * SECOND)

/* ---- made up ---- */

static bool floods, over, shown;
static unsigned shows;
static const oc_cast_group_t *shown_by;

/* A group of fewer hosts. */
static oc_group_t row;

uint32_t __wrap_oc_multicast_flood_hosts(const oc_multicast_t *multicast, const oc_cast_group_t *cast);
bool __wrap_oc_multicast_show_begin(oc_multicast_t *multicast, const oc_cast_group_t *cast,
                                    oc_flood_call_t *call);
bool __wrap_oc_multicast_show_is_over(oc_multicast_t *multicast, uint64_t now);
void __wrap_oc_multicast_show_end(oc_multicast_t *multicast);

uint32_t __wrap_oc_multicast_flood_hosts(const oc_multicast_t *multicast, const oc_cast_group_t *cast)
{
    (void) multicast;
    return NULL == cast || !floods ? 0 : (const void *) cast == &row ? 2 : 4;
}

bool __wrap_oc_multicast_show_begin(oc_multicast_t *multicast, const oc_cast_group_t *cast,
                                    oc_flood_call_t *call)
{
    (void) multicast;
    shown_by = cast;
    assert_false(shown);
    *call = (oc_flood_call_t) {.token = TOKEN + shows++, .probes.s_addr = htonl(0xefc00001u),
                               .marks.s_addr = htonl(0xefc00002u), .port = 8919, .key = {1, 2}};
    shown = true;
    over = false;
    return true;
}

bool __wrap_oc_multicast_show_is_over(oc_multicast_t *multicast, uint64_t now)
{
    (void) multicast;
    (void) now;
    assert_true(shown);
    return over;
}

void __wrap_oc_multicast_show_end(oc_multicast_t *multicast)
{
    (void) multicast;
    shown = false;
}

static oc_client_t client;
static oc_counters_t counters;
static oc_group_t group;
static oc_connection_t connections[SERVERS];
static oc_stream_t servers[SERVERS];
static unsigned num_servers, num_lines;
static char last_line[1024];

static void count_line(oc_log_level_t level, const char *line)
{
    if (OC_LOG_WARN == level) {
        num_lines++;
        snprintf(last_line, sizeof(last_line), "%s", line);
    }
}

static const oc_uplink_owner_t owner = {.title = "server"};

/* The two ends of a TCP connection from that address of this host to 127.0.0.2. */
static void connect_from(uint32_t address, int ends[2])
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002u)};
    socklen_t length = sizeof(own);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};

    ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *) &own, length), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *) &own, &length), 0);
    assert_int_equal(bind(ends[0], (struct sockaddr *) &from, sizeof(from)), 0);
    assert_int_equal(connect(ends[0], (struct sockaddr *) &own, sizeof(own)), 0);
    ends[1] = accept(listener, NULL, NULL);
    assert_true(ends[1] >= 0);
    close(listener);
    oc_socket_prepare(ends[0]);
    oc_socket_prepare(ends[1]);
}

static oc_connection_t *add_server(bool remote, bool of_rank)
{
    oc_connection_t *connection = &connections[num_servers];
    oc_rhythm_t rhythm = {.interval = SECOND, .patience = SECOND, .step = SECOND};
    int ends[2];

    connect_from(remote ? 0x7f000001u : 0x7f000002u, ends);
    *connection = (oc_connection_t) {.client = &client, .users = 1, .of_rank = of_rank};
    snprintf(connection->name, sizeof(connection->name), "s%u:8918", num_servers + 1);
    oc_uplink_init(&connection->uplink, &owner, connection, connection->name, &rhythm);
    oc_stream_init(&connection->uplink.stream, ends[0], OC_MAX_BODY);
    connection->uplink.state = OC_UPLINK_READY;
    oc_stream_init(&servers[num_servers++], ends[1], OC_MAX_BODY);
    DL_APPEND(client.connections, connection);
    return connection;
}

static int set_up(void **state)
{
    (void) state;
    memset(&client, 0, sizeof(client));
    memset(&counters, 0, sizeof(counters));
    client.config.counters = &counters;
    client.now = 100 * SECOND;
    group = (oc_group_t) {.client = &client, .state = OC_GROUP_LIVE,
                          .cast = (oc_cast_group_t *) &group};
    DL_APPEND(client.groups, &group);
    floods = true;
    shown = false;
    num_servers = num_lines = shows = 0;
    oc_log_set_sink(count_line);
    return 0;
}

static int tear_down(void **state)
{
    (void) state;
    oc_exposure_drop(&client);
    assert_false(shown);
    assert_int_equal(client.pending, 0);
    for (unsigned i = 0; i < num_servers; i++) {
        oc_stream_close(&connections[i].uplink.stream);
        oc_stream_close(&servers[i]);
    }
    return 0;
}

/* The next message that a server gets; 0: there is none. */
static uint16_t hear(unsigned server, oc_control_t *message)
{
    static uint8_t kept[OC_FRAME_SIZE + 256];
    size_t used;

    (void) oc_stream_read(&servers[server]);
    if (OC_OK != oc_stream_next(&servers[server], message, &used)) {
        return 0;
    }
    assert_in_range(used, 1, sizeof(kept));
    memcpy(kept, servers[server].in, used);
    oc_stream_drop(&servers[server], used);
    assert_true(oc_control_decode(kept, used, OC_MAX_BODY, message) > 0);
    return message->type;
}

static void expect(unsigned server, uint16_t type)
{
    oc_control_t message;

    assert_int_equal(hear(server, &message), type);
    if (OC_CONTROL_WATCH == type) {
        assert_true(TOKEN + shows - 1 == message.lookout.token && 8919 == message.lookout.port);
        assert_int_equal(ntohl(message.lookout.probes.s_addr), 0xefc00001u);
        assert_int_equal(ntohl(message.lookout.marks.s_addr), 0xefc00002u);
        assert_int_equal(message.lookout.key[1], 2);
    } else if (OC_CONTROL_LOOK == type) {
        assert_true(TOKEN + shows - 1 == message.look);
    }
}

static void say(unsigned server, oc_view_t view)
{
    static const uint8_t text[] = "eth0";
    oc_sight_t sight = {.token = TOKEN + shows - 1, .view = (uint8_t) view,
                        .text = {.data = text, .length = 4}};

    oc_exposure_sight(&connections[server], &sight);
}

static void pass(uint64_t time)
{
    client.now += time;
    oc_exposure_progress(&client);
}

static void begin_after(uint64_t wait)
{
    oc_exposure_consider(&group);
    pass(wait - 1);
    assert_false(shown);
    pass(1);
    assert_true(oc_exposure_is_tested(&client));
    assert_int_equal(client.pending, 1);
}

static void begin(void)
{
    begin_after(SECOND);
}

static void end(void)
{
    assert_false(oc_exposure_is_tested(&client));
    assert_false(shown);
    assert_int_equal(client.pending, 0);
}

/* ---- tests ---- */

static void test_flooded(void **state)
{
    (void) state;
    (void) add_server(true, false);
    (void) add_server(true, false);
    (void) add_server(true, false);
    oc_exposure_consider(&group);
    pass(SECOND / 2);
    assert_false(shown);
    expect(0, 0);
    pass(SECOND / 2);
    for (unsigned i = 0; i < 3; i++) {
        expect(i, OC_CONTROL_WATCH);
        say(i, OC_VIEW_OPEN);
    }
    pass(0);
    pass(SECOND / 2);
    expect(0, 0);
    over = true;
    pass(0);
    assert_false(shown);
    for (unsigned i = 0; i < 3; i++) {
        expect(i, OC_CONTROL_LOOK);
    }
    say(0, OC_VIEW_FLOODED);
    say(1, OC_VIEW_GUARDED);
    pass(SECOND / 2);
    assert_int_equal(num_lines, 0);
    say(2, OC_VIEW_FLOODED);
    pass(0);
    end();
    assert_int_equal(num_lines, 1);
    assert_non_null(strstr(last_line, "s1:8918 sees it on eth0, s3:8918 on eth0;"));
    assert_int_equal(counters.servers_flooded, 2);
}

static void play_after(uint64_t wait, unsigned count, oc_view_t view)
{
    begin_after(wait);
    for (unsigned i = 0; i < count; i++) {
        say(i, OC_VIEW_OPEN);
    }
    pass(0);
    over = true;
    pass(0);
    for (unsigned i = 0; i < count; i++) {
        say(i, view);
    }
    pass(0);
    end();
}

static void play(unsigned count, oc_view_t view)
{
    play_after(SECOND, count, view);
}

/* A server that has told it is not asked again; one that comes later is no reason for another line. */
static void test_later(void **state)
{
    (void) state;
    (void) add_server(true, false);
    play(1, OC_VIEW_FLOODED);
    oc_exposure_consider(&group);
    assert_null(client.exposure);
    expect(0, OC_CONTROL_WATCH);
    expect(0, OC_CONTROL_LOOK);
    (void) add_server(true, false);
    begin();
    expect(0, 0);
    expect(1, OC_CONTROL_WATCH);
    say(1, OC_VIEW_OPEN);
    pass(0);
    over = true;
    pass(0);
    say(1, OC_VIEW_FLOODED);
    pass(0);
    end();
    assert_int_equal(num_lines, 1);
    assert_int_equal(counters.servers_flooded, 2);
}

/* A server that sees nothing of what goes to two hosts may see what goes to four; and nobody knows of a group that is gone. */
static void test_wider(void **state)
{
    (void) state;
    row = (oc_group_t) {.client = &client, .state = OC_GROUP_LIVE, .cast = (oc_cast_group_t *) &row};
    group.state = OC_GROUP_SETTING_UP;
    DL_APPEND(client.groups, &row);
    (void) add_server(true, false);
    oc_exposure_consider(&row);
    pass(SECOND);
    assert_ptr_equal(shown_by, row.cast);
    say(0, OC_VIEW_OPEN);
    pass(0);
    over = true;
    pass(0);
    say(0, OC_VIEW_GUARDED);
    pass(0);
    end();
    oc_exposure_consider(&row);
    assert_null(client.exposure);
    group.state = OC_GROUP_LIVE;
    play(1, OC_VIEW_GUARDED);
    assert_ptr_equal(shown_by, group.cast);
    oc_exposure_consider(&group);
    assert_null(client.exposure);
    (void) add_server(true, false);
    begin();
    say(1, OC_VIEW_OPEN);
    pass(0);
    over = true;
    pass(0);
    group.state = OC_GROUP_FAILED;
    say(1, OC_VIEW_GUARDED);
    pass(0);
    end();
    assert_int_equal(connections[1].exposed, OC_EXPOSURE_NEW);
    assert_int_equal(num_lines, 0);
}

/* Nor is it asked by another connection. */
static void test_reconnected(void **state)
{
    oc_connection_t *again;

    (void) state;
    (void) add_server(true, false);
    play(1, OC_VIEW_FLOODED);
    DL_DELETE(client.connections, &connections[0]);
    again = add_server(true, false);
    memcpy(again->name, connections[0].name, sizeof(again->name));
    oc_exposure_consider(&group);
    assert_null(client.exposure);
    assert_int_equal(again->exposed, OC_EXPOSURE_OVER);
    assert_int_equal(counters.servers_flooded, 1);
}

static void test_nothing_to_say(void **state)
{
    (void) state;
    (void) add_server(true, false);
    play(1, OC_VIEW_GUARDED);
    assert_null(client.exposure);
    (void) add_server(true, false);
    play(2, OC_VIEW_BLIND);
    (void) add_server(true, false);
    play_after(AGAIN, 3, OC_VIEW_NONE);
    assert_int_equal(num_lines, 0);
    assert_int_equal(counters.servers_flooded, 0);
}

/* A server that could not tell is asked again, two times. */
static void test_tries(void **state)
{
    (void) state;
    (void) add_server(true, false);
    (void) add_server(true, false);
    play(2, OC_VIEW_BLIND);
    play_after(AGAIN, 2, OC_VIEW_NONE);
    begin_after(AGAIN);
    say(0, OC_VIEW_NONE);
    say(1, OC_VIEW_OPEN);
    pass(0);
    over = true;
    pass(0);
    say(1, OC_VIEW_FLOODED);
    pass(0);
    end();
    assert_int_equal(num_lines, 1);
    assert_int_equal(counters.servers_flooded, 1);
    assert_int_equal(shows, 3);
    assert_null(client.exposure);
    oc_exposure_consider(&group);
    assert_null(client.exposure);
}

static void test_many(void **state)
{
    (void) state;
    for (unsigned i = 0; i < SERVERS; i++) {
        (void) add_server(true, false);
        memset(connections[i].name, 'a' + (int) i, sizeof(connections[i].name) - 1);
    }
    play(SERVERS, OC_VIEW_FLOODED);
    assert_int_equal(num_lines, 1);
    assert_non_null(strstr(last_line, "dddd on eth0 and 2 others; IGMP snooping"));
}

/* Those that have no part in it, and processes that have none. */
static void test_nobody(void **state)
{
    oc_connection_t *connection;

    (void) state;
    (void) add_server(false, false);
    (void) add_server(true, true);
    add_server(true, false)->users = 0;
    add_server(true, false)->uplink.state = OC_UPLINK_GREETING;
    oc_exposure_consider(&group);
    assert_null(client.exposure);
    client.exposes = 0;
    connection = add_server(true, false);
    client.config.process = 1;
    oc_exposure_consider(&group);
    assert_null(client.exposure);
    client.config.process = 0;
    group.state = OC_GROUP_SETTING_UP;
    oc_exposure_consider(&group);
    assert_null(client.exposure);
    group.state = OC_GROUP_LIVE;
    floods = false;
    oc_exposure_consider(&group);
    assert_null(client.exposure);
    floods = true;
    /* of a communicator that orders ranks in another way, it may have any number */
    group.params.rank = 1;
    begin();
    assert_int_equal(connection->exposed, OC_EXPOSURE_ASKED);
    for (unsigned i = 0; i < 4; i++) {
        expect(i, 0);
        assert_int_equal(connections[i].exposed, i < 2 ? OC_EXPOSURE_OVER : OC_EXPOSURE_NEW);
    }
}

/* Set-ups of other groups go first, and what is gone when they are done is not tested. */
static void test_rest(void **state)
{
    (void) state;
    (void) add_server(true, false);
    oc_exposure_consider(&group);
    client.cast_setups = 1;
    pass(10 * SECOND);
    assert_false(shown);
    client.cast_setups = 0;
    oc_exposure_consider(&group);
    pass(SECOND - 1);
    assert_false(shown);
    group.state = OC_GROUP_FAILED;
    pass(1);
    assert_false(shown);
    assert_null(client.exposure);
}

/* A program that makes communicators all the time. */
static void test_put_off(void **state)
{
    (void) state;
    (void) add_server(true, false);
    for (unsigned i = 0; i < 22; i++) {
        assert_false(shown);
        oc_exposure_consider(&group);
        pass(SECOND / 2);
    }
    assert_true(shown);
}

/* Servers that never answer are waited for in no step. */
static void test_silent(void **state)
{
    (void) state;
    (void) add_server(true, false);
    begin();
    pass(SECOND - 1);
    assert_true(shown);
    pass(1);
    end();
    /* it may watch all the same */
    expect(0, OC_CONTROL_WATCH);
    expect(0, OC_CONTROL_LOOK);
    (void) add_server(true, false);
    (void) add_server(true, false);
    begin_after(AGAIN);
    say(1, OC_VIEW_OPEN);
    pass(SECOND);
    assert_true(shown);
    /* too late, and it is not looked at any more */
    say(2, OC_VIEW_OPEN);
    over = true;
    pass(0);
    expect(1, OC_CONTROL_WATCH);
    expect(1, OC_CONTROL_LOOK);
    expect(2, OC_CONTROL_WATCH);
    expect(2, OC_CONTROL_LOOK);
    pass(SECOND - 1);
    assert_true(oc_exposure_is_tested(&client));
    pass(1);
    end();
    assert_int_equal(num_lines, 0);
}

/* A process that computes between two slots, for long. */
static void test_slow_show(void **state)
{
    (void) state;
    (void) add_server(true, false);
    begin();
    say(0, OC_VIEW_OPEN);
    pass(0);
    pass(8 * SECOND - 1);
    assert_true(shown);
    expect(0, OC_CONTROL_WATCH);
    expect(0, 0);
    pass(1);
    end();
    /* it need not watch any more */
    expect(0, OC_CONTROL_LOOK);
}

/* All is sent in the last moment: servers are still there to be asked. */
static void test_last_moment(void **state)
{
    (void) state;
    (void) add_server(true, false);
    begin();
    say(0, OC_VIEW_OPEN);
    pass(0);
    pass(8 * SECOND - 1);
    over = true;
    pass(1);
    expect(0, OC_CONTROL_WATCH);
    expect(0, OC_CONTROL_LOOK);
    say(0, OC_VIEW_FLOODED);
    pass(0);
    end();
    assert_int_equal(counters.servers_flooded, 1);
}

static void test_lost(void **state)
{
    (void) state;
    (void) add_server(true, false);
    (void) add_server(true, false);
    begin();
    connections[0].uplink.state = OC_UPLINK_DEAD;
    say(1, OC_VIEW_OPEN);
    pass(0);
    over = true;
    pass(0);
    expect(1, OC_CONTROL_WATCH);
    expect(1, OC_CONTROL_LOOK);
    connections[1].uplink.state = OC_UPLINK_DEAD;
    pass(0);
    end();
    /* all connections are gone at once */
    (void) add_server(true, false);
    begin();
    client.connections = NULL;
    pass(0);
    end();
}

/* Of another test, or of none; and a flood that nobody has asked for. */
static void test_lies(void **state)
{
    oc_sight_t sight = {.token = TOKEN + 1, .view = OC_VIEW_OPEN};

    (void) state;
    (void) add_server(true, false);
    say(0, OC_VIEW_FLOODED);
    begin();
    oc_exposure_sight(&connections[0], &sight);
    assert_int_equal(connections[0].exposed, OC_EXPOSURE_ASKED);
    say(0, OC_VIEW_FLOODED);
    assert_int_equal(connections[0].exposed, OC_EXPOSURE_NEW);
    say(0, OC_VIEW_OPEN);
    say(0, OC_VIEW_FLOODED);
    pass(0);
    end();
    assert_int_equal(num_lines, 0);
    assert_int_equal(counters.servers_flooded, 0);
}

/* In the middle of each stage, as a process that ends does. */
static void test_drop(void **state)
{
    (void) state;
    (void) add_server(true, false);
    oc_exposure_consider(&group);
    oc_exposure_drop(&client);
    oc_exposure_drop(&client);
    begin();
    oc_exposure_drop(&client);
    end();
    (void) add_server(true, false);
    begin();
    say(1, OC_VIEW_OPEN);
    pass(0);
    oc_exposure_drop(&client);
    end();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_flooded), TEST(test_later), TEST(test_wider), TEST(test_reconnected), TEST(test_nothing_to_say),
        TEST(test_tries), TEST(test_many), TEST(test_nobody), TEST(test_rest), TEST(test_put_off), TEST(test_silent),
        TEST(test_slow_show), TEST(test_last_moment), TEST(test_lost), TEST(test_lies), TEST(test_drop),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
