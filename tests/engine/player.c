/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank does in a schedule. */
#include "tests/engine/player.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/party.h"

typedef struct {
    result_t *result;
    bool started, done, checked;
    uint64_t begun;
    void *send, *recv;
} play_t;

typedef struct {
    stage_t *stage;
    const schedule_t *schedule;
    uint32_t rank;
    oc_job_settings_t settings;
    oc_counters_t counters;
    oc_client_t *client;
    oc_group_t *groups[MAX_SCHEDULE_GROUPS];
    party_t parties[MAX_SCHEDULE_GROUPS];
    play_t plays[MAX_OPERATIONS];
    unsigned long long succeeded;
} player_t;

static void __attribute__((noreturn)) fail(const player_t *player, unsigned operation,
                                           const char *what)
{
    fprintf(stderr, "seed %llu, rank %u, operation %u: %s\n",
            (unsigned long long) player->schedule->seed, player->rank, operation, what);
    for (unsigned i = 0; i < player->schedule->num_groups; i++) {
        if (NULL != player->groups[i]) {
            fprintf(stderr, "    group %u: state %d, \"%s\"\n", i,
                    (int) oc_group_state(player->groups[i]),
                    oc_group_reason(player->groups[i]));
        }
    }
    _exit(EXIT_FAILURE);
}

int schedule_place(const schedule_t *schedule, unsigned operation, uint32_t rank)
{
    const members_t *group = &schedule->groups[schedule->operations[operation].group];

    for (unsigned i = 0; i < group->num_members; i++) {
        if (group->members[i] == rank) {
            return (int) i;
        }
    }
    return -1;
}

static void on_finished(void *arg, oc_status_t status)
{
    play_t *play = arg;

    if (play->done) {
        fprintf(stderr, "finished was called twice\n");
        _exit(EXIT_FAILURE);
    }
    play->done = true;
    atomic_store(&play->result->status, status);
}

static oc_group_t *group_of(player_t *player, unsigned number)
{
    const members_t *members = &player->schedule->groups[number];
    party_t *party = &player->parties[number];
    char name[32];

    if (NULL == player->groups[number]) {
        *party = (party_t) {.board = &player->stage->boards[number], .job = &player->stage->job,
                            .num_ranks = members->num_members, .members = members->members,
                            .gone = player->stage->gone};
        while (members->members[party->rank] != player->rank) {
            party->rank++;
        }
        snprintf(name, sizeof(name), "group %u", number);
        player->groups[number] = party_group(party, player->client, name);
    }
    return player->groups[number];
}

static void make_vectors(const player_t *player, unsigned number, play_t *play)
{
    const operation_t *operation = &player->schedule->operations[number];
    size_t bytes = operation->count * oc_type_size(operation->type);

    play->recv = calloc(1, bytes);
    play->send = operation->in_place ? play->recv : malloc(bytes);
    fill_contribution(play->send, operation->type, operation->count,
                      (uint32_t) schedule_place(player->schedule, number, player->rank), number);
}

static void start(player_t *player, unsigned number)
{
    const operation_t *operation = &player->schedule->operations[number];
    play_t *play = &player->plays[number];
    oc_allreduce_args_t args = {.count = operation->count, .op = operation->op,
                                .type = operation->type, .finished = on_finished, .arg = play};
    oc_group_t *group = group_of(player, operation->group);
    oc_status_t status;

    make_vectors(player, number, play);
    args.send = play->send;
    args.recv = play->recv;
    play->result = &player->stage->results[player->rank][number];
    play->begun = oc_clock_ns();
    play->started = true;
    status = oc_allreduce_start(group, &args);
    if (OC_OK != status) {
        on_finished(play, status);
    }
}

