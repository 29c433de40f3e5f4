/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of control connections in trees of servers, with the other end played by the
 * test: leaves that are turned away or say too much, parents that say nothing.
 */
/* Test: default 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/stream.h"
#include "net/socket.h"
#include "server/aggregator/budget.h"
#include "server/daemon/data_process.h"
#include "server/daemon/spawn.h"
#include "server/daemon/supervisor.h"
#include "server/job/embedded.h"
#include "server/job/job.h"
#include "tests/engine/harness.h"
#include "ucx_backend/worker.h"

/* Far more than any message takes: a busy server counts at most a second of silence at a time. */
#define PATIENCE (60 * OC_SECOND)

static test_server_t mismatched;
static oc_worker_t *worker;
static uint8_t job_id[OC_JOB_ID_SIZE] = {7}, job_key[OC_JOB_KEY_SIZE] = {9};

/* ---- the other end ---- */

/* Connects to a port of this host. */
static void call(oc_stream_t *stream, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *) &address, sizeof(address)), 0);
    oc_socket_prepare(fd);
    oc_stream_init(stream, fd, OC_MAX_BODY);
}

static void say(oc_stream_t *stream, const oc_control_t *message)
{
    assert_int_equal(oc_stream_send(stream, message), OC_OK);
}

/* The next message but PING; its pointers are good until the next call. */
static bool hear(oc_stream_t *stream, oc_control_t *message)
{
    static uint8_t kept[65536];
    uint64_t end = oc_clock_ns() + PATIENCE;
    oc_status_t status = OC_OK;
    size_t used;

    while (oc_clock_ns() < end && OC_OK == status) {
        status = oc_stream_read(stream);
        while (OC_OK == oc_stream_next(stream, message, &used)) {
            assert_in_range(used, 1, sizeof(kept));
            memcpy(kept, stream->in, used);
            oc_stream_drop(stream, used);
            (void) oc_control_decode(kept, used, OC_MAX_BODY, message);
            if (OC_CONTROL_PING != message->type) {
                return true;
            }
        }
        usleep(2000);
    }
    return false;
}

static void expect_notice(oc_stream_t *stream, uint16_t type, const char *part)
{
    char text[OC_MAX_TEXT + 1];
    oc_control_t message;

    assert_true(hear(stream, &message));
    assert_int_equal(message.type, type);
    oc_control_text(&message.notice.text, text, sizeof(text));
    if (NULL == strstr(text, part)) {
        fail_msg("\"%s\" does not say \"%s\"", text, part);
    }
    oc_stream_close(stream);
}

/* Where one has to be valid. Of a worker that the ranks of a test do not inherit. */
static oc_bytes_t worker_address(void)
{
    char error[256];
    oc_bytes_t address;
    size_t length;

    if (NULL == worker) {
        assert_int_equal(oc_worker_open(NULL, &worker, error, sizeof(error)), OC_OK);
    }
    address.data = oc_worker_address(worker, &length);
    address.length = (uint32_t) length;
    return address;
}

static oc_control_t hello_of(uint32_t process)
{
    oc_control_t message = {.type = OC_CONTROL_HELLO};

    message.hello.version_min = OC_PROTOCOL_VERSION_MIN;
    message.hello.version_max = OC_PROTOCOL_VERSION_MAX;
    memcpy(message.hello.job_id, job_id, OC_JOB_ID_SIZE);
    memcpy(message.hello.job_key, job_key, OC_JOB_KEY_SIZE);
    message.hello.process = process;
    message.hello.address = worker_address();
    if (OC_PROCESS_LEAF == process) {
        message.hello.address = (oc_bytes_t) {.data = (const uint8_t *) "10.9.8.7:6", .length = 10};
    }
    return message;
}

static oc_control_t join_of(uint32_t leaves)
{
    return (oc_control_t) {.type = OC_CONTROL_JOIN,
                           .join = {.group = 1, .num_ranks = 2, .chunk_bytes = 8192, .window = 1,
                                    .reserves = 1, .leaves = leaves}};
}

