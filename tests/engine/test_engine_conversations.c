/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the fuzzing of conversations: clients that speak the control protocol with a real server in
 * random orders, valid and invalid, with messages that are as they should be, changed, cut off, in
 * pieces, or no messages at all. Whatever they say: the supervisor lives, a job that does nothing wrong
 * gets all the answers that it is entitled to, nobody gets an answer that is no message, and when they
 * have gone the server has what it had before.
 *
 *   test_engine_conversations [--seed FIRST] [--count N] [--verbose]
 *
 * --seed N --count 1 repeats one conversation.
 */
/* Test: quick 120; default 240 -- --count 40 --seed $SEED; all 1800 -- --count 2000 --seed $SEED */
/* Test: sanitizers: default 240 -- --count 12 --seed $SEED */
/* Test: sanitizers: all 1800 -- --count 1000 --seed $SEED */
#include <arpa/inet.h>
#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "protocol/message.h"
#include "tests/engine/caller.h"
#include "tests/engine/harness.h"
#include "ucx_backend/worker.h"

#define MAX_CALLERS  6
#define MAX_GROUPS   4
#define AGGREGATORS  2
#define AGGREGATORS_TEXT "2"
#define LONGEST_TALK 40
/* An answer that takes longer is none: servers on busy machines take their time. */
#define PATIENCE     (15 * OC_SECOND)

/* A job whose clients do nothing wrong, over the whole run, and is entitled to all answers. */
typedef struct {
    caller_t caller;
    uint64_t groups;             /* joined so far; left again at once */
} witness_t;

typedef struct {
    caller_t caller;
    uint64_t job;
    bool leaf;
    uint32_t rank;               /* in groups of two that make sense */
    uint32_t routes;             /* said so far */
} guilty_t;

static test_server_t server;
static oc_worker_t *worker;
static oc_transfer_t ready;      /* what aggregators send to members that have joined */
static uint8_t ready_bytes[OC_HEADER_SIZE];
static uint64_t state;
static uint32_t sense;           /* of so many messages all but one fit the conversation so far */
static unsigned counts[4];       /* of what was sent: as it should be, changed, in pieces, garbage */
static unsigned long answers;    /* that the guilty got, but for refusals */

static void __attribute__((noreturn)) fail(uint64_t seed, const char *what)
{
    fprintf(stderr, "seed %llu: %s\n", (unsigned long long) seed, what);
    (void) server_stop(&server);
    exit(EXIT_FAILURE);
}

static uint32_t random_below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t) ((state >> 32) % limit);
}

static bool one_in(uint32_t chances)
{
    return 0 == random_below(chances);
}

/* A number that is often at a border, of the kind that headers are full of. */
static uint32_t odd_number(void)
{
    static const uint32_t borders[] = {0, 1, 2, 3, 63, 64, 65, 255, 4095, 4096, 4097, 16384, 16385, 65535,
                                       65536, 65537, 1u << 20, (1u << 20) - 1, 16u << 20,
                                       0x7fffffff, 0x80000000, 0xffffffff};

    return one_in(4) ? (uint32_t) (state >> 13)
                     : borders[random_below(sizeof(borders) / sizeof(borders[0]))];
}

/* ---- messages ---- */

static oc_control_t hello_of(uint64_t job, bool right_key)
{
    oc_control_t message = {.type = OC_CONTROL_HELLO};
    size_t length;

    message.hello.version_min = OC_PROTOCOL_VERSION_MIN;
    message.hello.version_max = OC_PROTOCOL_VERSION_MAX;
    memcpy(message.hello.job_id, &job, sizeof(job));
    memset(message.hello.job_key, right_key ? 7 : 8, OC_JOB_KEY_SIZE);
    message.hello.process = 1;
    message.hello.address.data = oc_worker_address(worker, &length);
    message.hello.address.length = (uint32_t) length;
    return message;
}

static oc_control_t join_of(uint64_t group, uint32_t num_ranks, uint32_t rank)
{
    oc_control_t message = {.type = OC_CONTROL_JOIN};

    message.join.group = group;
    message.join.num_ranks = num_ranks;
    message.join.rank = rank;
    message.join.reply_handle = (uint32_t) (group & 0xfffff);
    message.join.chunk_bytes = 16384;
    message.join.window = 4;
    message.join.small_bytes = 8192;
    return message;
}

static oc_control_t leave_of(uint64_t group, uint32_t rank)
{
    oc_control_t message = {.type = OC_CONTROL_LEAVE};

    message.leave.group = group;
    message.leave.rank = rank;
    return message;
}