static void check(player_t *player, unsigned number)
{
    const operation_t *operation = &player->schedule->operations[number];
    play_t *play = &player->plays[number];
    size_t bytes = operation->count * oc_type_size(operation->type);
    int status = atomic_load(&play->result->status);
    void *expected = malloc(bytes);
    bool right;

    fill_expected(expected, operation->op, operation->type, operation->count,
                  player->schedule->groups[operation->group].num_members, number);
    right = 0 == memcmp(play->recv, expected, bytes);
    free(expected);
    atomic_store(&play->result->right, right);
    if (OC_OK == status && !right) {
        fail(player, number, "the result is wrong");
    }
    if (OC_OK != status && OC_DECLINED != status
        && OC_GROUP_FAILED != oc_group_state(player->groups[operation->group])) {
        fail(player, number, "an error, but its group has not failed");
    }
    player->succeeded += OC_OK == status;
    play->checked = true;
    if (play->send != play->recv) {
        free(play->send);
    }
    free(play->recv);
}

/* Time since its beginning, or since everything that disturbed it, whatever was later. */
static uint64_t waited(const player_t *player, const play_t *play)
{
    uint64_t now = oc_clock_ns(), from = atomic_load(&player->stage->disturbed_until);

    from = play->begun > from ? play->begun : from;
    return now > from ? now - from : 0;
}

static void note_wait(const player_t *player, const play_t *play)
{
    unsigned long long mine = waited(player, play);
    unsigned long long longest = atomic_load(&player->stage->longest);

    while (mine > longest
           && !atomic_compare_exchange_weak(&player->stage->longest, &longest, mine)) {
    }
}

static void finish(player_t *player, unsigned number)
{
    play_t *play = &player->plays[number];
    unsigned idle = 0;

    while (!play->done) {
        if (oc_client_progress(player->client) > 0) {
            idle = 0;
        } else if (waited(player, play) > PATIENCE) {
            fail(player, number, "it hangs");
        } else if (++idle > 20) {
            oc_client_wait(player->client, 300);
        }
    }
    note_wait(player, play);
    check(player, number);
}

static void finish_all(player_t *player, unsigned up_to)
{
    for (unsigned i = 0; i < up_to; i++) {
        if (player->plays[i].started && !player->plays[i].checked) {
            finish(player, i);
        }
    }
}

static void play_all(player_t *player)
{
    const schedule_t *schedule = player->schedule;

    for (unsigned i = 0; i < schedule->num_operations; i++) {
        const operation_t *operation = &schedule->operations[i];

        atomic_store(&player->stage->at[player->rank], i);
        if (operation->late_rank == player->rank && operation->late_us > 0) {
            usleep(operation->late_us);
        }
        if (schedule_place(schedule, i, player->rank) < 0) {
            continue;
        }
        start(player, i);
        if (operation->wait) {
            finish_all(player, i + 1);
        }
    }
    finish_all(player, schedule->num_operations);
}

static void read_settings(player_t *player)
{
    const schedule_t *schedule = player->schedule;

    player->settings = test_settings(player->stage->servers);
    player->settings.connect_timeout = schedule->connect_timeout;
    player->settings.heartbeat_timeout = schedule->heartbeat_timeout;
    player->settings.small_size = schedule->small_size;
    player->settings.chunk_size = schedule->chunk_size;
    player->settings.window = schedule->window;
}

void player_run(stage_t *stage, uint32_t rank)
{
    static player_t player;
    oc_client_config_t config = {.settings = &player.settings, .counters = &player.counters,
                                 .process = rank};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(480);
    player.stage = stage;
    player.schedule = &stage->schedule;
    player.rank = rank;
    read_settings(&player);
    if (OC_OK != oc_client_create(&config, &player.client)) {
        fail(&player, 0, "there is no client");
    }
    play_all(&player);
    if (0 != oc_client_pending(player.client)) {
        fail(&player, player.schedule->num_operations, "something is pending after the end");
    }
    if (player.succeeded != player.counters.allreduce_offloaded) {
        fail(&player, player.schedule->num_operations, "the counter of offloads is wrong");
    }
    for (unsigned i = 0; i < player.schedule->num_groups; i++) {
        oc_group_destroy(player.groups[i]);
    }
    oc_client_destroy(player.client);
    exit(EXIT_SUCCESS);
}
