/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the test of random fault schedules: jobs of several ranks on real servers, and faults at
 * random moments. Whatever happens: no operation hangs, no result is wrong, a large result that
 * one rank has the others have too, nothing fails without a fault, and servers keep nothing.
 *
 *   test_engine_schedules [--seed FIRST] [--count N] [--jobs N] [--verbose]
 *
 * --seed N --count 1 repeats one schedule.
 */
/* Test: quick 120; default 240 -- --count 30 --seed $SEED; all 420 -- --count 200 --seed $SEED */
/* Test: sanitizers: default 120; threads: all 240 -- --count 8 --jobs 2 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/player.h"
#include "tests/engine/proxy.h"

#define MAX_JOBS 16

/* A data process is gone that long after its job, even if a client's end is learned late. */
#define SERVER_PATIENCE (15 * OC_SECOND)

/* A supervisor may grow by this much over its jobs: allocators keep a little. */
#define GROWTH_KIB 512

/* A server that serves one schedule after the other until a fault ends it. */
typedef struct {
    test_server_t server;     /* pid 0: not started */
    unsigned descriptors;
    unsigned long long memory_kib;   /* after its first job; 0: not yet */
    unsigned jobs;
} slot_t;

/* Of all jobs of this test, in shared memory. */
typedef struct {
    atomic_uint next;         /* schedule to be played */
    atomic_uint failed, fired[NUM_FAULTS];
    atomic_ulong succeeded, errors, declined, committed_errors;
    atomic_uint most_jobs;    /* that one server has served */
    atomic_ullong longest;
} totals_t;

typedef struct {
    stage_t *stage;
    totals_t *totals;
    slot_t slots[MAX_SCHEDULE_SERVERS][MAX_AGGREGATOR_COUNT + 1];
    proxy_t *proxies;         /* shared with the processes that they are */
    bool verbose;
    /* of the schedule that is being played */
    slot_t *used[MAX_SCHEDULE_SERVERS];
    pid_t pids[MAX_SCHEDULE_RANKS];
    bool killed[MAX_SCHEDULE_RANKS];
    bool ended[MAX_SCHEDULE_SERVERS];      /* supervisors that were told to stop, or killed */
    bool drained[MAX_SCHEDULE_SERVERS];
    pid_t data[MAX_SCHEDULE_SERVERS];      /* stopped data processes */
    uint64_t trigger[MAX_SCHEDULE_FAULTS], end[MAX_SCHEDULE_FAULTS];
    bool fired[MAX_SCHEDULE_FAULTS], over[MAX_SCHEDULE_FAULTS];
    bool bad;
} lane_t;

static void complain(lane_t *lane, const char *what)
{
    fprintf(stderr, "seed %llu: %s\n", (unsigned long long) lane->stage->schedule.seed, what);
    lane->bad = true;
}

/* ---- servers as seen from outside ---- */

static unsigned count_descriptors(pid_t pid)
{
    unsigned count = 0;
    char path[64];
    DIR *folder;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int) pid);
    folder = opendir(path);
    while (NULL != folder && NULL != readdir(folder)) {
        count++;
    }
    if (NULL != folder) {
        closedir(folder);
    }
    return count;
}

static void use_server(lane_t *lane, unsigned number)
{
    unsigned aggregators = lane->stage->schedule.aggregators[number];
    slot_t *slot = &lane->slots[number][aggregators];
    char text[16];
    const char *options[] = {"--aggregators", text, "--drain-timeout", "1", "--memory-limit",
                             "64M", NULL};

    snprintf(text, sizeof(text), "%u", aggregators);
    if (0 == slot->server.pid) {
        server_start(&slot->server, options);
        slot->descriptors = count_descriptors(slot->server.pid);
        slot->memory_kib = 0;
        slot->jobs = 0;
    }
    lane->used[number] = slot;
}

static void forget_server(slot_t *slot)
{
    close(slot->server.output);
    slot->server.pid = 0;
}

