/* SPDX-License-Identifier: BSD-3-Clause */
/* From seeds to schedules. */
#include "tests/engine/schedule.h"

#include <string.h>

#include "reduction/reduction.h"

/* Patience where nothing harmful happens: a busy machine must not look like a fault. */
#define LONG_TIMEOUT 15

typedef struct {
    uint64_t state;
} dice_t;

static uint64_t roll(dice_t *dice)
{
    uint64_t x = dice->state += 0x9e3779b97f4a7c15ull;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static unsigned from_to(dice_t *dice, unsigned first, unsigned last)
{
    return first + (unsigned) (roll(dice) % (last - first + 1));
}

static bool percent(dice_t *dice, unsigned chance)
{
    return roll(dice) % 100 < chance;
}

const char *fault_name(fault_kind_t kind)
{
    static const char *const names[NUM_FAULTS] = {
        [FAULT_KILL_RANK] = "kill rank", [FAULT_STOP_RANK] = "stop rank",
        [FAULT_KILL_DATA] = "kill data process of server",
        [FAULT_STOP_DATA] = "stop data process of server",
        [FAULT_KILL_SUPERVISOR] = "kill supervisor of server",
        [FAULT_STOP_SUPERVISOR] = "stop supervisor of server",
        [FAULT_DRAIN] = "drain server", [FAULT_CUT] = "cut a connection to server",
        [FAULT_RESET] = "reset a connection to server",
        [FAULT_FREEZE] = "freeze a connection to server"};

    return names[kind];
}

static void make_operation(dice_t *dice, const schedule_t *schedule, operation_t *operation)
{
    /* those of which the harness has a reference */
    static const unsigned pairs[][2] = {
        {OC_OP_SUM, OC_TYPE_FLOAT}, {OC_OP_SUM, OC_TYPE_DOUBLE}, {OC_OP_PROD, OC_TYPE_DOUBLE},
        {OC_OP_SUM, OC_TYPE_INT32}, {OC_OP_MIN, OC_TYPE_INT64}, {OC_OP_MAX, OC_TYPE_UINT16},
        {OC_OP_BXOR, OC_TYPE_UINT8}};
    unsigned pair = from_to(dice, 0, sizeof(pairs) / sizeof(pairs[0]) - 1), bytes;

    if (percent(dice, 40)) {
        bytes = from_to(dice, 8, (unsigned) schedule->small_size);
    } else if (percent(dice, 85)) {
        bytes = from_to(dice, (unsigned) schedule->small_size + 8, 300000);
    } else {
        bytes = from_to(dice, 300000, 2000000);
    }
    *operation = (operation_t) {
        .group = from_to(dice, 0, schedule->num_groups - 1), .op = pairs[pair][0],
        .type = pairs[pair][1], .count = bytes / oc_type_size(pairs[pair][1]),
        .in_place = percent(dice, 50), .wait = percent(dice, 60),
        .late_rank = from_to(dice, 0, schedule->num_ranks - 1),
        .late_us = percent(dice, 30) ? from_to(dice, 1, 40000) : 0};
}

static void make_group(dice_t *dice, const schedule_t *schedule, members_t *group, bool all)
{
    for (uint32_t rank = 0; rank < schedule->num_ranks; rank++) {
        if (all || percent(dice, 70)) {
            group->members[group->num_members++] = rank;
        }
    }
    /* order is the group's own affair */
    for (unsigned i = 1; i < group->num_members; i++) {
        unsigned other = from_to(dice, 0, i);
        uint32_t kept = group->members[i];

        group->members[i] = group->members[other];
        group->members[other] = kept;
    }
    if (0 == group->num_members) {
        group->members[group->num_members++] = 0;
    }
}

static fault_t make_fault(dice_t *dice, const schedule_t *schedule, bool harmful)
{
    static const fault_kind_t harmless[] = {FAULT_STOP_RANK, FAULT_STOP_DATA,
                                            FAULT_STOP_SUPERVISOR, FAULT_FREEZE};
    fault_t fault = {.at_operation = percent(dice, 20)
                                         ? 0
                                         : from_to(dice, 0, schedule->num_operations - 1),
                     .delay_us = percent(dice, 50) ? from_to(dice, 0, 3000)
                                                   : from_to(dice, 0, 60000)};

    fault.kind = harmful ? (fault_kind_t) from_to(dice, 0, NUM_FAULTS - 1)
                         : harmless[from_to(dice, 0, 3)];
    if (FAULT_KILL_RANK == fault.kind || FAULT_STOP_RANK == fault.kind) {
        fault.target = from_to(dice, 0, schedule->num_ranks - 1);
    } else {
        fault.target = from_to(dice, 0, schedule->num_servers - 1);
    }
    fault.connection = from_to(dice, 0, schedule->num_ranks - 1);
    fault.lasts_ms = harmful && FAULT_STOP_RANK != fault.kind ? from_to(dice, 100, 3000)
                                                              : from_to(dice, 50, 900);
    if (harmful && percent(dice, 30)
        && (FAULT_STOP_DATA == fault.kind || FAULT_STOP_SUPERVISOR == fault.kind)) {
        fault.lasts_ms = FOR_EVER;
    }
    return fault;
}

static bool lasts(const fault_t *fault)
{
    return FAULT_STOP_RANK == fault->kind || FAULT_STOP_DATA == fault->kind
           || FAULT_STOP_SUPERVISOR == fault->kind || FAULT_FREEZE == fault->kind;
}

static bool needs_proxy(const schedule_t *schedule)
{
    for (unsigned i = 0; i < schedule->num_faults; i++) {
        if (schedule->faults[i].kind >= FAULT_CUT) {
            return true;
        }
    }
    return false;
}

void schedule_make(schedule_t *schedule, uint64_t seed)
{
    dice_t dice = {.state = seed};
    bool harmful = percent(&dice, 75);

    memset(schedule, 0, sizeof(*schedule));
    schedule->seed = seed;
    schedule->harmful = harmful;
    schedule->num_ranks = from_to(&dice, 2, MAX_SCHEDULE_RANKS);
    schedule->num_servers = from_to(&dice, 1, MAX_SCHEDULE_SERVERS);
    schedule->num_groups = from_to(&dice, 1, MAX_SCHEDULE_GROUPS);
    schedule->num_operations = from_to(&dice, 8, MAX_OPERATIONS);
    schedule->heartbeat_timeout = harmful ? (int) from_to(&dice, 1, 2) : LONG_TIMEOUT;
    schedule->connect_timeout = harmful ? (int) from_to(&dice, 1, 2) : LONG_TIMEOUT;
    schedule->small_size = from_to(&dice, 256, 8192);
    schedule->chunk_size = 4096u << from_to(&dice, 0, 5);
    schedule->window = (int) from_to(&dice, 1, 8);
    for (unsigned i = 0; i < MAX_SCHEDULE_SERVERS; i++) {
        schedule->aggregators[i] = from_to(&dice, 1, MAX_AGGREGATOR_COUNT);
    }
    for (unsigned i = 0; i < schedule->num_groups; i++) {
        make_group(&dice, schedule, &schedule->groups[i], 0 == i);
    }
    for (unsigned i = 0; i < schedule->num_operations; i++) {
        make_operation(&dice, schedule, &schedule->operations[i]);
    }
    if (percent(&dice, 10)) {
        schedule->operations[0].late_us = from_to(&dice, 200000, 2500000);
    }
    schedule->num_faults = from_to(&dice, harmful ? 1 : 0, MAX_SCHEDULE_FAULTS);
    for (unsigned i = 0; i < schedule->num_faults; i++) {
        schedule->faults[i] =
            make_fault(&dice, schedule, harmful && (0 == i || percent(&dice, 30)));
    }
    schedule->through_proxy = needs_proxy(schedule);
}

void schedule_make_plain(schedule_t *schedule, uint64_t seed, unsigned aggregators)
{
    dice_t dice = {.state = seed};

    *schedule = (schedule_t) {
        .seed = seed, .num_ranks = 2, .num_servers = 1, .num_groups = 1, .num_operations = 4,
        .aggregators = {aggregators}, .heartbeat_timeout = LONG_TIMEOUT,
        .connect_timeout = LONG_TIMEOUT, .small_size = 4096, .chunk_size = 16384, .window = 3,
        .groups = {{.num_members = 2, .members = {0, 1}}}};
    for (unsigned i = 0; i < schedule->num_operations; i++) {
        make_operation(&dice, schedule, &schedule->operations[i]);
    }
}

void schedule_print(const schedule_t *schedule, FILE *out)
{
    fprintf(out, "seed %llu: %u ranks, %u groups, %u operations; aggregators %u",
            (unsigned long long) schedule->seed, schedule->num_ranks, schedule->num_groups,
            schedule->num_operations, schedule->aggregators[0]);
    if (schedule->num_servers > 1) {
        fprintf(out, "+%u", schedule->aggregators[1]);
    }
    fprintf(out, "%s; timeouts %d s and %d s; %s",
            schedule->through_proxy ? " through a proxy" : "", schedule->connect_timeout, schedule->heartbeat_timeout,
            schedule->harmful ? "may fail" : "must succeed");
    for (unsigned i = 0; i < schedule->num_faults; i++) {
        const fault_t *fault = &schedule->faults[i];

        fprintf(out, "; %s %u at operation %u + %u us", fault_name(fault->kind), fault->target,
                fault->at_operation, fault->delay_us);
        if (fault->kind >= FAULT_CUT) {
            fprintf(out, ", connection %u", fault->connection);
        }
        if (lasts(fault) && FOR_EVER == fault->lasts_ms) {
            fprintf(out, ", for ever");
        } else if (lasts(fault)) {
            fprintf(out, ", for %u ms", fault->lasts_ms);
        }
    }
    fprintf(out, "\n");
}