static oc_control_t route_of(uint32_t aggregator)
{
    return (oc_control_t) {.type = OC_CONTROL_ROUTE,
                           .route = {.aggregator = aggregator, .address = worker_address()}};
}

static void greet(oc_stream_t *stream, uint16_t port, uint32_t process)
{
    oc_control_t hello = hello_of(process);

    call(stream, port);
    say(stream, &hello);
}

/* ---- leaves ---- */

static void become_leaf(oc_stream_t *stream, uint16_t port)
{
    oc_control_t message;

    greet(stream, port, OC_PROCESS_LEAF);
    assert_true(hear(stream, &message));
    assert_int_equal(message.type, OC_CONTROL_WELCOME);
}

static void test_routes(void **state)
{
    const char *options[] = {"--aggregators", "2", NULL};
    oc_control_t first = route_of(0), second = route_of(1), third = route_of(2), join = join_of(0);
    const oc_control_t *wrong[][3] = {{&first, &first}, {&first, &join}, {&third}, {&join}};
    oc_control_t message;
    test_server_t server;
    oc_stream_t stream;

    (void) state;
    server_start(&server, options);
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        job_id[1]++;
        become_leaf(&stream, server.port);
        for (unsigned k = 0; NULL != wrong[i][k]; k++) {
            say(&stream, wrong[i][k]);
        }
        expect_notice(&stream, OC_CONTROL_JOB_ERROR, "leaf server 10.9.8.7:6 sent an unexpected");
    }
    job_id[1]++;
    become_leaf(&stream, server.port);
    say(&stream, &first);
    say(&stream, &second);
    say(&stream, &join);
    assert_true(hear(&stream, &message));
    assert_int_equal(message.type, OC_CONTROL_JOINED);
    message.type = OC_CONTROL_BYE;
    say(&stream, &message);
    oc_stream_close(&stream);
    assert_int_equal(server_stop(&server), 0);
}

/* Nobody but its parent asks a leaf that says nothing. */
static void test_silent_leaf(void **state)
{
    oc_control_t route = route_of(0), join = join_of(0);
    oc_stream_t leaf, other;
    oc_control_t message;
    test_server_t server;

    (void) state;
    job_id[1]++;
    server_start(&server, NULL);
    become_leaf(&leaf, server.port);
    greet(&other, server.port, 3);
    assert_true(hear(&other, &message));
    assert_int_equal(message.type, OC_CONTROL_WELCOME);
    say(&leaf, &route);
    say(&leaf, &join);
    expect_notice(&other, OC_CONTROL_JOB_ERROR, "leaf server 10.9.8.7:6 stopped answering");
    oc_stream_close(&leaf);
    (void) server_stop(&server);
}

static void test_embedded_parent(void **state)
{
    oc_embedded_config_t config = {.job_id = job_id, .job_key = job_key,
                                   .memory_limit = 1 << 20};
    oc_embedded_t *server;
    oc_stream_t stream;
    char error[256];

    (void) state;
    assert_int_equal(oc_embedded_open(&config, &server, error, sizeof(error)), OC_OK);
    greet(&stream, oc_embedded_port(server), OC_PROCESS_LEAF);
    expect_notice(&stream, OC_CONTROL_REFUSE, "can be no parent");
    oc_embedded_close(server);
}

/* ---- parents ---- */

/* -1 if the port is taken at this host. */
static int try_listen_at(const char *host, uint16_t *port, int backlog)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(*port)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(inet_pton(AF_INET, host, &address.sin_addr), 1);
    if (0 != bind(fd, (struct sockaddr *) &address, sizeof(address))) {
        assert_int_equal(errno, EADDRINUSE);
        close(fd);
        return -1;
    }
    assert_int_equal(listen(fd, backlog), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *) &address, &length), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static int listen_at(const char *host, uint16_t *port, int backlog)
{
    int fd = try_listen_at(host, port, backlog);

    assert_true(fd >= 0);
    return fd;
}

