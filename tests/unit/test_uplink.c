/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the client's end of a control connection, with servers made of sockets. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/uplink.h"
#include "net/socket.h"

#define PATIENCE (10 * OC_SECOND)

/* Times of PINGs are made up, so that nobody has to wait for them. */
static const oc_rhythm_t rhythm = {
    .interval = OC_SECOND, .patience = 5 * OC_SECOND, .step = 100 * OC_MILLISECOND};

static oc_uplink_t uplink;
static oc_stream_t server;
static oc_sockaddr_t addresses[2];
static int listeners[2];

/* What the owner has seen, and what it does. */
static struct {
    unsigned attached, detached, hellos, welcomes, joined, missed, ended;
    bool unwatchable, waits, returns, breaks;
    oc_status_t status;
    oc_uplink_state_t state;
} seen;

static bool attach(oc_uplink_t *link)
{
    assert_true(oc_uplink_fd(link) >= 0);
    assert_int_equal(oc_uplink_events(link), POLLOUT);
    seen.attached += !seen.unwatchable;
    return !seen.unwatchable;
}

static void detach(oc_uplink_t *link)
{
    assert_true(oc_uplink_fd(link) >= 0);
    seen.detached++;
}

static void hello(oc_uplink_t *link, oc_hello_t *message)
{
    assert_ptr_equal(link, &uplink);
    assert_true(oc_uplink_fd(link) >= 0);
    seen.hellos++;
    message->process = 7;
    message->address = (oc_bytes_t) {.data = (const uint8_t *) "address", .length = 7};
}

static void welcome(oc_uplink_t *link, const oc_welcome_t *message)
{
    assert_int_equal(message->num_aggregators, 1);
    seen.welcomes++;
    oc_uplink_accept(link);
}

static void say_why_and_reset(void);

static bool message(oc_uplink_t *link, const oc_control_t *message)
{
    (void) link;
    seen.joined += OC_CONTROL_JOINED == message->type;
    if (seen.breaks) {
        say_why_and_reset();
    }
    return OC_CONTROL_JOINED == message->type;
}

static bool waits(oc_uplink_t *link)
{
    (void) link;
    seen.missed++;
    return seen.waits;
}

static void ended(oc_uplink_t *link, oc_status_t status, oc_uplink_state_t state)
{
    assert_int_equal(link->state, OC_UPLINK_DEAD);
    assert_int_equal(oc_uplink_fd(link), -1);
    seen.ended++;
    seen.status = status;
    seen.state = state;
    if (seen.returns) {
        oc_uplink_close(link, NULL);
    }
}

static const oc_uplink_owner_t owner = {
    .attach = attach, .detach = detach, .hello = hello, .welcome = welcome, .message = message,
    .waits = waits, .ended = ended, .title = "server"};

/* ---- both ends ---- */

static int setup(void **state)
{
    char error[128];

    (void) state;
    memset(&seen, 0, sizeof(seen));
    server.fd = -1;
    for (int i = 0; i < 2; i++) {
        struct sockaddr_in *in = (struct sockaddr_in *) &addresses[i].address;

        memset(&addresses[i], 0, sizeof(addresses[i]));
        in->sin_family = AF_INET;
        in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        addresses[i].length = sizeof(*in);
        listeners[i] = oc_listen(&addresses[i], error, sizeof(error));
        assert_true(listeners[i] >= 0);
    }
    oc_uplink_init(&uplink, &owner, NULL, "S", &rhythm);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    oc_uplink_free(&uplink, NULL);
    assert_int_equal(seen.attached, seen.detached);
    oc_stream_close(&server);
    for (int i = 0; i < 2; i++) {
        close(listeners[i]);
    }
    return 0;
}

/* Begins to connect to the first count addresses. */
static void begin(unsigned count)
{
    oc_sockaddr_t *candidates = calloc(count, sizeof(*candidates));

    assert_non_null(candidates);
    memcpy(candidates, addresses, count * sizeof(*candidates));
    oc_uplink_open(&uplink, candidates, count, oc_clock_ns());
}