/* A log that nobody reads fills its pipe. Of a schedule that failed it is for the reader. */
static void drop_log(const lane_t *lane, const slot_t *slot)
{
    char bytes[4096];
    ssize_t length;

    (void) fcntl(slot->server.output, F_SETFL, O_NONBLOCK);
    while ((length = read(slot->server.output, bytes, sizeof(bytes))) > 0) {
        if (lane->bad) {
            fprintf(stderr, "%.*s", (int) length, bytes);
        }
    }
}

static bool data_process_left(const slot_t *slot)
{
    uint64_t end = oc_clock_ns() + SERVER_PATIENCE;

    while (child_of(slot->server.pid) > 0) {
        if (oc_clock_ns() > end) {
            return false;
        }
        usleep(3000);
    }
    return true;
}

static void expect_flat(lane_t *lane, slot_t *slot)
{
    uint64_t end = oc_clock_ns() + 10 * OC_SECOND;
    char text[128];
    unsigned count;
    unsigned long long kib;

    while ((count = count_descriptors(slot->server.pid)) > slot->descriptors
           && oc_clock_ns() < end) {
        usleep(3000);
    }
    if (count > slot->descriptors) {
        snprintf(text, sizeof(text), "the supervisor had %u descriptors and has %u",
                 slot->descriptors, count);
        complain(lane, text);
    } else {
        /* it has some more for a moment, as when it begins */
        slot->descriptors = count;
    }
    kib = memory_kib_of(slot->server.pid, "VmRSS");
    slot->memory_kib = 0 == slot->memory_kib ? kib : slot->memory_kib;
    if (MEASURES_MEMORY && kib > slot->memory_kib + GROWTH_KIB) {
        snprintf(text, sizeof(text), "the supervisor had %llu KiB and has %llu after %u jobs",
                 slot->memory_kib, kib, slot->jobs);
        complain(lane, text);
    }
}

/* It was told to stop, and has to be gone in order after its drain timeout. */
static void expect_drained(lane_t *lane, slot_t *slot)
{
    uint64_t end = oc_clock_ns() + SERVER_PATIENCE;
    int status = 0;

    while (slot->server.pid != waitpid(slot->server.pid, &status, WNOHANG)) {
        if (oc_clock_ns() > end) {
            complain(lane, "a drained server does not end");
            (void) kill(slot->server.pid, SIGKILL);
            (void) waitpid(slot->server.pid, &status, 0);
            return;
        }
        usleep(3000);
    }
    if (0 != status) {
        complain(lane, "a drained server ended with an error");
    }
}

static void settle_server(lane_t *lane, unsigned number)
{
    slot_t *slot = lane->used[number];
    unsigned most = atomic_load(&lane->totals->most_jobs);

    drop_log(lane, slot);
    if (lane->drained[number] && !lane->ended[number]) {
        expect_drained(lane, slot);
        forget_server(slot);
    } else if (lane->ended[number]) {
        (void) waitpid(slot->server.pid, NULL, 0);
        forget_server(slot);
    } else if (waitpid(slot->server.pid, NULL, WNOHANG) == slot->server.pid) {
        complain(lane, "a server ended by itself");
        forget_server(slot);
    } else {
        if (!data_process_left(slot)) {
            complain(lane, "a data process does not leave after its job");
        }
        expect_flat(lane, slot);
        slot->jobs++;
        while (slot->jobs > most
               && !atomic_compare_exchange_weak(&lane->totals->most_jobs, &most, slot->jobs)) {
        }
    }
}

/* ---- faults ---- */

static void strike_rank(lane_t *lane, const fault_t *fault)
{
    pid_t pid = lane->pids[fault->target];

    if (pid <= 0) {
        return;
    }
    if (FAULT_STOP_RANK == fault->kind) {
        (void) kill(pid, SIGSTOP);
        return;
    }
    (void) kill(pid, SIGKILL);
    (void) waitpid(pid, NULL, 0);
    lane->pids[fault->target] = 0;
    lane->killed[fault->target] = true;
    /* now that it gives nothing any more */
    atomic_store(&lane->stage->gone[fault->target], 1);
}

static void strike_data(lane_t *lane, const fault_t *fault)
{
    pid_t pid = child_of(lane->used[fault->target]->server.pid);

    if (pid > 0 && FAULT_KILL_DATA == fault->kind) {
        (void) kill(pid, SIGKILL);
    } else if (pid > 0) {
        (void) kill(pid, SIGSTOP);
        lane->data[fault->target] = pid;
    }
}