static oc_control_t ping_of(uint32_t number)
{
    return (oc_control_t) {.type = OC_CONTROL_PING, .ping = number};
}

static oc_control_t odd_join(void)
{
    oc_control_t message = join_of(1 + random_below(MAX_GROUPS), 1 + random_below(3), random_below(3));
    uint32_t *fields[] = {&message.join.num_ranks, &message.join.rank, &message.join.reply_handle,
                          &message.join.first_aggregator, &message.join.chunk_bytes, &message.join.window,
                          &message.join.small_bytes, &message.join.leaves, &message.join.leaf};

    message.join.reserves = (uint8_t) random_below(3);
    message.join.epoch = one_in(4) ? odd_number() : 0;
    while (one_in(2)) {
        *fields[random_below(sizeof(fields) / sizeof(fields[0]))] = odd_number();
    }
    return message;
}

static oc_control_t notice_of(uint16_t type)
{
    static const uint8_t text[] = "nonsense \x1b[31m";
    oc_control_t message = {.type = type};

    message.notice.group = random_below(MAX_GROUPS + 1);
    message.notice.status = (int32_t) odd_number();
    message.notice.text = (oc_bytes_t) {.data = text, .length = random_below(sizeof(text))};
    return message;
}

static oc_control_t route_to(uint32_t aggregator)
{
    oc_control_t message = {.type = OC_CONTROL_ROUTE};
    size_t length;

    message.route.aggregator = aggregator;
    message.route.address.data = oc_worker_address(worker, &length);
    message.route.address.length = (uint32_t) length;
    return message;
}

/* Addresses of nobody, of which there may be more in a job than a filter has room for. */
static void add_origins(oc_origins_t *origins)
{
    origins->count = (uint8_t) random_below(OC_MAX_ORIGINS + 1);
    for (unsigned i = 0; i < origins->count; i++) {
        uint32_t numbers[] = {odd_number(), odd_number(), odd_number(), odd_number()};

        memcpy(&origins->addresses[i], numbers, sizeof(numbers));
    }
}

static oc_control_t odd_welcome(void)
{
    static const uint8_t address[] = "an address";
    oc_control_t message = {.type = OC_CONTROL_WELCOME};

    message.welcome.version = (uint16_t) odd_number();
    message.welcome.identity = odd_number();
    message.welcome.parent = odd_number();
    message.welcome.incarnation = odd_number() + UINT64_C(1);
    message.welcome.num_aggregators = (uint16_t) (1 + random_below(3));
    for (unsigned i = 0; i < message.welcome.num_aggregators; i++) {
        message.welcome.address[i] = (oc_bytes_t) {.data = address, .length = sizeof(address)};
    }
    add_origins(&message.welcome.origins);
    return message;
}

/* Of a flood test; most of its addresses are none that a server joins. */
static oc_control_t watch_of(uint64_t token)
{
    oc_control_t message = {.type = OC_CONTROL_WATCH};

    message.lookout.token = token;
    message.lookout.probes.s_addr = one_in(2) ? odd_number() : htonl(0xefc0a001u);
    message.lookout.marks.s_addr = one_in(2) ? odd_number() : htonl(0xefc0a002u);
    message.lookout.port = one_in(2) ? (uint16_t) odd_number() : 8919;
    return message;
}

static oc_control_t sight_of(uint64_t token)
{
    static const uint8_t text[] = "eth0\n";
    oc_control_t message = {.type = OC_CONTROL_SIGHT};

    message.sight = (oc_sight_t) {.token = token, .view = (uint8_t) random_below(OC_VIEWS),
                                  .text = {.data = text, .length = random_below(sizeof(text))}};
    return message;
}

/* Mostly of servers that nobody knows. */
static oc_control_t loss_of(void)
{
    static const uint8_t text[] = "gone";
    oc_control_t message = {.type = OC_CONTROL_LOST};

    for (unsigned i = random_below(4); i < 4; i++) {
        (void) oc_lost_add(&message.loss.servers, odd_number() + UINT64_C(1));
    }
    message.loss.text = (oc_bytes_t) {.data = text, .length = random_below(sizeof(text))};
    return message;
}