/* A leaf that starts looks whether its parent is there, and says nothing then. */
static void accept_leaf(int listener, oc_stream_t *stream, oc_control_t *hello)
{
    bool spoke = false;

    while (!spoke) {
        int fd = accept(listener, NULL, NULL);

        assert_true(fd >= 0);
        oc_socket_prepare(fd);
        oc_stream_init(stream, fd, OC_MAX_BODY);
        spoke = hear(stream, hello);
        if (!spoke) {
            oc_stream_close(stream);
        }
    }
    assert_int_equal(hello->type, OC_CONTROL_HELLO);
    assert_int_equal(hello->hello.process, OC_PROCESS_LEAF);
}

/* It says where it listens, and leaves in order: the parent must not take it for dead. */
static void test_silent_parent(void **state)
{
    char parent[64], name[64];
    const char *options[] = {"--parent", parent, NULL};
    oc_stream_t client, stream;
    oc_control_t message;
    test_server_t leaf;
    uint16_t port = 0;
    int listener = listen_at("127.0.0.1", &port, 8);

    (void) state;
    job_id[1]++;
    snprintf(parent, sizeof(parent), "127.0.0.1:%u", port);
    server_start(&leaf, options);
    greet(&client, leaf.port, 0);
    accept_leaf(listener, &stream, &message);
    oc_control_text(&message.hello.address, name, sizeof(name));
    assert_string_equal(name, leaf.address);
    expect_notice(&client, OC_CONTROL_REFUSE, "did not answer within 3 seconds");
    assert_true(hear(&stream, &message));
    assert_int_equal(message.type, OC_CONTROL_BYE);
    oc_stream_close(&stream);
    close(listener);
    assert_int_equal(server_stop(&leaf), 0);
}

/* Nobody knows yet whether the leaf can serve: a client that goes on is none. */
static void test_join_before_welcome(void **state)
{
    char parent[64];
    const char *options[] = {"--parent", parent, NULL};
    oc_control_t message, join = join_of(2);
    oc_stream_t client, stream;
    test_server_t leaf;
    uint16_t port = 0;
    int listener = listen_at("127.0.0.1", &port, 8);

    (void) state;
    job_id[1]++;
    snprintf(parent, sizeof(parent), "127.0.0.1:%u", port);
    server_start(&leaf, options);
    greet(&client, leaf.port, 0);
    /* now the leaf has adopted the client */
    accept_leaf(listener, &stream, &message);
    say(&client, &join);
    expect_notice(&client, OC_CONTROL_JOB_ERROR, "process 0 sent an unexpected message of type 4");
    oc_stream_close(&stream);
    close(listener);
    (void) server_stop(&leaf);
}

/* Who joins when the parent has refused the group already hears the same. */
static void test_late_join(void **state)
{
    test_server_t parent, leaf;
    const char *parent_options[] = {"--memory-limit", "1M", NULL};
    const char *options[] = {"--parent", parent.address, NULL};
    oc_control_t message, join = join_of(2);
    oc_stream_t clients[2];

    (void) state;
    job_id[1]++;
    /* the smallest chunk of so many leaves is too much for the parent */
    join.join.leaves = OC_MAX_LEAVES;
    server_start(&parent, parent_options);
    server_start(&leaf, options);
    for (uint32_t rank = 0; rank < 2; rank++) {
        greet(&clients[rank], leaf.port, rank);
        assert_true(hear(&clients[rank], &message));
        assert_int_equal(message.type, OC_CONTROL_WELCOME);
    }
    say(&clients[0], &join);
    assert_true(hear(&clients[0], &message));
    assert_int_equal(message.type, OC_CONTROL_JOINED);
    assert_true(hear(&clients[0], &message));
    assert_int_equal(message.type, OC_CONTROL_GROUP_ERROR);
    join.join.rank = 1;
    say(&clients[1], &join);
    expect_notice(&clients[1], OC_CONTROL_GROUP_ERROR, "bytes of an aggregator's memory");
    oc_stream_close(&clients[0]);
    (void) server_stop(&leaf);
    (void) server_stop(&parent);
}