/* The port stays taken: nobody else listens there. */
static void refuse_connections(int listener)
{
    const int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    close(listeners[listener]);
    listeners[listener] = fd;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
    assert_int_equal(bind(fd, (struct sockaddr *) &addresses[listener].address,
                          addresses[listener].length), 0);
}

/* Connections to the first address are neither taken nor refused: there is no room for them. */
static void fall_silent(int fds[4])
{
    struct pollfd event;

    assert_int_equal(listen(listeners[0], 0), 0);
    for (int i = 0; i < 4; i++) {
        fds[i] = oc_connect_start(&addresses[0]);
        assert_true(fds[i] >= 0);
        event = (struct pollfd) {.fd = fds[i], .events = POLLOUT};
        (void) poll(&event, 1, 50);
    }
}

static void look_until(oc_uplink_state_t state)
{
    uint64_t end = oc_clock_ns() + PATIENCE;

    while (state != uplink.state) {
        assert_true(oc_clock_ns() < end);
        oc_uplink_look(&uplink, oc_clock_ns(), true);
        usleep(1000);
    }
}

static void await(int fd)
{
    struct pollfd event = {.fd = fd, .events = POLLIN};

    assert_int_equal(poll(&event, 1, (int) (PATIENCE / OC_MILLISECOND)), 1);
}

static void accept_client(int listener)
{
    int fd;

    await(listeners[listener]);
    fd = accept(listeners[listener], NULL, NULL);
    assert_true(fd >= 0);
    oc_socket_prepare(fd);
    oc_stream_close(&server);
    oc_stream_init(&server, fd, OC_MAX_BODY);
}

/* The next message at the server; 0: the connection has ended. */
static unsigned hear(uint32_t *ping)
{
    oc_control_t message;
    oc_status_t end = OC_OK;
    size_t used;

    while (OC_OK != oc_stream_next(&server, &message, &used)) {
        if (OC_OK != end) {
            return 0;
        }
        await(server.fd);
        end = oc_stream_read(&server);
    }
    if (NULL != ping) {
        *ping = message.ping;
    }
    oc_stream_drop(&server, used);
    return message.type;
}

static void say(const oc_control_t *message)
{
    assert_int_equal(oc_stream_send(&server, message), OC_OK);
    await(oc_uplink_fd(&uplink));
}

static void say_welcome(uint16_t version)
{
    oc_control_t message = {.type = OC_CONTROL_WELCOME};

    message.welcome.version = version;
    message.welcome.incarnation = 1;
    message.welcome.num_aggregators = 1;
    message.welcome.address[0] = (oc_bytes_t) {.data = (const uint8_t *) "worker", .length = 6};
    say(&message);
}

static void say_notice(oc_control_type_t type, oc_status_t status)
{
    oc_control_t message = {.type = (uint16_t) type};

    message.notice.status = status;
    message.notice.text = (oc_bytes_t) {.data = (const uint8_t *) "no more", .length = 7};
    say(&message);
}

static void reach_greeting(void)
{
    begin(1);
    look_until(OC_UPLINK_GREETING);
    accept_client(0);
    assert_int_equal(hear(NULL), OC_CONTROL_HELLO);
}

static void reach_ready(void)
{
    reach_greeting();
    say_welcome(OC_PROTOCOL_VERSION_MAX);
    look_until(OC_UPLINK_READY);
}

static void expect_end(oc_uplink_state_t state, oc_status_t status, const char *reason)
{
    look_until(OC_UPLINK_DEAD);
    assert_int_equal(seen.ended, 1);
    assert_int_equal(seen.state, state);
    assert_int_equal(seen.status, status);
    assert_string_equal(uplink.reason, reason);
}

/* ---- connecting ---- */

static void test_one_refuses(void **state)
{
    (void) state;
    refuse_connections(0);
    begin(2);
    look_until(OC_UPLINK_GREETING);
    accept_client(1);
    assert_int_equal(hear(NULL), OC_CONTROL_HELLO);
    assert_int_equal(seen.hellos, 1);
    assert_int_equal(seen.ended, 0);
}

