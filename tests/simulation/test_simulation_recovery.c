/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the random schedules of a job that loses its servers, in virtual time: the engine and the servers as they are, on
 * simulated hosts, networks and clocks. Servers are killed, stopped, cut off, drained, lose their power and come back;
 * endpoints break; ranks stand still. Whatever happens, every operation ends, on all ranks in the same way, with the bits
 * of a loop over the ranks, and no buffer is touched afterwards.
 *
 * Each schedule is a function of its number: --first N --count 1 runs it again, and TRACE=1 in the environment tells what
 * happens in it. From the first one on, a few that have found errors are run, too.
 */
/* Test: quick 60 -- --count 100; default 400 -- --count 2000; all 1800 -- --count 10000; sanitizers: all 1800 -- --count 300 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "tests/simulation/messages.h"
#include "tests/simulation/service.h"
#include "tests/simulation/sockets.h"
#include "tests/simulation/workload.h"

#define SERVERS 3
#define FAULTS  6
#define FIRST_SERVER_HOST 8u

/* Of the system's time: a schedule takes some milliseconds. */
#define HUNG 120

#define ENOUGH 200

/* So long after the death of a rank the others are ended. */
#define LAUNCHER (10 * OC_SECOND)

/* After the last fault, and what ranks compute at most. */
#define LIMIT (90 * OC_SECOND)

typedef enum {
    FAULT_KILL,
    FAULT_STOP,
    FAULT_STOP_ALL,
    FAULT_UNPLUG,
    FAULT_APART,
    FAULT_DARK,
    FAULT_BREAK,
    FAULT_DRAIN,
    FAULT_STILL,
    FAULT_RANK,              /* drawn by itself */
    NUM_FAULTS,
} fault_kind_t;

static const char *const names[NUM_FAULTS] = {
    [FAULT_KILL] = "killed", [FAULT_STOP] = "stopped", [FAULT_STOP_ALL] = "all stopped", [FAULT_UNPLUG] = "cut off",
    [FAULT_APART] = "cut off from a rank", [FAULT_DARK] = "without power",
    [FAULT_BREAK] = "a broken endpoint", [FAULT_DRAIN] = "drained", [FAULT_STILL] = "rank that stands still",
    [FAULT_RANK] = "rank that is killed",
};

typedef struct {
    fault_kind_t kind;
    unsigned server, rank;
    uint64_t lasts, restart;     /* ns; restart 0: never */
} fault_t;

/* What all schedules have seen together, in shared memory. */
typedef struct {
    unsigned long long faults[NUM_FAULTS], operations, declined, recoveries, returns, repeated, supplied, digest;
} tally_t;

static tally_t *tally;

static struct {
    process_t *servers[SERVERS];
    unsigned num_servers, aggregators;
    workload_t workload;
    oc_job_settings_t settings;
    char list[128];
    fault_t faults[FAULTS];
    unsigned num_faults;
    uint64_t last;               /* until then something happens from outside */
} schedule;

/* ---- faults ---- */

static void on_restart(void *owner, const event_t *event)
{
    process_t **server = owner;
    unsigned number = (unsigned) (server - schedule.servers);

    (void) event;
    world_host(FIRST_SERVER_HOST + number)->dark = false;
    if ((*server)->dead) {
        world_trace("server %u comes back", number);
        *server = service_start(FIRST_SERVER_HOST + number, schedule.aggregators);
    }
}

static const event_kind_t restart = {.happen = on_restart};

static void on_continue(void *owner, const event_t *event)
{
    (void) event;
    world_trace("%s goes on", ((process_t *) owner)->name);
    process_continue(owner);
}

static const event_kind_t go_on = {.happen = on_continue};

static void on_plugged(void *owner, const event_t *event)
{
    (void) event;
    world_trace("a host is plugged in");
    ((host_t *) owner)->unplugged = false;
}

static const event_kind_t plugged = {.happen = on_plugged};

