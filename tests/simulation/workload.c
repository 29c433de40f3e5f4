/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the ranks of a simulated job, and what they must find. */
#include "tests/simulation/workload.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "reduction/reduction.h"
#include "tests/multicast/memory.h"
#include "tests/simulation/messages.h"
#include "tests/simulation/sockets.h"

#define SMALL 40u
#define LARGE 24000u
#define STEPS 40
#define RECORD 2048
#define GROUPS 2

/* Of no status. */
#define UNDER_WAY 99

typedef struct {
    unsigned group;
    uint32_t count;
    oc_result_to_t to;
    uint32_t root;
    bool in_place, blocking;
} operation_t;

typedef struct rank rank_t;

typedef struct {
    rank_t *rank;
    unsigned number;
    float *send, *recv;
    int outcome;                 /* oc_status_t or UNDER_WAY */
    uint64_t hash;               /* of recv when it ended */
} running_t;

/* What the ranks of a group know of each other. */
typedef struct {
    bool given[STEPS][WORKLOAD_RANKS];
    uint8_t records[WORKLOAD_RANKS][RECORD];
    int64_t votes[STEPS][WORKLOAD_RANKS][OC_VOTE_WORDS];
} notice_t;

typedef struct {
    rank_t *rank;
    notice_t *notice;
    oc_exchange_t exchange;
    int step;
    bool is_record;
} assembly_t;

struct rank {
    unsigned number, begun, done;
    process_t *process;
    oc_client_t *client;
    oc_counters_t counters;
    oc_group_t *groups[GROUPS];
    assembly_t assemblies[GROUPS];
    running_t running[WORKLOAD_OPERATIONS];
    bool arrived, over, dead;
};

static struct {
    const workload_t *workload;
    const oc_job_settings_t *settings;
    oc_job_t job;
    operation_t operations[WORKLOAD_OPERATIONS];
    rank_t ranks[WORKLOAD_RANKS];
    notice_t notices[GROUPS];
    unsigned patience;           /* us that a rank sleeps at most */
    bool may_fail;               /* a rank has died */
} all;

/* ---- what is reduced ---- */

static float element(unsigned rank, unsigned operation, uint32_t i)
{
    uint32_t bits = (i + 1) * 2654435761u ^ (rank + 1) * 40503u * (operation + 7);

    return (float) (bits >> 8 & 0xffff) * ((bits & 1) != 0 ? 1.37e-3f : 7e2f) + 0.1f;
}

/* Hosts add what their ranks have, and then these sums are added. */
static float expected_of_nodes(unsigned number, uint32_t i)
{
    float sum = 0;

    for (unsigned k = 0; k < all.workload->ranks; k += 2) {
        float node = element(k, number, i);

        if (k + 1 < all.workload->ranks) {
            node += element(k + 1, number, i);
        }
        sum = 0 == k ? node : sum + node;
    }
    return sum;
}

/* In rank order; the owner of a block adds its own as the last. */
static float expected_element(const operation_t *operation, unsigned number, unsigned owner, uint32_t i)
{
    bool owned = OC_RESULT_TO_BLOCKS == operation->to;
    unsigned ranks = all.workload->ranks;
    float sum = 0;

    if (all.workload->nodes) {
        return expected_of_nodes(number, i);
    }

    for (unsigned k = 0, added = 0; k < ranks; k++) {
        if (owned && k == owner) {
            continue;
        }
        sum = 0 == added++ ? element(k, number, i) : sum + element(k, number, i);
    }
    return owned ? sum + element(owner, number, i) : sum;
}