static void test_all_refuse(void **state)
{
    (void) state;
    refuse_connections(0);
    refuse_connections(1);
    begin(2);
    expect_end(OC_UPLINK_CONNECTING, OC_ERR_UNREACHABLE,
               "server S cannot be reached: Connection refused");
    assert_int_equal(seen.hellos, 0);
}

static void test_unwatchable(void **state)
{
    (void) state;
    seen.unwatchable = true;
    begin(2);
    expect_end(OC_UPLINK_CONNECTING, OC_ERR_UNREACHABLE,
               "server S cannot be reached: Cannot allocate memory");
    assert_int_equal(seen.hellos, 0);
}

/* It is left for the next one, if somebody waits; after the last one comes the first again. */
static void test_one_is_silent(void **state)
{
    uint64_t later = oc_clock_ns() + 2 * OC_SECOND;
    int fds[4], fd;

    (void) state;
    fall_silent(fds);
    begin(1);
    fd = oc_uplink_fd(&uplink);
    oc_uplink_look(&uplink, oc_clock_ns(), true);
    oc_uplink_look(&uplink, later, false);
    assert_int_equal(oc_uplink_fd(&uplink), fd);
    assert_int_equal(uplink.dial.next, 1);
    oc_uplink_look(&uplink, later, true);
    assert_int_equal(uplink.state, OC_UPLINK_CONNECTING);
    assert_int_equal(uplink.dial.started, later);
    oc_uplink_free(&uplink, NULL);
    oc_uplink_init(&uplink, &owner, NULL, "S", &rhythm);
    begin(2);
    look_until(OC_UPLINK_GREETING);
    accept_client(1);
    for (int i = 0; i < 4; i++) {
        close(fds[i]);
    }
}

/* An owner that returns comes to the address that turned it away. */
static void test_return(void **state)
{
    (void) state;
    seen.returns = true;
    refuse_connections(0);
    begin(2);
    look_until(OC_UPLINK_GREETING);
    accept_client(1);
    say_notice(OC_CONTROL_REFUSE, OC_ERR_TIMEOUT);
    look_until(OC_UPLINK_CLOSED);
    assert_int_equal(seen.status, OC_ERR_TIMEOUT);
    assert_int_equal(hear(NULL), OC_CONTROL_HELLO);
    assert_int_equal(hear(NULL), OC_CONTROL_BYE);
    assert_int_equal(hear(NULL), 0);
    oc_uplink_reopen(&uplink, oc_clock_ns());
    assert_int_equal(uplink.dial.next, 2);
    assert_string_equal(uplink.reason, "server S refused: no more");
    look_until(OC_UPLINK_GREETING);
    accept_client(1);
    assert_int_equal(hear(NULL), OC_CONTROL_HELLO);
    assert_int_equal(seen.hellos, 2);
    say_welcome(OC_PROTOCOL_VERSION_MAX);
    look_until(OC_UPLINK_READY);
    assert_string_equal(uplink.reason, "");
}

/* ---- HELLO and WELCOME ---- */

static void test_wrong_version(void **state)
{
    (void) state;
    reach_greeting();
    say_welcome(OC_PROTOCOL_VERSION_MAX + 1);
    expect_end(OC_UPLINK_GREETING, OC_ERR_VERSION,
               "server S answered in an unknown protocol version");
    assert_int_equal(seen.welcomes, 0);
    assert_int_equal(hear(NULL), OC_CONTROL_BYE);
    assert_int_equal(hear(NULL), 0);
}

static void test_second_welcome(void **state)
{
    (void) state;
    reach_ready();
    say_welcome(OC_PROTOCOL_VERSION_MAX);
    expect_end(OC_UPLINK_READY, OC_ERR_INVALID, "server S sent WELCOME twice");
    assert_int_equal(seen.welcomes, 1);
    assert_int_equal(hear(NULL), 0);
}