/* A leaf counts what it knows of a group above: one that needs all there is fits, and no other. */
static void test_above_counts(void **state)
{
    const uint32_t ranks = 128, chunk = OC_MIN_CHUNK;
    size_t needed = oc_budget_group(ranks, true) + oc_budget_reserve(ranks, chunk, 0)
                    + oc_budget_step(ranks, chunk, 0);
    oc_control_t message, join = join_of(2);
    test_server_t parent, leaf;
    char limit[32];
    const char *options[] = {"--parent", parent.address, "--memory-limit", limit, NULL};
    oc_stream_t client;

    (void) state;
    join.join.num_ranks = ranks;
    join.join.chunk_bytes = chunk;
    server_start(&parent, NULL);
    for (unsigned missing = 0; missing < 2; missing++) {
        job_id[1]++;
        snprintf(limit, sizeof(limit), "%zu", needed - missing);
        server_start(&leaf, options);
        greet(&client, leaf.port, 0);
        assert_true(hear(&client, &message));
        assert_int_equal(message.type, OC_CONTROL_WELCOME);
        say(&client, &join);
        assert_true(hear(&client, &message));
        assert_int_equal(message.type, missing ? OC_CONTROL_GROUP_ERROR : OC_CONTROL_JOINED);
        oc_stream_close(&client);
        (void) server_stop(&leaf);
    }
    (void) server_stop(&parent);
}

/* ---- a leaf's job in this process ---- */

typedef struct {
    oc_loop_t loop;
    oc_job_server_t *job;
    int client;                  /* the other end of its only session */
} own_leaf_t;

/* A process of the job says HELLO. Returns the other end of its session. */
static int own_leaf_greet(own_leaf_t *leaf, uint32_t process)
{
    static uint8_t bytes[OC_MAX_HELLO_BODY];
    oc_control_t hello = hello_of(process);
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    oc_job_adopt(leaf->job, pair[0], bytes, oc_control_encode(&hello, bytes, sizeof(bytes)));
    return pair[1];
}

static void own_leaf_open(own_leaf_t *leaf, const char *parent)
{
    static oc_sockaddr_t own = {.length = sizeof(struct sockaddr_in),
                                .address.ss_family = AF_INET};
    oc_job_config_t config = {.num_aggregators = 1, .memory_limit = 1 << 20, .identity = 5,
                              .listen = &own, .parent = parent};
    char error[256];

    assert_int_equal(oc_loop_open(&leaf->loop), OC_OK);
    assert_int_equal(oc_job_open(&leaf->loop, &config, &leaf->job, error, sizeof(error)), OC_OK);
    leaf->client = own_leaf_greet(leaf, 0);
}

/* Until there is something to read or accept; false when it takes longer than that. */
static bool own_leaf_run(own_leaf_t *leaf, int fd, uint64_t patience)
{
    uint64_t end = oc_clock_ns() + patience;
    struct pollfd event = {.fd = fd, .events = POLLIN};

    while (oc_clock_ns() < end) {
        (void) oc_loop_once(&leaf->loop, 50);
        oc_job_tick(leaf->job);
        if (poll(&event, 1, 0) > 0) {
            return true;
        }
    }
    return false;
}

static void own_leaf_close(own_leaf_t *leaf)
{
    oc_job_close(leaf->job);
    oc_loop_close(&leaf->loop);
}