/* Any message that a codec can make, whoever should send it. */
static oc_control_t any_message(const guilty_t *guilty)
{
    static const uint16_t notices[] = {OC_CONTROL_REFUSE, OC_CONTROL_GROUP_ERROR, OC_CONTROL_JOB_ERROR,
                                       OC_CONTROL_DRAIN, OC_CONTROL_RETIRE};
    static const uint8_t release[] = "99.9";
    oc_control_t message;

    switch (random_below(19)) {
    case 0:
        message = hello_of(guilty->job, !one_in(4));
        message.hello.process = one_in(3) ? OC_PROCESS_LEAF : odd_number();
        add_origins(&message.hello.origins);
        return message;
    case 1:
        return notice_of(notices[random_below(sizeof(notices) / sizeof(notices[0]))]);
    case 2:
        return route_to(odd_number());
    case 3:
        return (oc_control_t) {.type = OC_CONTROL_BYE};
    case 4:
        return (oc_control_t) {.type = OC_CONTROL_PONG, .ping = odd_number()};
    case 5:
        message = (oc_control_t) {.type = OC_CONTROL_JOINED};
        message.joined.group = random_below(MAX_GROUPS);
        message.joined.handle = odd_number();
        message.joined.eager_window = (uint64_t) odd_number() << random_below(33);
        return message;
    case 12:
        return odd_welcome();
    case 13:
        return (oc_control_t) {.type = OC_CONTROL_QUERY};
    case 14:
        message = (oc_control_t) {.type = OC_CONTROL_STATUS, .status.jobs = odd_number()};
        message.status.release = (oc_bytes_t) {.data = release, .length = sizeof(release) - 1};
        return message;
    case 15:
        return watch_of(random_below(3));
    case 16:
        return (oc_control_t) {.type = OC_CONTROL_LOOK, .look = random_below(3)};
    case 17:
        return sight_of(random_below(3));
    case 18:
        return loss_of();
    case 6:
    case 7:
        return leave_of(1 + random_below(MAX_GROUPS), random_below(3));
    case 8:
    case 9:
        return ping_of(odd_number());
    default:
        return odd_join();
    }
}

/* One that may come now, of a client that knows what it does. */
static oc_control_t sensible_message(guilty_t *guilty)
{
    uint64_t group = 1 + random_below(MAX_GROUPS);

    if (guilty->leaf && guilty->routes < AGGREGATORS) {
        return route_to(guilty->routes++);
    }
    switch (random_below(8)) {
    case 6:
        return watch_of(7);
    case 7:
        return (oc_control_t) {.type = OC_CONTROL_LOOK, .look = 7};
    case 0:
        return leave_of(group, guilty->rank);
    case 1:
        return (oc_control_t) {.type = guilty->leaf ? OC_CONTROL_PONG : OC_CONTROL_PING, .ping = 1};
    case 2:
        return ping_of(random_below(1000));
    default:
        return join_of(group, 2, guilty->rank);
    }
}

/* ---- what is wrong with them ---- */

static void garble(uint8_t *bytes, size_t *length)
{
    switch (random_below(4)) {
    case 0:
        *length = 1 + random_below((uint32_t) *length);
        break;
    case 1:
        bytes[8 + random_below(4)] = (uint8_t) odd_number(); /* the length of the body */
        break;
    case 2:
        bytes[4 + random_below(4)] = (uint8_t) odd_number(); /* version and type */
        break;
    default:
        for (uint32_t i = 1 + random_below(8); i > 0; i--) {
            bytes[random_below((uint32_t) *length)] ^= (uint8_t) (1u << random_below(8));
        }
    }
}

/* UCX may abort upon an address that is none, which a member may do to its own job only. */
static bool spoils_address(const oc_control_t *message, size_t length)
{
    return length > OC_FRAME_SIZE
           && (OC_CONTROL_HELLO == message->type || OC_CONTROL_ROUTE == message->type);
}

static void send_in_pieces(guilty_t *guilty, const oc_control_t *message, const uint8_t *bytes,
                           size_t length)
{
    size_t first = random_below((uint32_t) length);

    caller_count(&guilty->caller, message);
    caller_send(&guilty->caller, bytes, first);
    usleep(random_below(2000));
    caller_send(&guilty->caller, bytes + first, length - first);
    counts[2]++;
}

static void send_changed(guilty_t *guilty, const oc_control_t *message, uint8_t *bytes, size_t length)
{
    size_t frame = OC_FRAME_SIZE;

    caller_count_any(&guilty->caller);
    garble(bytes, spoils_address(message, length) ? &frame : &length);
    caller_send(&guilty->caller, bytes, length);
    counts[1]++;
}

static void send_message(guilty_t *guilty, const oc_control_t *message)
{
    static uint8_t bytes[OC_MAX_HELLO_BODY + OC_FRAME_SIZE];
    size_t length = oc_control_encode(message, bytes, sizeof(bytes));

    if (0 == length) {
        return;
    }
    if (one_in(2 * sense)) {
        send_changed(guilty, message, bytes, length);
    } else if (one_in(8)) {
        send_in_pieces(guilty, message, bytes, length);
    } else {
        caller_say(&guilty->caller, message);
        counts[0]++;
    }
}