static void strike_supervisor(lane_t *lane, const fault_t *fault)
{
    pid_t pid = lane->used[fault->target]->server.pid;

    if (lane->ended[fault->target]) {
        return;
    }
    switch (fault->kind) {
    case FAULT_KILL_SUPERVISOR:
        (void) kill(pid, SIGKILL);
        lane->ended[fault->target] = true;
        break;
    case FAULT_STOP_SUPERVISOR:
        (void) kill(pid, SIGSTOP);
        break;
    default:
        (void) kill(pid, SIGTERM);
        lane->drained[fault->target] = true;
    }
}

static void strike_connection(lane_t *lane, const fault_t *fault)
{
    proxy_t *proxy = &lane->proxies[fault->target];
    unsigned bit = 1u << fault->connection;

    if (FAULT_CUT == fault->kind) {
        atomic_fetch_or(&proxy->cut, bit);
    } else if (FAULT_RESET == fault->kind) {
        atomic_fetch_or(&proxy->reset, bit);
    } else {
        atomic_fetch_or(&proxy->frozen, bit);
    }
}

static void strike(lane_t *lane, const fault_t *fault)
{
    switch (fault->kind) {
    case FAULT_KILL_RANK:
    case FAULT_STOP_RANK:
        strike_rank(lane, fault);
        break;
    case FAULT_KILL_DATA:
    case FAULT_STOP_DATA:
        strike_data(lane, fault);
        break;
    case FAULT_KILL_SUPERVISOR:
    case FAULT_STOP_SUPERVISOR:
    case FAULT_DRAIN:
        strike_supervisor(lane, fault);
        break;
    default:
        strike_connection(lane, fault);
    }
}

static void lift(lane_t *lane, const fault_t *fault)
{
    switch (fault->kind) {
    case FAULT_STOP_RANK:
        if (lane->pids[fault->target] > 0) {
            (void) kill(lane->pids[fault->target], SIGCONT);
        }
        break;
    case FAULT_STOP_DATA:
        if (lane->data[fault->target] > 0) {
            (void) kill(lane->data[fault->target], SIGCONT);
        }
        break;
    case FAULT_STOP_SUPERVISOR:
        if (!lane->ended[fault->target]) {
            (void) kill(lane->used[fault->target]->server.pid, SIGCONT);
        }
        break;
    case FAULT_FREEZE:
        atomic_fetch_and(&lane->proxies[fault->target].frozen, ~(1u << fault->connection));
        break;
    default:
        break;
    }
}

static void disturb_until(lane_t *lane, uint64_t when)
{
    if (when > atomic_load(&lane->stage->disturbed_until)) {
        atomic_store(&lane->stage->disturbed_until, when);
    }
}

/* The operation that the first rank is at. */
static unsigned furthest(const lane_t *lane)
{
    unsigned at = 0;

    for (uint32_t rank = 0; rank < lane->stage->schedule.num_ranks; rank++) {
        unsigned one = atomic_load(&lane->stage->at[rank]);

        at = one > at ? one : at;
    }
    return at;
}

/* at_end: nobody is there whom a fault could hit, and what was stopped goes on. */
static void inject(lane_t *lane, bool at_end)
{
    const schedule_t *schedule = &lane->stage->schedule;
    uint64_t now = oc_clock_ns();
    unsigned at = furthest(lane);

    for (unsigned i = 0; i < schedule->num_faults; i++) {
        const fault_t *fault = &schedule->faults[i];

        if (0 == lane->trigger[i] && at >= fault->at_operation) {
            lane->trigger[i] = now + fault->delay_us * 1000ull;
        }
        if (!lane->fired[i] && 0 != lane->trigger[i] && now >= lane->trigger[i] && !at_end) {
            lane->end[i] = now + fault->lasts_ms * OC_MILLISECOND;
            disturb_until(lane, lane->end[i]);
            lane->fired[i] = true;
            atomic_fetch_add(&lane->totals->fired[fault->kind], 1);
            strike(lane, fault);
        }
        if (lane->fired[i] && !lane->over[i]
            && (at_end || (FOR_EVER != fault->lasts_ms && now >= lane->end[i]))) {
            lane->over[i] = true;
            lift(lane, fault);
        }
    }
}