/* Stopped in the middle of a job, it says so in both directions. */
static void test_closed_in_use(void **state)
{
    oc_control_t message, welcome = {.type = OC_CONTROL_WELCOME,
                                     .welcome = {.version = OC_PROTOCOL_VERSION_MAX,
                                                 .num_aggregators = 1, .identity = 7,
                                                 .incarnation = 1}};
    oc_stream_t parent, client;
    own_leaf_t leaf;
    uint16_t port = 0;
    int listener = listen_at("127.0.0.1", &port, 8);
    char name[64];

    (void) state;
    snprintf(name, sizeof(name), "127.0.0.1:%u", port);
    own_leaf_open(&leaf, name);
    assert_true(own_leaf_run(&leaf, listener, PATIENCE));
    oc_stream_init(&parent, accept4(listener, NULL, NULL, SOCK_NONBLOCK), OC_MAX_BODY);
    assert_true(own_leaf_run(&leaf, parent.fd, PATIENCE));
    assert_true(hear(&parent, &message));
    assert_int_equal(message.type, OC_CONTROL_HELLO);
    welcome.welcome.address[0] = worker_address();
    say(&parent, &welcome);
    assert_true(own_leaf_run(&leaf, leaf.client, PATIENCE));
    own_leaf_close(&leaf);
    oc_socket_prepare(leaf.client);
    oc_stream_init(&client, leaf.client, OC_MAX_BODY);
    assert_true(hear(&client, &message));
    assert_int_equal(message.type, OC_CONTROL_WELCOME);
    expect_notice(&client, OC_CONTROL_JOB_ERROR, "the server was stopped");
    assert_true(hear(&parent, &message));
    assert_int_equal(message.type, OC_CONTROL_ROUTE);
    expect_notice(&parent, OC_CONTROL_JOB_ERROR, "the server was stopped");
    close(listener);
}

/* ---- a parent of two addresses ---- */

#define SILENT_NAME "silent.invalid"

/* Until then the server of that name says nothing. */
static atomic_bool name_is_known;

/*
 * In place of the C library's, for this program: one name has two addresses, one is looked up for
 * as long as the test likes, others are numbers.
 */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **result)
{
    static _Thread_local struct sockaddr_in addresses[2];
    static _Thread_local struct addrinfo all[2];
    int count = 0 == strcmp(node, "two.invalid") ? 2 : 1;

    (void) hints;
    if (0 == strcmp(node, SILENT_NAME)) {
        while (!atomic_load(&name_is_known)) {
            usleep(10000);
        }
        node = "127.0.0.1";
    }
    for (int i = 0; i < count; i++) {
        addresses[i] = (struct sockaddr_in) {.sin_family = AF_INET,
                                             .sin_port = htons((uint16_t) atoi(service))};
        addresses[i].sin_addr.s_addr = inet_addr(1 == count ? node
                                                            : 0 == i ? "127.0.0.2" : "127.0.0.1");
        all[i] = (struct addrinfo) {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM,
                                    .ai_addr = (struct sockaddr *) &addresses[i],
                                    .ai_addrlen = sizeof(addresses[i]),
                                    .ai_next = i + 1 < count ? &all[i + 1] : NULL};
    }
    *result = all;
    return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
    (void) list;
}

/* A listener whose queue is full answers nobody. */
static void fill_queue(uint16_t port, int fds[8])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(0x7f000002)};

    for (int i = 0; i < 8; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void) connect(fds[i], (struct sockaddr *) &address, sizeof(address));
    }
}

/* A port that is free at one address may be in use at the other, by any other program. */
static void listen_at_both(int *silent, int *listener, uint16_t *port)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        *port = 0;
        *silent = listen_at("127.0.0.2", port, 0);
        *listener = try_listen_at("127.0.0.1", port, 8);
        if (*listener >= 0) {
            return;
        }
        close(*silent);
    }
    fail_msg("no port is free at both addresses");
}

static void test_silent_address(void **state)
{
    int silent, listener, fds[8];
    own_leaf_t leaf;
    uint16_t port;
    char name[64];

    (void) state;
    listen_at_both(&silent, &listener, &port);
    fill_queue(port, fds);
    snprintf(name, sizeof(name), "two.invalid:%u", port);
    own_leaf_open(&leaf, name);
    assert_true(own_leaf_run(&leaf, listener, 2500 * OC_MILLISECOND));
    own_leaf_close(&leaf);
    for (int i = 0; i < 8; i++) {
        close(fds[i]);
    }
    close(leaf.client);
    close(listener);
    close(silent);
}