static void send_garbage(guilty_t *guilty)
{
    uint8_t bytes[256];
    size_t length = 1 + random_below(sizeof(bytes));

    for (size_t i = 0; i < length; i++) {
        bytes[i] = (uint8_t) random_below(256);
    }
    if (one_in(2)) {
        memcpy(bytes, "OCST", length < 4 ? length : 4);
    }
    caller_count_any(&guilty->caller);
    caller_send(&guilty->caller, bytes, length);
    counts[3]++;
}

/* ---- conversations ---- */

static void hear(guilty_t *guilty)
{
    caller_t *caller = &guilty->caller;
    unsigned before = caller->joined + caller->pongs + caller->welcomed + caller->failed;

    caller_hear(caller);
    answers += caller->joined + caller->pongs + caller->welcomed + caller->failed - before;
}

/* Says HELLO, mostly a good one, and mostly waits for the answer. */
static void enter(guilty_t *guilty)
{
    uint64_t end = oc_clock_ns() + 300 * OC_MILLISECOND;
    oc_control_t message;

    (void) caller_open(&guilty->caller, server.port);
    guilty->routes = 0;
    if (one_in(16)) {
        return;
    }
    message = hello_of(guilty->job, !one_in(2 * sense));
    message.hello.process = guilty->leaf ? OC_PROCESS_LEAF : guilty->rank;
    if (one_in(3)) {
        add_origins(&message.hello.origins);
    }
    send_message(guilty, &message);
    if (one_in(2 * sense)) {
        return;
    }
    while (guilty->caller.open && !guilty->caller.welcomed && !guilty->caller.refused
           && oc_clock_ns() < end) {
        hear(guilty);
        (void) oc_worker_progress(worker);
        usleep(100);
    }
}

static void act(guilty_t *guilty)
{
    oc_control_t message;

    if (!guilty->caller.open) {
        enter(guilty);
    } else if (one_in(16)) {
        caller_close(&guilty->caller, one_in(2));
    } else if (one_in(2 * sense)) {
        send_garbage(guilty);
    } else if (one_in(8)) {
        usleep(random_below(3000));
    } else {
        message = one_in(sense) ? any_message(guilty) : sensible_message(guilty);
        send_message(guilty, &message);
    }
    hear(guilty);
}

/* The witness hears what it waits for, or the run has failed. */
static void expect(witness_t *witness, uint64_t seed, const char *what, const unsigned *heard,
                   unsigned wanted)
{
    uint64_t end = oc_clock_ns() + PATIENCE;

    while (*heard < wanted && oc_clock_ns() < end && witness->caller.open) {
        (void) oc_worker_progress(worker);
        caller_hear(&witness->caller);
        usleep(200);
    }
    if ('\0' != witness->caller.wrong[0]) {
        fail(seed, witness->caller.wrong);
    }
    if (*heard < wanted || witness->caller.failed) {
        fail(seed, what);
    }
}

static void testify(witness_t *witness, uint64_t seed)
{
    uint64_t group = UINT64_C(0x1000000) + ++witness->groups;
    oc_control_t message = join_of(group, 1, 0);

    caller_say(&witness->caller, &message);
    expect(witness, seed, "a job that does nothing wrong is not joined", &witness->caller.joined,
           witness->caller.joins);
    message = ping_of((uint32_t) seed);
    caller_say(&witness->caller, &message);
    expect(witness, seed, "a job that does nothing wrong gets no PONG", &witness->caller.pongs,
           witness->caller.pings);
    message = leave_of(group, 0);
    caller_say(&witness->caller, &message);
}

static void converse(witness_t *witness, uint64_t seed)
{
    static guilty_t guilty[MAX_CALLERS];
    unsigned callers, talk;

    state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    callers = 1 + random_below(MAX_CALLERS);
    talk = 1 + random_below(LONGEST_TALK);
    sense = 2u << random_below(6);
    for (unsigned i = 0; i < callers; i++) {
        memset(&guilty[i], 0, sizeof(guilty[i]));
        /* a job of its own each time: one that has failed turns all away for a while */
        guilty[i].job = i > 0 && one_in(2) ? guilty[i - 1].job : seed << 8 | i;
        guilty[i].rank = i % 2;
        guilty[i].leaf = one_in(4);
    }
    for (unsigned i = 0; i < talk * callers; i++) {
        act(&guilty[random_below(callers)]);
        (void) oc_worker_progress(worker);
        if (0 == i % 64) {
            testify(witness, seed);
        }
    }
    for (unsigned i = 0; i < callers; i++) {
        hear(&guilty[i]);
        if ('\0' != guilty[i].caller.wrong[0]) {
            fail(seed, guilty[i].caller.wrong);
        }
        caller_close(&guilty[i].caller, one_in(2));
    }
    testify(witness, seed);
    if (0 != waitpid(server.pid, NULL, WNOHANG)) {
        fail(seed, "the supervisor has ended");
    }
}