/* ---- a schedule ---- */

static void set_stage(lane_t *lane)
{
    stage_t *stage = lane->stage;
    const schedule_t *schedule = &stage->schedule;
    size_t length = 0;

    fill_random(&stage->job, sizeof(stage->job));
    for (unsigned i = 0; i < schedule->num_servers; i++) {
        const char *address;

        use_server(lane, i);
        address = lane->used[i]->server.address;
        if (schedule->through_proxy) {
            proxy_start(&lane->proxies[i], lane->used[i]->server.port);
            address = lane->proxies[i].address;
        }
        length += (size_t) snprintf(stage->servers + length, sizeof(stage->servers) - length,
                                    "%s%s", i > 0 ? "," : "", address);
    }
    for (unsigned rank = 0; rank < MAX_SCHEDULE_RANKS; rank++) {
        for (unsigned i = 0; i < MAX_OPERATIONS; i++) {
            atomic_store(&stage->results[rank][i].status, STATUS_NONE);
        }
    }
}

static void start_players(lane_t *lane)
{
    fflush(NULL);
    for (uint32_t rank = 0; rank < lane->stage->schedule.num_ranks; rank++) {
        lane->pids[rank] = fork();
        if (0 == lane->pids[rank]) {
            player_run(lane->stage, rank);
        }
    }
}

static unsigned reap_players(lane_t *lane)
{
    unsigned left = 0;
    int status;

    for (uint32_t rank = 0; rank < lane->stage->schedule.num_ranks; rank++) {
        if (lane->pids[rank] > 0
            && lane->pids[rank] == waitpid(lane->pids[rank], &status, WNOHANG)) {
            char text[80];

            lane->pids[rank] = 0;
            if (0 != status) {
                snprintf(text, sizeof(text), "rank %u ended with status 0x%x", rank, status);
                complain(lane, text);
                atomic_store(&lane->stage->gone[rank], 1);
            }
        }
        left += lane->pids[rank] > 0;
    }
    return left;
}

/* ---- judgement ---- */

static bool is_large(const schedule_t *schedule, unsigned number)
{
    const operation_t *operation = &schedule->operations[number];

    return operation->count * oc_type_size(operation->type) > schedule->small_size;
}

/* Also killed ranks count, with what they had. */
static void count_results(lane_t *lane, unsigned number, unsigned *ok, unsigned *errors,
                          unsigned *declined)
{
    const schedule_t *schedule = &lane->stage->schedule;

    *ok = *errors = *declined = 0;
    for (uint32_t rank = 0; rank < schedule->num_ranks; rank++) {
        int status = atomic_load(&lane->stage->results[rank][number].status);

        *ok += OC_OK == status;
        *declined += OC_DECLINED == status;
        *errors += status < 0;
        if (STATUS_NONE == status && !lane->killed[rank] && !lane->bad
            && schedule_place(schedule, number, rank) >= 0) {
            complain(lane, "a rank that was not killed has no outcome of an operation");
        }
    }
}

/* The promise of COMMIT: if one rank has returned with a large result, all others have it. */
static void expect_committed(lane_t *lane, unsigned number)
{
    const schedule_t *schedule = &lane->stage->schedule;

    for (uint32_t rank = 0; rank < schedule->num_ranks; rank++) {
        const result_t *result = &lane->stage->results[rank][number];
        char text[128];

        if (schedule_place(schedule, number, rank) < 0 || lane->killed[rank]) {
            continue;
        }
        atomic_fetch_add(&lane->totals->committed_errors, OC_OK != atomic_load(&result->status));
        if (!atomic_load(&result->right)) {
            snprintf(text, sizeof(text), "some rank returned from large operation %u, but rank "
                     "%u has not its result", number, rank);
            complain(lane, text);
        }
    }
}