/* ---- a parent whose name is not known for a while ---- */

static void open_nameless(own_leaf_t *leaf, uint16_t port)
{
    static char name[64]; /* the leaf looks at it as long as it lives */

    atomic_store(&name_is_known, false);
    snprintf(name, sizeof(name), SILENT_NAME ":%u", port);
    own_leaf_open(leaf, name);
}

/* Its client waits, and nothing else does. */
static void test_slow_name(void **state)
{
    uint16_t port = 0;
    int listener = listen_at("127.0.0.1", &port, 8);
    own_leaf_t leaf;

    (void) state;
    open_nameless(&leaf, port);
    assert_false(own_leaf_run(&leaf, listener, 300 * OC_MILLISECOND));
    assert_int_equal(oc_job_sessions(leaf.job), 1);
    atomic_store(&name_is_known, true);
    assert_true(own_leaf_run(&leaf, listener, PATIENCE));
    own_leaf_close(&leaf);
    close(leaf.client);
    close(listener);
}

/* Whoever comes after that hears the same: a parent that was slow may be quick the next time. */
static void expect_late_refusal(own_leaf_t *leaf)
{
    char text[OC_MAX_TEXT + 1];
    oc_stream_t client;
    oc_control_t message;
    int fd = own_leaf_greet(leaf, 1);

    oc_socket_prepare(fd);
    oc_stream_init(&client, fd, OC_MAX_BODY);
    assert_true(hear(&client, &message));
    assert_int_equal(message.type, OC_CONTROL_REFUSE);
    assert_int_equal(message.notice.status, OC_ERR_TIMEOUT);
    oc_control_text(&message.notice.text, text, sizeof(text));
    assert_non_null(strstr(text, "did not answer within 3 seconds"));
    oc_stream_close(&client);
}

/* What the name has taken is not the parent's time. */
static void test_late_name(void **state)
{
    uint16_t port = 0;
    int listener = listen_at("127.0.0.1", &port, 8);
    oc_stream_t client;
    own_leaf_t leaf;

    (void) state;
    open_nameless(&leaf, port);
    assert_false(own_leaf_run(&leaf, leaf.client, 2000 * OC_MILLISECOND));
    atomic_store(&name_is_known, true);
    assert_false(own_leaf_run(&leaf, leaf.client, 2000 * OC_MILLISECOND));
    assert_true(own_leaf_run(&leaf, leaf.client, PATIENCE));
    oc_socket_prepare(leaf.client);
    oc_stream_init(&client, leaf.client, OC_MAX_BODY);
    expect_notice(&client, OC_CONTROL_REFUSE, "did not answer within 3 seconds");
    expect_late_refusal(&leaf);
    own_leaf_close(&leaf);
    close(listener);
}

/* It is told in time, and the job's end waits for no name server. */
static void test_silent_name(void **state)
{
    oc_stream_t client;
    own_leaf_t leaf;

    (void) state;
    open_nameless(&leaf, 1);
    assert_true(own_leaf_run(&leaf, leaf.client, PATIENCE));
    oc_socket_prepare(leaf.client);
    oc_stream_init(&client, leaf.client, OC_MAX_BODY);
    expect_notice(&client, OC_CONTROL_REFUSE, "could not be looked up within 3 seconds");
    own_leaf_close(&leaf);
    atomic_store(&name_is_known, true);
}