/* ---- the server ---- */

static void on_ready(oc_transfer_t *transfer)
{
    if (OC_ERR_CANCELED != transfer->status) {
        oc_receive(worker, transfer, ready_bytes, sizeof(ready_bytes), 0, 0);
    }
}

/* Of memory that is lost, only what was allocated by this code: UCX loses some of its own. */
static bool is_finding(const char *line)
{
    return NULL != strstr(line, "ERROR: AddressSanitizer") || NULL != strstr(line, "runtime error:")
           || (NULL != strstr(line, " #1 ") && NULL != strstr(line, " in oc_"));
}

/* What sanitizers find in a server's processes, they write to its log. */
static void read_log(uint64_t seed)
{
    char line[512];

    while (server_line(&server, line, sizeof(line), 0)) {
        if (is_finding(line)) {
            fail(seed, line);
        }
    }
}

static unsigned count_entries(const char *folder)
{
    char path[64];
    unsigned count = 0;
    DIR *directory;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int) server.pid, folder);
    directory = opendir(path);
    while (NULL != directory && NULL != readdir(directory)) {
        count++;
    }
    if (NULL != directory) {
        closedir(directory);
    }
    return count;
}

/* Connections and processes of the jobs that are over are gone. */
static void expect_as_before(uint64_t seed, unsigned descriptors)
{
    uint64_t end = oc_clock_ns() + PATIENCE;

    while (count_entries("fd") > descriptors && oc_clock_ns() < end) {
        read_log(seed);
        usleep(50000);
    }
    if (count_entries("fd") > descriptors) {
        fail(seed, "the supervisor has more descriptors than before");
    }
}

static void begin(witness_t *witness)
{
    static const char *const options[] = {"--aggregators", AGGREGATORS_TEXT, NULL};
    oc_control_t message;
    char error[256];

    if (OC_OK != oc_worker_open(NULL, &worker, error, sizeof(error))) {
        fprintf(stderr, "no worker: %s\n", error);
        exit(EXIT_FAILURE);
    }
    ready.done = on_ready;
    oc_receive(worker, &ready, ready_bytes, sizeof(ready_bytes), 0, 0);
    server_start(&server, options);
    if (!caller_open(&witness->caller, server.port)) {
        fail(0, "the server cannot be reached");
    }
    message = hello_of(UINT64_C(0xabcdef0123456789), true);
    caller_say(&witness->caller, &message);
    while (!witness->caller.welcomed && witness->caller.open) {
        caller_hear(&witness->caller);
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"seed", required_argument, NULL, 's'},
                                            {"count", required_argument, NULL, 'c'},
                                            {"verbose", no_argument, NULL, 'v'}, {0}};
    static witness_t witness;
    uint64_t first = 1, count = 30, seed;
    unsigned descriptors;
    bool verbose = false;
    int option;

    while (-1 != (option = getopt_long(argc, argv, "", options, NULL))) {
        switch (option) {
        case 's':
            first = strtoull(optarg, NULL, 10);
            break;
        case 'c':
            count = strtoull(optarg, NULL, 10);
            break;
        case 'v':
            verbose = true;
            break;
        default:
            return 2;
        }
    }
    begin(&witness);
    testify(&witness, 0);
    descriptors = count_entries("fd");
    for (seed = first; seed < first + count; seed++) {
        converse(&witness, seed);
        read_log(seed);
        if (verbose) {
            printf("seed %llu\n", (unsigned long long) seed);
        }
    }
    expect_as_before(seed - 1, descriptors);
    caller_close(&witness.caller, false);
    if (0 != server_stop(&server)) {
        fail(seed - 1, "the server does not end in order");
    }
    oc_worker_close(worker);
    printf("%llu conversations: %u messages as they should be, %u changed, %u in pieces, %u times "
           "garbage; %lu answers, and %u PONGs and %u JOINEDs for the job that did nothing wrong\n",
           (unsigned long long) count, counts[0], counts[1], counts[2], counts[3], answers,
           witness.caller.pongs, witness.caller.joined);
    /* who is only turned away has not spoken with anybody */
    return answers > count ? EXIT_SUCCESS : EXIT_FAILURE;
}