static void on_together(void *owner, const event_t *event)
{
    host_t *server = owner, *rank = event->thing;

    world_trace("a rank reaches a server again");
    server->apart = rank->apart = 0;
}

static const event_kind_t together = {.happen = on_together};

/* From all of the rank's host. */
static void part(unsigned server, unsigned rank, uint64_t lasts)
{
    host_t *a = world_host(server), *b = world_host(rank);

    a->apart |= 1u << rank;
    b->apart |= 1u << server;
    world_plan(lasts, &together, a, b);
}

/* As launchers do soon: ranks that have lost servers and wait for the dead one may not know. */
static void on_launcher(void *owner, const event_t *event)
{
    (void) owner;
    (void) event;
    for (unsigned i = 0; i < schedule.workload.ranks; i++) {
        workload_kill(i);
    }
}

static const event_kind_t launcher = {.happen = on_launcher};

static void halt(process_t *process, uint64_t lasts)
{
    process_stop(process);
    world_plan(lasts, &go_on, process, NULL);
}

static void strike(const fault_t *fault)
{
    process_t *server = schedule.servers[fault->server];
    host_t *host = world_host(FIRST_SERVER_HOST + fault->server);

    switch (fault->kind) {
    case FAULT_DARK:
        host->dark = true;
        service_kill(server);
        break;
    case FAULT_KILL:
        service_kill(server);
        break;
    case FAULT_STOP:
        halt(server, fault->lasts);
        break;
    case FAULT_STOP_ALL:
        for (unsigned i = 0; i < schedule.num_servers; i++) {
            halt(schedule.servers[i], fault->lasts);
        }
        break;
    case FAULT_APART:
        part(FIRST_SERVER_HOST + fault->server, workload_rank(fault->rank)->host, fault->lasts);
        break;
    case FAULT_UNPLUG:
        host->unplugged = true;
        world_plan(fault->lasts, &plugged, host, NULL);
        break;
    case FAULT_BREAK:
        if (world_chance(0.6)) {
            workers_break_one(workload_rank(fault->rank), server);
        } else {
            workers_break_one(server, workload_rank(fault->rank));
        }
        break;
    case FAULT_DRAIN:
        service_drain(server, 10 * OC_SECOND);
        break;
    case FAULT_RANK:
        workload_kill(fault->rank);
        world_plan(LAUNCHER, &launcher, NULL, NULL);
        break;
    default:
        halt(workload_rank(fault->rank), fault->lasts);
    }
}

static void on_fault(void *owner, const event_t *event)
{
    const fault_t *fault = owner;

    (void) event;
    if (FAULT_STILL != fault->kind && FAULT_RANK != fault->kind && schedule.servers[fault->server]->dead) {
        return;
    }
    world_trace("fault: server %u, rank %u: %s", fault->server, fault->rank, names[fault->kind]);
    tally->faults[fault->kind]++;
    strike(fault);
    if (fault->restart > 0) {
        world_plan(fault->restart, &restart, &schedule.servers[fault->server], NULL);
    }
}

static void plan_fault(fault_t *fault, uint64_t at)
{
    static const event_kind_t kind = {.happen = on_fault};
    bool ends;

    *fault = (fault_t) {.kind = (fault_kind_t) world_random(FAULT_RANK),
                        .server = (unsigned) world_random(schedule.num_servers),
                        .rank = (unsigned) world_random(schedule.workload.ranks),
                        .lasts = world_chance(0.5) ? world_random(200 * OC_MILLISECOND) : world_random(8 * OC_SECOND)};
    ends = FAULT_KILL == fault->kind || FAULT_DARK == fault->kind || FAULT_DRAIN == fault->kind;
    fault->restart = ends && world_chance(0.7) ? 1 + world_random(5 * OC_SECOND) : 0;
    if (FAULT_DRAIN == fault->kind && fault->restart > 0) {
        fault->restart += 11 * OC_SECOND;
    }
    world_plan(at, &kind, fault, NULL);
    at += world_now() + fault->lasts + fault->restart;
    schedule.last = at > schedule.last ? at : schedule.last;
}

