/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that make something many times, and what they take before and after. */
#include "bench/size/footprint.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/size/members.h"
#include "client/state/record.h"

#define SECONDS 20

/* Runs it in a child, which leaves its answer in memory that is shared; false: it failed. */
static bool in_child(bool (*run)(const void *arg, void *answer), const void *arg, void *answer,
                     size_t size)
{
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    pid_t pid;

    fflush(NULL);
    pid = MAP_FAILED == shared ? -1 : fork();
    if (0 == pid) {
        _exit(run(arg, shared) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    if (pid < 0 || pid != waitpid(pid, &status, 0) || 0 != status) {
        return false;
    }
    memcpy(answer, shared, size);
    munmap(shared, size);
    return true;
}

static double resident(void)
{
    return (double) memory_kib_of(getpid(), "VmRSS");
}

/* ---- endpoints ---- */

typedef struct {
    const oc_crowd_t *crowd;
    unsigned count;
} endpoints_t;

static void ignore(void *arg)
{
    (void) arg;
}

static bool open_endpoints(const void *arg, void *answer)
{
    const endpoints_t *endpoints = arg;
    oc_endpoint_t *endpoint;
    oc_worker_t *worker;
    char error[256];
    double before;

    if (OC_OK != oc_worker_open(NULL, &worker, error, sizeof(error))) {
        return false;
    }
    before = resident();
    for (unsigned i = 0; i < endpoints->count; i++) {
        if (OC_OK != oc_endpoint_open(worker, endpoints->crowd->shared->worker_address, ignore,
                                      NULL, &endpoint)) {
            return false;
        }
    }
    *(double *) answer = resident() - before;
    return true;
}

double oc_memory_of_endpoints(const oc_crowd_t *crowd, unsigned count)
{
    endpoints_t endpoints = {.crowd = crowd, .count = count};
    double kib = 0;

    return in_child(open_endpoints, &endpoints, &kib, sizeof(kib)) ? kib : 0;
}

/* ---- a rank ---- */

typedef struct {
    const test_server_t *server;
    unsigned ranks;
} whole_t;

/* What the bootstrap of a rank knows: all others say what this one does, each on a host alone. */
typedef struct {
    const whole_t *whole;
    oc_exchange_t exchange;
    double most;               /* KiB of the heap, at the vote */
} others_t;

static double heap(void)
{
    struct mallinfo2 info = mallinfo2();

    return (double) (info.uordblks + info.hblkhd) / 1024;
}

static oc_status_t others_job(void *context, oc_job_t *job)
{
    (void) context;
    fill_random(job->id, sizeof(job->id));
    fill_random(job->key, sizeof(job->key));
    return OC_OK;
}

static oc_status_t others_begin(void *context, const oc_exchange_t *exchange)
{
    ((others_t *) context)->exchange = *exchange;
    return OC_OK;
}

static oc_status_t others_start(void *context, oc_exchange_step_t step)
{
    others_t *others = context;
    uint8_t *records = others->exchange.records;
    oc_record_t record;

    if (OC_EXCHANGE_VOTE == step) {
        others->most = heap();
        memcpy(others->exchange.outcome, others->exchange.vote, OC_VOTE_WORDS * sizeof(int64_t));
        return OC_OK;
    }
    if (!oc_record_decode(others->exchange.record, &record)) {
        return OC_ERR_INVALID;
    }
    for (unsigned rank = 0; rank < others->whole->ranks; rank++) {
        record.host = record.offer.node = rank + 1;
        oc_record_encode(&record, records + rank * others->exchange.size);
    }
    return OC_OK;
}

static oc_status_t others_test(void *context)
{
    (void) context;
    return OC_OK;
}

static void others_end(void *context)
{
    (void) context;
}

static const oc_bootstrap_t bootstrap = {.job = others_job, .begin = others_begin,
                                         .start = others_start, .test = others_test,
                                         .end = others_end};

static void on_finished(void *arg, oc_status_t status)
{
    (void) arg;
    (void) status;
}

/* Its first collective begins the set-up, and is none that the group takes: nobody else comes. */
static bool set_up(oc_client_t *client, others_t *others)
{
    static const char text[] = "[allreduce large]\noffload = 1M-\n";
    static oc_rules_t rules;
    char error[256];
    oc_group_params_t params = {.service = OC_SERVICE_AGGREGATION,
                                .num_ranks = others->whole->ranks, .lowest_on_host = true,
                                .max_hosts = others->whole->ranks, .name = "size",
                                .rules = &rules,
                                .bootstrap = &bootstrap, .context = others};
    static float vector[1];
    oc_allreduce_args_t args = {.send = vector, .recv = vector, .count = 1, .op = OC_OP_SUM,
                                .type = OC_TYPE_FLOAT, .finished = on_finished};
    uint64_t end = oc_clock_ns() + SECONDS * OC_SECOND;
    oc_group_t *group;

    if (OC_OK != oc_rules_parse("", text, sizeof(text) - 1, &rules, error, sizeof(error))
        || OC_OK != oc_group_create(client, &params, &group)
        || OC_OK != oc_allreduce_start(group, &args)) {
        return false;
    }
    while (OC_GROUP_SETTING_UP == oc_group_state(group) && oc_clock_ns() < end) {
        (void) oc_client_progress(client);
    }
    if (OC_GROUP_LIVE != oc_group_state(group)) {
        fprintf(stderr, "optcast-bench-size: %s\n", oc_group_reason(group));
    }
    return OC_GROUP_LIVE == oc_group_state(group);
}

static double memory_of_worker(void)
{
    double before = resident();
    oc_worker_t *worker;
    char error[256];

    return OC_OK == oc_worker_open(NULL, &worker, error, sizeof(error)) ? resident() - before : 0;
}

static bool be_rank(const void *arg, void *answer)
{
    const whole_t *whole = arg;
    oc_rank_memory_t *memory = answer;
    others_t others = {.whole = whole};
    oc_job_settings_t settings;
    oc_counters_t counters = {0};
    oc_client_config_t config = {.settings = &settings, .counters = &counters};
    oc_client_t *client;
    double before;

    oc_settings_default(&oc_job_settings_table, &settings);
    settings.servers = whole->server->address;
    settings.mode = OC_MODE_ALWAYS;
    settings.progress = OC_PROGRESS_MPI;
    settings.peer_aggregation = OC_PEERS_OFF;
    memory->ucx = memory_of_worker();
    if (OC_OK != oc_client_create(&config, &client)) {
        return false;
    }
    /* whatever is made once is there after a small one */
    others.whole = &(whole_t) {.server = whole->server, .ranks = 2};
    if (!set_up(client, &others)) {
        return false;
    }
    others.whole = whole;
    memory->process = resident();
    before = heap();
    if (!set_up(client, &others)) {
        return false;
    }
    memory->live = heap() - before;
    memory->setup = others.most - before;
    return true;
}

bool oc_memory_of_rank(const test_server_t *server, unsigned ranks, oc_rank_memory_t *memory)
{
    whole_t whole = {.server = server, .ranks = ranks};

    return in_child(be_rank, &whole, memory, sizeof(*memory));
}
