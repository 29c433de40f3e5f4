/* SPDX-License-Identifier: BSD-3-Clause */
/* Control connections by epoll, each with one question open. */
#include "bench/size/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "control/stream.h"
#include "net/socket.h"
#include "protocol/control.h"

#define EVENTS 256

/* Teams have the low 16 bits of a group's id. */
#define TEAM_BITS 16

typedef struct {
    oc_stream_t stream;
    uint32_t process;          /* of the job */
    bool connected;            /* HELLO was sent */
    unsigned waits;            /* for so many answers */
} member_t;

typedef struct {
    oc_crowd_shared_t *shared;
    oc_crowd_outcome_t *outcome;
    member_t *members;
    unsigned count, waiting;
    int epoll_fd;
} members_t;

static void __attribute__((noreturn)) give_up(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static void watch(members_t *all, member_t *member, int operation, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = member};

    if (0 != epoll_ctl(all->epoll_fd, operation, member->stream.fd, &event)) {
        give_up("epoll_ctl");
    }
}

static void settle(members_t *all, member_t *member)
{
    double seconds = oc_crowd_clock() - all->shared->begin;

    if (member->waits > 0) {
        member->waits--;
        all->waiting--;
        all->outcome->last = seconds > all->outcome->last ? seconds : all->outcome->last;
    }
}

static void refused(members_t *all, member_t *member, const char *text)
{
    snprintf(all->outcome->text, sizeof(all->outcome->text), "%s", text);
    all->outcome->refused += member->waits > 0;
    settle(all, member);
}

static void send_message(members_t *all, member_t *member, const oc_control_t *message)
{
    if (OC_OK != oc_stream_send(&member->stream, message)) {
        refused(all, member, "the connection ended");
    }
}

static void greet(members_t *all, member_t *member)
{
    oc_control_t message = {.type = OC_CONTROL_HELLO};
    oc_hello_t *hello = &message.hello;

    hello->version_min = OC_PROTOCOL_VERSION_MIN;
    hello->version_max = OC_PROTOCOL_VERSION_MAX;
    memcpy(hello->job_id, all->shared->id, sizeof(hello->job_id));
    memcpy(hello->job_key, all->shared->key, sizeof(hello->job_key));
    hello->process = member->process;
    hello->address.data = all->shared->worker_address;
    hello->address.length = all->shared->worker_address_length;
    member->connected = true;
    watch(all, member, EPOLL_CTL_MOD, EPOLLIN);
    send_message(all, member, &message);
}

static void note_welcome(oc_crowd_shared_t *shared, const oc_welcome_t *welcome)
{
    for (unsigned i = 0; i < welcome->num_aggregators; i++) {
        memcpy(shared->aggregators[i], welcome->address[i].data, welcome->address[i].length);
    }
}

/* Its question has been answered. */
static void answered(members_t *all, member_t *member)
{
    double limit = all->shared->limit;

    all->outcome->answered += member->waits > 0;
    all->outcome->late += limit > 0 && oc_crowd_clock() - all->shared->begin > limit;
    settle(all, member);
}

static void handle(members_t *all, member_t *member, const oc_control_t *message)
{
    char text[OC_MAX_TEXT + 1];

    switch (message->type) {
    case OC_CONTROL_WELCOME:
        /* all members get the same */
        if (0 == member->process) {
            note_welcome(all->shared, &message->welcome);
        }
        answered(all, member);
        break;
    case OC_CONTROL_JOINED:
        all->shared->handle = message->joined.handle;
        answered(all, member);
        break;
    case OC_CONTROL_PONG:
        answered(all, member);
        break;
    default:
        oc_control_text(&message->notice.text, text, sizeof(text));
        refused(all, member, text);
    }
}

static void read_messages(members_t *all, member_t *member)
{
    oc_status_t status = oc_stream_read(&member->stream);
    oc_control_t message;
    size_t used;

    while (OC_OK == oc_stream_next(&member->stream, &message, &used)) {
        handle(all, member, &message);
        oc_stream_drop(&member->stream, used);
    }
    if (OC_OK != status) {
        refused(all, member, "the connection ended");
        watch(all, member, EPOLL_CTL_DEL, 0);
    }
}