/* ---- a schedule ---- */

static void draw_job(void)
{
    schedule.num_servers = 1 + (unsigned) world_random(SERVERS);
    schedule.aggregators = 1 + (unsigned) world_random(2);
    schedule.workload = (workload_t) {
        .ranks = 2 + (unsigned) world_random(WORKLOAD_RANKS - 1),
        .operations = 3 + (unsigned) world_random(WORKLOAD_OPERATIONS - 2),
        .groups = 1 + (unsigned) world_random(2),
        .most_at_once = 1 + (unsigned) world_random(4),
        .nodes = world_chance(0.3),
        .pause = world_chance(0.5) ? world_random(50 * OC_MILLISECOND) : world_random(3 * OC_SECOND),
    };
    for (unsigned i = 0; i < schedule.num_servers; i++) {
        snprintf(schedule.list + strlen(schedule.list), sizeof(schedule.list) - strlen(schedule.list), "%s10.77.0.%u:%u",
                 i > 0 ? "," : "", FIRST_SERVER_HOST + i + 1, SERVICE_PORT);
        schedule.servers[i] = service_start(FIRST_SERVER_HOST + i, schedule.aggregators);
    }
    oc_settings_default(&oc_job_settings_table, &schedule.settings);
    schedule.settings.mode = OC_MODE_ALWAYS;
    schedule.settings.servers = schedule.list;
    schedule.settings.chunk_size = 8192;
    schedule.settings.window = 2 + (int) world_random(6);
    schedule.settings.multicast = OC_MULTICAST_OFF;
    schedule.settings.peer_aggregation = world_chance(0.8) ? OC_PEERS_OFF : OC_PEERS_AUTO;
    schedule.settings.progress = world_chance(0.5) ? OC_PROGRESS_THREAD : OC_PROGRESS_MPI;
    schedule.settings.connect_timeout = 4;
    schedule.settings.heartbeat_timeout = 3;
}

static bool never(void *arg)
{
    (void) arg;
    return false;
}

static bool is_set_up(void *arg)
{
    (void) arg;
    return workload_is_set_up();
}

/* Many come while ranks settle what the one before has done. */
static void draw_faults(void)
{
    uint64_t at = world_random(world_chance(0.7) ? 10 * OC_MILLISECOND : 3 * OC_SECOND);

    schedule.num_faults = (unsigned) world_random(FAULTS + 1);
    for (unsigned i = 0; i < schedule.num_faults; i++) {
        plan_fault(&schedule.faults[i], at);
        at += world_random(world_chance(0.6) ? 20 * OC_MILLISECOND : 4 * OC_SECOND);
    }
    /* what the memory of a host shows of a dead process is not simulated */
    if (schedule.num_faults > 0 && !schedule.workload.nodes && world_chance(0.06)) {
        schedule.faults[world_random(schedule.num_faults)].kind = FAULT_RANK;
    }
}

static void trace_log(oc_log_level_t level, const char *line)
{
    (void) level;
    world_trace("says: %s", line);
}