static void judge(lane_t *lane)
{
    const schedule_t *schedule = &lane->stage->schedule;
    unsigned ok, errors, declined;

    for (unsigned i = 0; i < schedule->num_operations && !lane->bad; i++) {
        count_results(lane, i, &ok, &errors, &declined);
        atomic_fetch_add(&lane->totals->succeeded, ok);
        atomic_fetch_add(&lane->totals->errors, errors);
        atomic_fetch_add(&lane->totals->declined, declined);
        if (errors + declined > 0 && !schedule->harmful) {
            complain(lane, "operations failed without a reason");
        }
        if (declined > 0 && ok + errors > 0) {
            complain(lane, "some ranks declined what others did not");
        }
        if (ok > 0 && is_large(schedule, i)) {
            expect_committed(lane, i);
        }
    }
}

static void print_outcome(const lane_t *lane)
{
    const schedule_t *schedule = &lane->stage->schedule;

    for (uint32_t rank = 0; rank < schedule->num_ranks; rank++) {
        fprintf(stderr, "    rank %u:", rank);
        for (unsigned i = 0; i < schedule->num_operations; i++) {
            int status = atomic_load(&lane->stage->results[rank][i].status);

            if (schedule_place(schedule, i, rank) >= 0) {
                fprintf(stderr, STATUS_NONE == status ? " ?" : " %d", status);
            } else {
                fprintf(stderr, " .");
            }
        }
        fprintf(stderr, "%s\n", lane->killed[rank] ? " killed" : "");
    }
}

static void clear(lane_t *lane)
{
    memset(lane->used, 0, sizeof(lane->used));
    memset(lane->pids, 0, sizeof(lane->pids));
    memset(lane->killed, 0, sizeof(lane->killed));
    memset(lane->ended, 0, sizeof(lane->ended));
    memset(lane->drained, 0, sizeof(lane->drained));
    memset(lane->data, 0, sizeof(lane->data));
    memset(lane->trigger, 0, sizeof(lane->trigger));
    memset(lane->end, 0, sizeof(lane->end));
    memset(lane->fired, 0, sizeof(lane->fired));
    memset(lane->over, 0, sizeof(lane->over));
    memset(lane->proxies, 0, MAX_SCHEDULE_SERVERS * sizeof(*lane->proxies));
    memset((char *) lane->stage + sizeof(schedule_t), 0, sizeof(stage_t) - sizeof(schedule_t));
    lane->bad = false;
}

/* Plays the schedule that is on the stage. */
static void play(lane_t *lane)
{
    const schedule_t *schedule = &lane->stage->schedule;
    unsigned long long longest = atomic_load(&lane->totals->longest), mine;

    clear(lane);
    set_stage(lane);
    start_players(lane);
    while (reap_players(lane) > 0) {
        inject(lane, false);
        usleep(500);
    }
    inject(lane, true);
    judge(lane);
    for (unsigned i = 0; i < schedule->num_servers; i++) {
        settle_server(lane, i);
        if (schedule->through_proxy) {
            proxy_stop(&lane->proxies[i]);
        }
    }
    mine = atomic_load(&lane->stage->longest);
    while (mine > longest
           && !atomic_compare_exchange_weak(&lane->totals->longest, &longest, mine)) {
    }
    if (lane->bad) {
        atomic_fetch_add(&lane->totals->failed, 1);
        schedule_print(schedule, stderr);
        print_outcome(lane);
    }
}

/*
 * A server that went through a harmful schedule serves the next job as if nothing had been. The
 * others show it in schedules to come.
 */
static void play_plain(lane_t *lane)
{
    const schedule_t *schedule = &lane->stage->schedule;

    if (schedule->harmful && 0 != lane->used[0]->server.pid) {
        schedule_make_plain(&lane->stage->schedule, schedule->seed, schedule->aggregators[0]);
        play(lane);
    }
}