static void wait_for_answers(members_t *all)
{
    double end = all->shared->begin + OC_CROWD_PATIENCE;
    struct epoll_event events[EVENTS];

    while (all->waiting > 0 && oc_crowd_clock() < end) {
        int count = epoll_wait(all->epoll_fd, events, EVENTS, 1000);

        for (int i = 0; i < count; i++) {
            member_t *member = events[i].data.ptr;

            if (member->connected) {
                read_messages(all, member);
            } else {
                greet(all, member);
            }
        }
    }
}

/* ---- deeds ---- */

static void expect_answer(members_t *all, member_t *member)
{
    member->waits++;
    all->waiting++;
}

static void connect_one(members_t *all, member_t *member)
{
    int fd = oc_connect_start(&all->shared->server);

    if (fd < 0) {
        give_up("connect");
    }
    oc_stream_init(&member->stream, fd, OC_MAX_BODY);
    expect_answer(all, member);
    watch(all, member, EPOLL_CTL_ADD, EPOLLOUT);
}

static void connect_all(members_t *all)
{
    unsigned share = all->shared->at_a_time / OC_CROWD_PROCESSES;

    for (unsigned i = 0; i < all->count; i++) {
        if (0 != share && 0 == i % share) {
            wait_for_answers(all);
        }
        connect_one(all, &all->members[i]);
    }
}

static void ping_all(members_t *all)
{
    oc_control_t message = {.type = OC_CONTROL_PING, .ping = 1};

    for (unsigned i = 0; i < all->count; i++) {
        expect_answer(all, &all->members[i]);
        send_message(all, &all->members[i], &message);
    }
}

uint64_t oc_crowd_group(const oc_crowd_join_t *join)
{
    return ((uint64_t) join->number + 1) << TEAM_BITS;
}

static void join_as(members_t *all, member_t *member, uint32_t rank)
{
    const oc_crowd_join_t *join = &all->shared->join;
    oc_control_t message = {.type = OC_CONTROL_JOIN};
    uint32_t team = rank % join->per_host;

    message.join = (oc_join_t) {
        .group = oc_crowd_group(join) | team, .num_ranks = join->hosts,
        .rank = rank / join->per_host,
        .reply_handle = (join->number * join->hosts * join->per_host + rank) % (1u << 20),
        .first_aggregator = team * join->aggregators, .chunk_bytes = join->chunk_bytes,
        .window = join->window, .small_bytes = join->small_bytes, .reserves = join->reserves};
    expect_answer(all, member);
    send_message(all, member, &message);
}

static void join_all(members_t *all)
{
    uint32_t each = all->shared->join.ranks_each;

    for (unsigned i = 0; i < all->count; i++) {
        member_t *member = &all->members[i];

        for (uint32_t n = 0; n < each; n++) {
            join_as(all, member, member->process * each + n);
        }
    }
}

static void say_bye(members_t *all)
{
    static const oc_control_t bye = {.type = OC_CONTROL_BYE};

    for (unsigned i = 0; i < all->count; i++) {
        if (all->members[i].connected) {
            (void) oc_stream_send(&all->members[i].stream, &bye);
        }
    }
}

static void wait_until(double begin)
{
    double rest = begin - oc_crowd_clock();
    struct timespec pause = {.tv_nsec = (long) (rest * 1e9)};

    if (rest > 0) {
        (void) nanosleep(&pause, NULL);
    }
}

static void act(members_t *all, char deed)
{
    *all->outcome = (oc_crowd_outcome_t) {0};
    wait_until(all->shared->begin);
    if (OC_CROWD_CONNECT == deed) {
        connect_all(all);
    } else if (OC_CROWD_PING == deed) {
        ping_all(all);
    } else {
        join_all(all);
    }
    wait_for_answers(all);
}

void oc_members_run(oc_crowd_shared_t *shared, unsigned number, unsigned first, unsigned count,
                    int channel)
{
    members_t all = {.shared = shared, .outcome = &shared->outcomes[number], .count = count,
                     .epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
    char deed, done = '.';

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    all.members = calloc(count, sizeof(*all.members));
    if (all.epoll_fd < 0 || NULL == all.members) {
        give_up("a process of the crowd");
    }
    for (unsigned i = 0; i < count; i++) {
        all.members[i].process = first + i;
    }
    while (1 == read(channel, &deed, 1)) {
        act(&all, deed);
        if (1 != write(channel, &done, 1)) {
            break;
        }
    }
    say_bye(&all);
    exit(EXIT_SUCCESS);
}