static void run_schedule(uint64_t seed)
{
    oc_counters_t sum = {0};
    char text[512];
    uint64_t limit;

    alarm(HUNG);
    world_begin(seed);
    oc_log_set_sink(trace_log);
    oc_log_set_level(NULL != getenv("TRACE") ? OC_LOG_DEBUG : OC_LOG_ERROR);
    draw_job();
    (void) world_run(never, NULL, world_now() + 50 * OC_MILLISECOND);
    workload_start(&schedule.workload, &schedule.settings);
    if (world_chance(0.85) && !world_run(is_set_up, NULL, world_now() + LIMIT)) {
        world_fail("no group was set up");
    }
    schedule.last = world_now();
    draw_faults();
    limit = schedule.last + 2 * schedule.workload.operations * schedule.workload.pause + LIMIT;
    if (!world_run(workload_is_over, NULL, limit)) {
        workload_describe(text, sizeof(text));
        world_fail("it is not over: %s", text);
    }
    workload_check(&sum);
    /* one that is stopped meanwhile has still to clear up */
    do {
        if (!world_run(services_are_idle, NULL, world_now() + LIMIT)) {
            world_fail("a server still has clients");
        }
        (void) world_run(never, NULL, world_now() + OC_SECOND);
    } while (!services_are_idle(NULL));
    services_check();
    tally->operations += sum.allreduce_offloaded;
    tally->recoveries += sum.recoveries;
    tally->returns += sum.returns;
    tally->declined += sum.failures;
    tally->repeated += sum.bytes_repeated;
    tally->supplied += sum.bytes_supplied;
    tally->digest ^= world_digest() * (seed + 1);
}

static unsigned long long number_of(const char *text)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);

    if ('\0' != *end || end == text) {
        fprintf(stderr, "'%s' is no number\n", text);
        exit(2);
    }
    return number;
}

/* Each in a process of its own, which has nothing of the ones before. Returns whether it went well. */
static bool run_apart(uint64_t seed)
{
    int status;
    pid_t pid = fork();

    if (0 == pid) {
        run_schedule(seed);
        _exit(EXIT_SUCCESS);
    }
    if (pid < 0 || pid != waitpid(pid, &status, 0) || 0 != status) {
        fprintf(stderr, "schedule %" PRIu64 " failed%s\n", seed,
                pid > 0 && WIFSIGNALED(status) ? ": it was ended by a signal" : "");
        return false;
    }
    return true;
}

static void report(uint64_t count, uint64_t failed)
{
    for (unsigned i = 0; i < NUM_FAULTS; i++) {
        printf("%s: %llu\n", names[i], tally->faults[i]);
    }
    printf("%" PRIu64 " schedules, %" PRIu64 " failed; %llu operations, %llu left to MPI, %llu recoveries, %llu returns, %llu bytes repeated, "
           "%llu bytes supplied; digest %llx\n", count, failed, tally->operations, tally->declined, tally->recoveries,
           tally->returns, tally->repeated, tally->supplied, tally->digest);
}

/* In so many schedules all that can happen does: a test of nothing would be no success. */
static bool has_seen_all(uint64_t count)
{
    for (unsigned i = 0; i < NUM_FAULTS; i++) {
        if (0 == tally->faults[i]) {
            return count < ENOUGH;
        }
    }
    return count < ENOUGH
           || (tally->recoveries > 0 && tally->returns > 0 && tally->repeated > 0 && tally->supplied > 0
               && tally->declined < tally->operations / 10);
}

/* Rare ones, each of which an error was found by. They are others where what is drawn, or when, is changed. */
static const uint64_t found[] = {105223, 210834, 217205, 600726, 1096528, 1227415, 2025555};

static uint64_t run_found(void)
{
    uint64_t failed = 0;

    for (unsigned i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        failed += !run_apart(found[i]);
    }
    return failed;
}

int main(int argc, char **argv)
{
    uint64_t first = 1, count = 200, failed = 0;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (0 == strcmp(argv[i], "--first")) {
            first = number_of(argv[i + 1]);
        } else if (0 == strcmp(argv[i], "--count")) {
            count = number_of(argv[i + 1]);
        } else {
            fprintf(stderr, "usage: %s [--first N] [--count N]\n", argv[0]);
            return 2;
        }
    }
    tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    failed = 1 == first ? run_found() : 0;
    for (uint64_t i = 0; i < count && failed < 20; i++) {
        failed += !run_apart(first + i);
    }
    report(count, failed);
    return 0 == failed && has_seen_all(count) ? EXIT_SUCCESS : EXIT_FAILURE;
}