static void test_refusal(void **state)
{
    (void) state;
    reach_greeting();
    say_notice(OC_CONTROL_REFUSE, OC_ERR_LIMIT);
    expect_end(OC_UPLINK_GREETING, OC_ERR_REFUSED, "server S refused: no more");
}

/* ---- heartbeats ---- */

/* One gap counts as one step, however long it is: the owner was away. */
static void look_for(uint64_t *now, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) {
        *now += OC_SECOND;
        oc_uplink_look(&uplink, *now, true);
        oc_uplink_ping(&uplink, *now);
    }
}

static void test_answers(void **state)
{
    uint64_t now;
    uint32_t number = 0;

    (void) state;
    reach_ready();
    now = uplink.now;
    oc_uplink_ping(&uplink, now);
    for (uint32_t i = 1; i <= 3; i++) {
        look_for(&now, 40);
        assert_int_equal(hear(&number), OC_CONTROL_PING);
        assert_int_equal(number, i);
        say(&(oc_control_t) {.type = OC_CONTROL_PONG, .ping = number});
        oc_uplink_look(&uplink, now, true);
    }
    assert_int_equal(uplink.state, OC_UPLINK_READY);
    assert_int_equal(seen.missed, 0);
}

static void test_silence(void **state)
{
    uint64_t now;

    (void) state;
    reach_ready();
    now = uplink.now;
    look_for(&now, 1 + 50);
    assert_int_equal(seen.missed, 0);
    look_for(&now, 1);
    assert_int_equal(seen.missed, 1);
    expect_end(OC_UPLINK_READY, OC_ERR_TIMEOUT,
               "server S stopped answering: no heartbeat for 5 seconds");
    assert_int_equal(hear(NULL), OC_CONTROL_PING);
    assert_int_equal(hear(NULL), 0);
}

/* Its owner is asked once for each PING, and the answer may still come. */
static void test_silence_is_borne(void **state)
{
    uint64_t now;

    (void) state;
    seen.waits = true;
    reach_ready();
    now = uplink.now;
    look_for(&now, 200);
    assert_int_equal(seen.missed, 1);
    assert_int_equal(uplink.state, OC_UPLINK_READY);
    say(&(oc_control_t) {.type = OC_CONTROL_PONG, .ping = 1});
    look_for(&now, 200);
    assert_int_equal(seen.missed, 2);
}

/* ---- messages and ends ---- */

static void test_messages(void **state)
{
    (void) state;
    reach_ready();
    say(&(oc_control_t) {.type = OC_CONTROL_JOINED});
    oc_uplink_look(&uplink, oc_clock_ns(), true);
    assert_int_equal(seen.joined, 1);
    say(&(oc_control_t) {.type = OC_CONTROL_BYE});
    expect_end(OC_UPLINK_READY, OC_ERR_INVALID, "server S sent a message that only clients send");
}

static void test_bye(void **state)
{
    static const oc_control_t bye = {.type = OC_CONTROL_BYE};

    (void) state;
    reach_ready();
    oc_uplink_close(&uplink, &bye);
    oc_uplink_close(&uplink, &bye);
    assert_int_equal(hear(NULL), OC_CONTROL_BYE);
    assert_int_equal(hear(NULL), 0);
    assert_int_equal(seen.ended, 0);
}

/* Before WELCOME nothing but BYE is understood. */
static void test_early_bye(void **state)
{
    static const oc_control_t bye = {.type = OC_CONTROL_BYE},
                              error = {.type = OC_CONTROL_JOB_ERROR};

    (void) state;
    reach_greeting();
    oc_uplink_close(&uplink, &error);
    assert_int_equal(hear(NULL), 0);
    oc_uplink_reopen(&uplink, oc_clock_ns());
    look_until(OC_UPLINK_GREETING);
    accept_client(0);
    assert_int_equal(hear(NULL), OC_CONTROL_HELLO);
    oc_uplink_close(&uplink, &bye);
    assert_int_equal(hear(NULL), OC_CONTROL_BYE);
    assert_int_equal(hear(NULL), 0);
}