static void __attribute__((noreturn)) run_lane(totals_t *totals, uint64_t first, unsigned count,
                                               bool verbose)
{
    static lane_t lane;
    unsigned number;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    lane.totals = totals;
    lane.stage = shared_memory(sizeof(stage_t));
    lane.proxies = shared_memory(MAX_SCHEDULE_SERVERS * sizeof(proxy_t));
    while ((number = atomic_fetch_add(&totals->next, 1)) < count) {
        uint64_t begin = oc_clock_ns();

        schedule_make(&lane.stage->schedule, first + number);
        play(&lane);
        if (verbose) {
            printf("%.1f s, longest wait %.1f s: ", (double) (oc_clock_ns() - begin) / 1e9,
                   (double) atomic_load(&lane.stage->longest) / 1e9);
            schedule_print(&lane.stage->schedule, stdout);
        }
        play_plain(&lane);
    }
    for (unsigned i = 0; i < MAX_SCHEDULE_SERVERS * (MAX_AGGREGATOR_COUNT + 1); i++) {
        slot_t *slot = &lane.slots[i / (MAX_AGGREGATOR_COUNT + 1)][i % (MAX_AGGREGATOR_COUNT + 1)];

        if (0 != slot->server.pid && 0 != server_stop(&slot->server)) {
            fprintf(stderr, "a server ended with an error\n");
            atomic_fetch_add(&totals->failed, 1);
        }
    }
    exit(EXIT_SUCCESS);
}

static void report(const totals_t *totals, unsigned count)
{
    printf("%u schedules: %lu results, %lu errors (%lu with the whole result), %lu declined; the "
           "longest wait %.1f s; up to %u jobs a server;", count,
           atomic_load(&totals->succeeded), atomic_load(&totals->errors),
           atomic_load(&totals->committed_errors), atomic_load(&totals->declined),
           (double) atomic_load(&totals->longest) / 1e9, atomic_load(&totals->most_jobs));
    for (int i = 0; i < NUM_FAULTS; i++) {
        printf("%s %u times %s", i > 0 ? "," : "", atomic_load(&totals->fired[i]),
               fault_name((fault_kind_t) i));
    }
    printf("\n");
}

/* A run that meets no fault, or no result, has tested nothing. */
static bool was_worth_it(const totals_t *totals, unsigned count)
{
    bool all = atomic_load(&totals->succeeded) > 0;

    for (int i = 0; i < NUM_FAULTS && count >= 100; i++) {
        all = all && atomic_load(&totals->fired[i]) > 0;
    }
    return all && (count < 100 || atomic_load(&totals->errors) > 0);
}

typedef struct {
    uint64_t seed;
    unsigned count, jobs;
    bool verbose;
} choice_t;

static void read_options(int argc, char **argv, choice_t *choice)
{
    static const struct option options[] = {{"seed", required_argument, NULL, 's'},
                                            {"count", required_argument, NULL, 'c'},
                                            {"jobs", required_argument, NULL, 'j'},
                                            {"verbose", no_argument, NULL, 'v'}, {0}};
    int option;

    while (-1 != (option = getopt_long(argc, argv, "", options, NULL))) {
        switch (option) {
        case 's':
            choice->seed = strtoull(optarg, NULL, 10);
            break;
        case 'c':
            choice->count = (unsigned) strtoul(optarg, NULL, 10);
            break;
        case 'j':
            choice->jobs = (unsigned) strtoul(optarg, NULL, 10);
            break;
        case 'v':
            choice->verbose = true;
            break;
        default:
            exit(2);
        }
    }
    choice->jobs = choice->jobs > MAX_JOBS ? MAX_JOBS : choice->jobs;
}

int main(int argc, char **argv)
{
    choice_t choice = {.seed = 1, .count = 12, .jobs = 6};
    totals_t *totals = shared_memory(sizeof(*totals));
    int status;

    read_options(argc, argv, &choice);
    printf("seeds %llu to %llu\n", (unsigned long long) choice.seed,
           (unsigned long long) choice.seed + choice.count - 1);
    fflush(NULL);
    for (unsigned i = 0; i < choice.jobs; i++) {
        if (0 == fork()) {
            run_lane(totals, choice.seed, choice.count, choice.verbose);
        }
    }
    while (wait(&status) > 0) {
        atomic_fetch_add(&totals->failed, 0 != status);
    }
    report(totals, choice.count);
    return 0 == atomic_load(&totals->failed) && was_worth_it(totals, choice.count)
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
}