/* The whole server in a process of its own, for which that name is never known. */
static pid_t start_nameless(uint16_t *port)
{
    oc_server_settings_t settings;
    int output[2], number = 0;
    char line[128] = "";
    pid_t pid;

    assert_int_equal(pipe2(output, O_CLOEXEC), 0);
    atomic_store(&name_is_known, false);
    fflush(NULL);
    pid = fork();
    if (0 == pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(output[1], STDOUT_FILENO);
        oc_settings_default(&oc_server_settings_table, &settings);
        settings.listen = "127.0.0.1:0";
        settings.parent = SILENT_NAME ":1";
        _exit(oc_supervisor_run(&settings));
    }
    close(output[1]);
    assert_true(pid > 0 && read(output[0], line, sizeof(line) - 1) > 0);
    close(output[0]);
    assert_int_equal(sscanf(line, "optcast-server: ready on 127.0.0.1:%d", &number), 1);
    *port = (uint16_t) number;
    return pid;
}

/* Neither its start, nor one job, nor the other, nor its end waits for the name. */
static void test_silent_name_of_a_server(void **state)
{
    oc_stream_t clients[2];
    uint64_t end;
    int status = -1;
    uint16_t port;
    pid_t pid = start_nameless(&port);

    (void) state;
    for (int i = 0; i < 2; i++) {
        job_id[1]++;
        greet(&clients[i], port, 0);
    }
    for (int i = 0; i < 2; i++) {
        expect_notice(&clients[i], OC_CONTROL_REFUSE, "could not be looked up within 3 seconds");
    }
    assert_int_equal(kill(pid, SIGTERM), 0);
    end = oc_clock_ns() + PATIENCE;
    while (0 == waitpid(pid, &status, WNOHANG) && oc_clock_ns() < end) {
        usleep(10000);
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_SUCCESS);
}

/* ---- a leaf that is turned away, and one that is not ---- */

/* The second leaf asks the same parent in the name of the same job, and is told no. */
static void body_undisturbed(rank_t *rank)
{
    float number = 1, sum = 0;
    oc_stream_t stream;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &number, &sum, 1));
    rank_barrier(rank);
    if (0 == rank->rank) {
        memcpy(job_id, rank->job.id, OC_JOB_ID_SIZE);
        memcpy(job_key, rank->job.key, OC_JOB_KEY_SIZE);
        greet(&stream, mismatched.port, 0);
        expect_notice(&stream, OC_CONTROL_REFUSE, "start both with the same --aggregators");
        usleep(300000);
        oc_worker_close(worker);
    }
    rank_barrier(rank);
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &number, &sum, 1));
    CHECK((float) rank->num_ranks == sum);
    CHECK(OC_GROUP_LIVE == oc_group_state(rank->groups[0]));
}

static void test_turned_away(void **state)
{
    test_server_t parent, leaf;
    const char *options[] = {"--parent", parent.address, NULL};
    const char *wrong[] = {"--parent", parent.address, "--aggregators", "2", NULL};
    oc_job_settings_t settings;

    (void) state;
    server_start(&parent, NULL);
    server_start(&leaf, options);
    server_start(&mismatched, wrong);
    settings = test_settings(leaf.address);
    assert_int_equal(ranks_run(2, &settings, body_undisturbed, 30), 0);
    assert_int_equal(server_stop(&mismatched), 0);
    assert_int_equal(server_stop(&leaf), 0);
    assert_int_equal(server_stop(&parent), 0);
}

static int close_worker(void **state)
{
    (void) state;
    oc_worker_close(worker);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turned_away),
        cmocka_unit_test(test_silent_name_of_a_server),
        cmocka_unit_test(test_routes),
        cmocka_unit_test(test_silent_leaf),
        cmocka_unit_test(test_embedded_parent),
        cmocka_unit_test(test_silent_parent),
        cmocka_unit_test(test_join_before_welcome),
        cmocka_unit_test(test_late_join),
        cmocka_unit_test(test_above_counts),
        cmocka_unit_test(test_closed_in_use),
        cmocka_unit_test(test_silent_address),
        cmocka_unit_test(test_slow_name),
        cmocka_unit_test(test_late_name),
        cmocka_unit_test(test_silent_name),
    };

    if (oc_is_spawned(argc, argv)) {
        /* for start_nameless: no name is known */
        return oc_data_process_run();
    }
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(480);
    return cmocka_run_group_tests(tests, NULL, close_worker);
}