static uint64_t hash_of(const void *bytes, size_t length)
{
    const uint8_t *byte = bytes;
    uint64_t hash = 0xcbf29ce484222325ull;

    for (size_t i = 0; i < length; i += 8) {
        uint64_t word = 0;

        memcpy(&word, byte + i, length - i < 8 ? length - i : 8);
        hash = (hash ^ word) * 0x100000001b3ull;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool has_result(const rank_t *rank, const operation_t *operation)
{
    return OC_RESULT_TO_ROOT != operation->to || rank->number == operation->root;
}

static void check(const running_t *running)
{
    const rank_t *rank = running->rank;
    const operation_t *operation = &all.operations[running->number];
    uint32_t count = operation->count, first = 0;

    if (OC_RESULT_TO_BLOCKS == operation->to) {
        count /= all.workload->ranks;
        first = rank->number * count;
    }
    for (uint32_t i = 0; has_result(rank, operation) && i < count; i++) {
        float expected = expected_element(operation, running->number, rank->number, first + i);

        if (0 != memcmp(&expected, &running->recv[i], sizeof(expected))) {
            world_fail("rank %u, operation %u: element %u is %.9g and not %.9g", rank->number, running->number,
                       first + i, (double) running->recv[i], (double) expected);
        }
    }
}

/* ---- set-up ---- */

static oc_status_t assembly_job(void *context, oc_job_t *job)
{
    (void) context;
    *job = all.job;
    return OC_OK;
}

static oc_status_t assembly_begin(void *context, const oc_exchange_t *exchange)
{
    assembly_t *assembly = context;

    assembly->exchange = *exchange;
    assembly->step = -1;
    return exchange->size <= RECORD ? OC_OK : OC_ERR_LIMIT;
}

static oc_status_t assembly_start(void *context, oc_exchange_step_t step)
{
    assembly_t *assembly = context;
    unsigned number = assembly->rank->number;

    assembly->step++;
    assembly->is_record = OC_EXCHANGE_RECORDS == step;
    if (assembly->is_record) {
        memcpy(assembly->notice->records[number], assembly->exchange.record, assembly->exchange.size);
    } else {
        memcpy(assembly->notice->votes[assembly->step][number], assembly->exchange.vote,
               sizeof(assembly->notice->votes[0][0]));
    }
    assembly->notice->given[assembly->step][number] = true;
    return OC_OK;
}

static oc_status_t assembly_test(void *context)
{
    assembly_t *assembly = context;
    const notice_t *notice = assembly->notice;
    const oc_exchange_t *exchange = &assembly->exchange;

    for (unsigned i = 0; i < all.workload->ranks; i++) {
        if (!notice->given[assembly->step][i]) {
            return all.ranks[i].dead ? OC_ERR_UNREACHABLE : OC_IN_PROGRESS;
        }
    }
    memcpy(exchange->outcome, exchange->vote, sizeof(notice->votes[0][0]));
    for (unsigned i = 0; i < all.workload->ranks; i++) {
        if (assembly->is_record) {
            memcpy((uint8_t *) exchange->records + i * exchange->size, notice->records[i], exchange->size);
        } else {
            oc_vote_take(exchange->outcome, notice->votes[assembly->step][i]);
        }
    }
    return OC_OK;
}

static void assembly_end(void *context)
{
    (void) context;
}

static const oc_bootstrap_t assembly_bootstrap = {.job = assembly_job, .begin = assembly_begin, .start = assembly_start,
                                                  .test = assembly_test, .end = assembly_end};

static void make_group(rank_t *rank, unsigned index)
{
    assembly_t *assembly = &rank->assemblies[index];
    char name[16];
    oc_group_params_t params = {.num_ranks = all.workload->ranks, .rank = rank->number, .name = name,
                                .lowest_on_host = !all.workload->nodes || 0 == rank->number % 2,
                                .shares_host = all.workload->nodes, .node = 1 + rank->process->host,
                                .max_hosts = all.workload->ranks, .bootstrap = &assembly_bootstrap, .context = assembly};

    snprintf(name, sizeof(name), "group %u", index);
    *assembly = (assembly_t) {.rank = rank, .notice = &all.notices[index]};
    if (OC_OK != oc_group_create(rank->client, &params, &rank->groups[index])) {
        world_fail("rank %u cannot make a group", rank->number);
    }
}

/* ---- operations ---- */

static size_t bytes_of_result(const operation_t *operation)
{
    return operation->count * sizeof(float);
}

static void on_operation_finished(void *arg, oc_status_t status)
{
    running_t *running = arg;
    operation_t *operation = &all.operations[running->number];

    if (UNDER_WAY != running->outcome) {
        world_fail("rank %u, operation %u ended twice", running->rank->number, running->number);
    }
    running->outcome = status;
    running->rank->done++;
    world_trace("operation %u ends with %s%s%s", running->number, oc_status_string(status), OC_OK == status ? "" : ": ",
                OC_OK == status ? "" : oc_group_reason(running->rank->groups[operation->group]));
    world_mix(world_now());
    if (OC_OK == status) {
        check(running);
    } else if (OC_DECLINED != status && !all.may_fail) {
        world_fail("rank %u, operation %u ended with %s: %s", running->rank->number, running->number,
                   oc_status_string(status), oc_group_reason(running->rank->groups[operation->group]));
    }
    /* whoever uses them still finds something else */
    memset(running->send, 0x5a, operation->count * sizeof(float));
    running->hash = hash_of(running->recv, bytes_of_result(operation));
}

static void begin(rank_t *rank, unsigned number)
{
    static const oc_ruled_t ruled[] = {[OC_RESULT_TO_ALL] = OC_RULED_ALLREDUCE, [OC_RESULT_TO_ROOT] = OC_RULED_REDUCE,
                                       [OC_RESULT_TO_BLOCKS] = OC_RULED_REDUCE_SCATTER};
    const operation_t *operation = &all.operations[number];
    running_t *running = &rank->running[number];
    bool in_place = operation->in_place && has_result(rank, operation);
    oc_allreduce_args_t args = {.count = operation->count, .to = operation->to, .ruled = ruled[operation->to],
                                .root = operation->root, .op = OC_OP_SUM, .type = OC_TYPE_FLOAT,
                                .blocking = operation->blocking, .finished = on_operation_finished, .arg = running};
    oc_status_t status;

    *running = (running_t) {.rank = rank, .number = number, .outcome = UNDER_WAY};
    running->send = memory_new(operation->count * sizeof(float));
    running->recv = memory_new(bytes_of_result(operation));
    args.recv = running->recv;
    args.send = in_place ? running->recv : running->send;
    for (uint32_t i = 0; i < operation->count; i++) {
        ((float *) (in_place ? running->recv : running->send))[i] = element(rank->number, number, i);
    }
    rank->begun++;
    world_trace("operation %u begins: group %u, %u elements, to %d%s%s", number, operation->group, operation->count,
                (int) operation->to, in_place ? ", in place" : "", operation->blocking ? ", blocking" : "");
    status = oc_allreduce_start(rank->groups[operation->group], &args);
    if (OC_OK != status) {
        on_operation_finished(running, status);
    }
}

static void look(rank_t *rank)
{
    if (0 == oc_client_progress(rank->client)) {
        fiber_pause(1000);
        oc_client_wait(rank->client, all.patience);
    }
}

static void await(rank_t *rank, unsigned number)
{
    while (UNDER_WAY == rank->running[number].outcome) {
        look(rank);
    }
}

static void compute(void)
{
    if (world_chance(0.3)) {
        fiber_pause(world_chance(0.3) ? world_random(all.workload->pause + 1) : world_random(3 * OC_MILLISECOND));
    }
}

static void run_operations(rank_t *rank)
{
    unsigned oldest = 0;

    for (unsigned i = 0; i < all.workload->operations; i++) {
        compute();
        begin(rank, i);
        compute();
        if (all.operations[i].blocking) {
            await(rank, i);
        }
        while (i - oldest + 1 >= all.workload->most_at_once) {
            await(rank, oldest++);
        }
    }
    while (oldest < all.workload->operations) {
        await(rank, oldest++);
    }
}

/* ---- ranks ---- */

static bool all_have_arrived(void)
{
    for (unsigned i = 0; i < all.workload->ranks; i++) {
        if (!all.ranks[i].arrived && !all.ranks[i].dead) {
            return false;
        }
    }
    return true;
}

static void check_buffers(const rank_t *rank)
{
    for (unsigned i = 0; i < all.workload->operations; i++) {
        const running_t *running = &rank->running[i];
        const operation_t *operation = &all.operations[i];

        if (running->hash != hash_of(running->recv, bytes_of_result(operation))) {
            world_fail("rank %u, operation %u: its buffer was changed after its end", rank->number, i);
        }
        for (size_t k = 0; k < operation->count * sizeof(float); k++) {
            if (0x5a != ((const uint8_t *) running->send)[k]) {
                world_fail("rank %u, operation %u: what it sent was changed", rank->number, i);
            }
        }
    }
}

static void finalize(rank_t *rank)
{
    for (unsigned i = 0; i < all.workload->groups; i++) {
        oc_group_destroy(rank->groups[i]);
    }
    while (oc_client_pending(rank->client) > 0) {
        look(rank);
    }
    oc_client_destroy(rank->client);
    world_trace("is over");
}

static void *rank_run(void *arg)
{
    rank_t *rank = arg;
    oc_client_config_t config = {.settings = all.settings, .counters = &rank->counters, .process = rank->number,
                                 .spans_hosts = true};

    if (OC_OK != oc_client_create(&config, &rank->client)) {
        world_fail("rank %u cannot make a client", rank->number);
    }
    for (unsigned i = 0; i < all.workload->groups; i++) {
        make_group(rank, i);
    }
    run_operations(rank);
    rank->arrived = true;
    /* as in MPI_Finalize */
    while (!all_have_arrived()) {
        look(rank);
        fiber_pause(100000);
    }
    finalize(rank);
    check_buffers(rank);
    rank->over = true;
    return NULL;
}

static void draw_operation(operation_t *operation)
{
    static const oc_result_to_t tos[] = {OC_RESULT_TO_ALL, OC_RESULT_TO_ALL, OC_RESULT_TO_ROOT, OC_RESULT_TO_BLOCKS};
    unsigned ranks = all.workload->ranks;

    *operation = (operation_t) {.group = (unsigned) world_random(all.workload->groups), .to = tos[world_random(4)],
                                .root = (uint32_t) world_random(ranks), .in_place = world_chance(0.5),
                                .blocking = world_chance(0.3)};
    operation->count = world_chance(0.4) ? 1 + (uint32_t) world_random(SMALL) : 1 + (uint32_t) world_random(LARGE);
    if (OC_RESULT_TO_BLOCKS == operation->to) {
        operation->count = (operation->count + ranks - 1) / ranks * ranks;
    }
}

void workload_start(const workload_t *workload, const oc_job_settings_t *settings)
{
    char name[24];

    all.workload = workload;
    all.settings = settings;
    all.patience = world_chance(0.2) ? 500 : 20000;
    for (size_t i = 0; i < sizeof(all.job); i++) {
        ((uint8_t *) &all.job)[i] = (uint8_t) world_random(256);
    }
    for (unsigned i = 0; i < workload->operations; i++) {
        draw_operation(&all.operations[i]);
    }
    for (unsigned i = 0; i < workload->ranks; i++) {
        rank_t *rank = &all.ranks[i];

        snprintf(name, sizeof(name), "rank %u", i);
        rank->number = i;
        rank->process = process_new(workload->nodes ? i / 2 : i, name);
        fiber_start(rank->process, rank_run, rank);
    }
}

process_t *workload_rank(unsigned rank)
{
    return all.ranks[rank].process;
}

void workload_kill(unsigned rank)
{
    process_t *process = all.ranks[rank].process;

    if (all.ranks[rank].over || all.ranks[rank].dead) {
        return;
    }
    all.ranks[rank].dead = true;
    all.may_fail = true;
    process_end(process);
    workers_drop(process);
    descriptors_drop(process);
}

bool workload_is_over(void *arg)
{
    (void) arg;
    for (unsigned i = 0; i < all.workload->ranks; i++) {
        if (!all.ranks[i].over && !all.ranks[i].dead) {
            return false;
        }
    }
    return true;
}

bool workload_is_set_up(void)
{
    for (unsigned i = 0; i < all.workload->ranks; i++) {
        const oc_group_t *group = all.ranks[i].groups[all.operations[0].group];

        if (NULL == group || OC_GROUP_LIVE != oc_group_state(group)) {
            return false;
        }
    }
    return true;
}

void workload_describe(char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < all.workload->ranks && length < size; i++) {
        length += (size_t) snprintf(text + length, size - length, "%srank %u has begun %u and ended %u%s", i > 0 ? "; " : "", i,
                                    all.ranks[i].begun, all.ranks[i].done,
                                    all.ranks[i].over ? ", and is over" : all.ranks[i].arrived ? ", and leaves" : "");
    }
}

static unsigned long long offloaded(const oc_counters_t *counters)
{
    return counters->allreduce_offloaded + counters->reduce_offloaded + counters->reduce_scatter_offloaded;
}

void workload_check(oc_counters_t *sum)
{
    for (unsigned r = 0; r < all.workload->ranks; r++) {
        const rank_t *rank = &all.ranks[r];
        unsigned good = 0;

        for (unsigned i = 0; i < all.workload->operations; i++) {
            good += OC_OK == rank->running[i].outcome;
            sum->failures += OC_DECLINED == rank->running[i].outcome;
            if (!all.may_fail && rank->running[i].outcome != all.ranks[0].running[i].outcome) {
                world_fail("operation %u: rank 0 has %d, rank %u has %d", i, all.ranks[0].running[i].outcome, r,
                           rank->running[i].outcome);
            }
        }
        if (offloaded(&rank->counters) != good && !all.may_fail) {
            world_fail("rank %u: %u operations ended well and %llu were offloaded", r, good, offloaded(&rank->counters));
        }
        sum->allreduce_offloaded += good;
        sum->recoveries += rank->counters.recoveries;
        sum->returns += rank->counters.returns;
        sum->bytes_repeated += rank->counters.bytes_repeated;
        sum->bytes_supplied += rank->counters.bytes_supplied;
    }
}