static void test_server_ends(void **state)
{
    (void) state;
    reach_ready();
    shutdown(server.fd, SHUT_WR);
    expect_end(OC_UPLINK_READY, OC_ERR_UNREACHABLE, "server S is gone: it closed the connection");
}

/* What it said before is the reason, also if something else is noticed first. */
static void test_server_says_why(void **state)
{
    (void) state;
    reach_ready();
    say_notice(OC_CONTROL_JOB_ERROR, OC_ERR_REFUSED);
    shutdown(server.fd, SHUT_WR);
    oc_uplink_lost(&uplink, oc_clock_ns());
    expect_end(OC_UPLINK_READY, OC_ERR_REFUSED, "server S ended its service: no more");
}

static const oc_control_t ping = {.type = OC_CONTROL_PING};

static void test_server_says_why_before_sending_fails(void **state)
{
    (void) state;
    reach_ready();
    say_notice(OC_CONTROL_JOB_ERROR, OC_ERR_REFUSED);
    oc_stream_close(&server);
    while (OC_OK == oc_stream_send(&uplink.stream, &ping)) {
        usleep(1000);
    }
    oc_uplink_send(&uplink, &ping);
    assert_int_equal(uplink.unsent, OC_ERR_UNREACHABLE);
    assert_int_equal(uplink.state, OC_UPLINK_READY);
    assert_int_equal(seen.ended, 0);
    expect_end(OC_UPLINK_READY, OC_ERR_REFUSED, "server S ended its service: no more");
}

/* What it has not read makes its end a reset. */
static void say_why_and_reset(void)
{
    say_notice(OC_CONTROL_JOB_ERROR, OC_ERR_REFUSED);
    oc_stream_close(&server);
}

/* Between reading and writing, in one look. */
static void test_server_says_why_before_writing_fails(void **state)
{
    (void) state;
    reach_ready();
    while (0 == (POLLOUT & oc_uplink_events(&uplink))) {
        oc_uplink_send(&uplink, &ping);
    }
    assert_int_equal(uplink.unsent, OC_OK);
    seen.breaks = true;
    say(&(oc_control_t) {.type = OC_CONTROL_JOINED});
    oc_uplink_look(&uplink, oc_clock_ns(), true);
    assert_int_equal(seen.joined, 1);
    assert_int_equal(uplink.state, OC_UPLINK_DEAD);
    expect_end(OC_UPLINK_READY, OC_ERR_REFUSED, "server S ended its service: no more");
}

/* It does not read: what waits to be sent is bounded. */
static void test_deaf_server(void **state)
{
    (void) state;
    reach_ready();
    while (OC_OK == uplink.unsent) {
        oc_uplink_send(&uplink, &ping);
    }
    assert_int_equal(uplink.state, OC_UPLINK_READY);
    expect_end(OC_UPLINK_READY, OC_ERR_TIMEOUT, "server S does not read what it is sent");
}

static void test_data_connection_breaks(void **state)
{
    (void) state;
    reach_ready();
    oc_uplink_lost(&uplink, oc_clock_ns());
    expect_end(OC_UPLINK_READY, OC_ERR_UNREACHABLE,
               "server S is gone: the data connection broke");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_refuses), TEST(test_all_refuse), TEST(test_unwatchable),
        TEST(test_one_is_silent), TEST(test_return),
        TEST(test_wrong_version), TEST(test_second_welcome), TEST(test_refusal),
        TEST(test_answers), TEST(test_silence), TEST(test_silence_is_borne),
        TEST(test_messages), TEST(test_bye), TEST(test_early_bye),
        TEST(test_server_ends), TEST(test_server_says_why),
        TEST(test_server_says_why_before_sending_fails),
        TEST(test_server_says_why_before_writing_fails), TEST(test_deaf_server),
        TEST(test_data_connection_breaks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
