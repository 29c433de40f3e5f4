/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduces and Reduce_scatters of shapes, and what a loop makes of their contributions. */
#include "tests/engine/owners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/engine/reductions.h"
#include "tests/unit/reduction_reference.h"

#define MAX_BYTES (1u << 20)
#define GUARD     64

static uint8_t send_buffer[MAX_BYTES + GUARD], recv_buffer[GUARD + MAX_BYTES + GUARD],
    expected[MAX_BYTES], copy[MAX_BYTES];

bool owners_in_order(const rank_t *rank)
{
    return OC_REPRODUCIBLE_RANK_ORDER == rank->settings.reproducible;
}

/* Elements of each block; their sum. */
static size_t cut(const rank_t *rank, size_t count, blocks_t way, size_t *counts)
{
    uint32_t n = rank->num_ranks;
    size_t sum = 0;

    for (uint32_t r = 0; r < n; r++) {
        switch (way) {
        case BLOCKS_GROWING:
            counts[r] = n > 1 ? count * 2 * r / ((size_t) n * (n - 1)) : count;
            break;
        case BLOCKS_HALF:
            counts[r] = r == n / 2 ? count / 2 : count / 2 / n;
            break;
        case BLOCKS_SINGLE:
            counts[r] = r == n - 1 ? count : 0;
            break;
        case BLOCKS_ODD:
            counts[r] = 1 == r % 3 ? 0 : count / n + r;
            break;
        default:
            counts[r] = count / n;
        }
        sum += counts[r];
    }
    if (0 == sum && BLOCKS_EQUAL != way) {
        counts[n - 1] = sum = 1;
    }
    return sum;
}

/* Vectors of all ranks, element by element, and what becomes of those that this rank gets. */
static void make_all(const rank_t *rank, const uint8_t *leaves, unsigned op, unsigned type,
                     size_t count, uint32_t last, size_t own_first, size_t own_count)
{
    uint8_t elements[MAX_TEST_RANKS * MAX_ELEM];
    size_t size = oc_type_size(type);

    for (size_t i = 0; i < count; i++) {
        for (uint32_t r = 0; r < rank->num_ranks; r++) {
            store_value(type, elements + r * size, -1);
        }
        memcpy(send_buffer + i * size, elements + rank->rank * size, size);
        if (i >= own_first && i - own_first < own_count) {
            expect_element(rank, leaves, op, type, last, elements,
                           expected + (i - own_first) * size);
        }
    }
    memcpy(copy, send_buffer, count * size);
    memset(send_buffer + count * size, 0xc3, GUARD);
    memset(recv_buffer, 0x5a, sizeof(recv_buffer));
}

static oc_status_t run_one(rank_t *rank, oc_allreduce_args_t *args)
{
    outcome_t outcome = {0};
    oc_status_t status;

    args->finished = rank_on_finished;
    args->arg = &outcome;
    status = oc_allreduce_start(rank_group(rank, 0), args);
    if (OC_OK != status) {
        return status;
    }
    CHECK(rank_wait(rank, &outcome, 1, 12));
    return outcome.status;
}

static void check_result(rank_t *rank, const oc_allreduce_args_t *args, uint8_t *result,
                         size_t own_count)
{
    size_t size = oc_type_size(args->type), bytes = own_count * size;
    bool in_place = result == send_buffer;

    unify_all(args->type, result, own_count);
    unify_all(args->type, expected, own_count);
    if (0 != memcmp(result, expected, bytes)) {
        fprintf(stderr, "%s of %zu %s\n", oc_op_name(args->op), args->count,
                oc_type_name(args->type));
    }
    CHECK(0 == memcmp(result, expected, bytes));
    CHECK(in_place || 0 == memcmp(send_buffer, copy, args->count * size));
    for (size_t i = 0; i < GUARD; i++) {
        CHECK(0xc3 == send_buffer[args->count * size + i]);
        CHECK(in_place
              || (0x5a == recv_buffer[i] && 0x5a == recv_buffer[GUARD + bytes + i]));
    }
}

void scatter_one(rank_t *rank, const uint8_t *leaves, unsigned op, unsigned type, size_t count,
                 blocks_t way, bool in_place)
{
    uint8_t *result = in_place ? send_buffer : recv_buffer + GUARD;
    size_t counts[MAX_TEST_RANKS], own_first = 0;
    unsigned long long before = rank->counters.reduce_scatter_offloaded;
    oc_allreduce_args_t args = {.send = send_buffer, .recv = result, .op = op, .type = type,
                                .to = OC_RESULT_TO_BLOCKS,
                                .counts = BLOCKS_EQUAL == way ? NULL : counts};

    args.count = cut(rank, count, way, counts);
    CHECK(args.count * oc_type_size(type) <= MAX_BYTES);
    if (0 == args.count) {
        return;
    }
    for (uint32_t r = 0; r < rank->rank; r++) {
        own_first += counts[r];
    }
    make_all(rank, leaves, op, type, args.count, owners_in_order(rank) ? NO_LAST : rank->rank,
             own_first, counts[rank->rank]);
    CHECK(OC_OK == run_one(rank, &args));
    check_result(rank, &args, result, counts[rank->rank]);
    CHECK(before + 1 == rank->counters.reduce_scatter_offloaded);
}

void root_one(rank_t *rank, const uint8_t *leaves, unsigned op, unsigned type, size_t count,
              uint32_t root, bool in_place)
{
    bool gets = rank->rank == root;
    uint8_t *result = gets && in_place ? send_buffer : recv_buffer + GUARD;
    unsigned long long before = rank->counters.reduce_offloaded;
    oc_allreduce_args_t args = {.send = send_buffer, .recv = gets ? result : NULL, .op = op,
                                .type = type, .count = count, .to = OC_RESULT_TO_ROOT,
                                .root = root};

    CHECK(count * oc_type_size(type) <= MAX_BYTES);
    make_all(rank, leaves, op, type, count, NO_LAST, 0, gets ? count : 0);
    CHECK(OC_OK == run_one(rank, &args));
    check_result(rank, &args, result, gets ? count : 0);
    CHECK(before + 1 == rank->counters.reduce_offloaded);
}

void owner_pairs(rank_t *rank, const uint8_t *leaves)
{
    for (unsigned type = 1; type < OC_TYPE_END; type++) {
        for (unsigned op = 1; op < OC_OP_END; op++) {
            if (is_offered(op, type)) {
                scatter_one(rank, leaves, op, type, 37, (op + type) % BLOCKS_WAYS, 0 == op % 2);
                scatter_one(rank, leaves, op, type, 4000 + op, (op + type + 1) % BLOCKS_WAYS,
                            0 == (op + type) % 2);
                root_one(rank, leaves, op, type, 1200 + op, (op + type) % rank->num_ranks,
                         0 != op % 2);
            }
        }
    }
}

void owner_sizes(rank_t *rank, const uint8_t *leaves)
{
    size_t small = rank->settings.small_size, chunk = rank->settings.chunk_size;
    const size_t limits[] = {8, small, chunk, 2 * chunk, 3 * chunk, 7 * chunk, 25 * chunk};

    for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        for (unsigned way = 0; way < BLOCKS_WAYS; way++) {
            size_t bytes = limits[i] + 8 * way;

            scatter_one(rank, leaves, OC_OP_SUM, OC_TYPE_FLOAT, bytes / 4, way, 0 == i % 2);
            scatter_one(rank, leaves, OC_OP_SUM, OC_TYPE_BFLOAT16, bytes / 2, way, 0 != i % 2);
            scatter_one(rank, leaves, OC_OP_MAXLOC, OC_TYPE_DOUBLE_INT32, bytes / 12 + 1, way,
                        0 == i % 2);
            root_one(rank, leaves, OC_OP_SUM, OC_TYPE_FLOAT, bytes / 4,
                     (i + way) % rank->num_ranks, 0 == i % 2);
        }
        root_one(rank, leaves, OC_OP_PROD, OC_TYPE_FLOAT16, limits[i] / 2, i % rank->num_ranks,
                 0 != i % 2);
    }
}

/* ---- many at a time ---- */

#define FLIGHT_COUNT 9000u

/* Small whole numbers: their sums are exact, in any order. */
static float sum_of(const rank_t *rank, size_t i)
{
    uint32_t n = rank->num_ranks;

    return (float) (n * (i % 100) + n * (n - 1) / 2);
}

/* Of operation i: which kind, how long, and what this rank gets. */
static void plan(const rank_t *rank, unsigned i, oc_allreduce_args_t *args, size_t *counts,
                 size_t *own_first, size_t *own_count)
{
    size_t count = 0 == i % 4 ? FLIGHT_COUNT : 200;

    *args = (oc_allreduce_args_t) {.op = OC_OP_SUM, .type = OC_TYPE_FLOAT,
                                   .to = (oc_result_to_t) (i % 3), .root = i % rank->num_ranks,
                                   .counts = counts};
    *own_first = 0;
    switch (args->to) {
    case OC_RESULT_TO_BLOCKS:
        args->count = cut(rank, count, i % BLOCKS_WAYS, counts);
        for (uint32_t r = 0; r < rank->rank; r++) {
            *own_first += counts[r];
        }
        *own_count = counts[rank->rank];
        break;
    case OC_RESULT_TO_ROOT:
        args->count = count;
        *own_count = rank->rank == args->root ? count : 0;
        break;
    default:
        *own_count = args->count = count;
    }
}

static void begin_many(rank_t *rank, unsigned operations, const float *send, float *recv,
                       outcome_t *outcomes)
{
    for (unsigned half = 0; half < 2; half++) {
        unsigned group = (half + rank->rank) % 2;

        for (unsigned i = group; i < operations; i += 2) {
            size_t counts[MAX_TEST_RANKS], own_first, own_count;
            oc_allreduce_args_t args;

            plan(rank, i, &args, counts, &own_first, &own_count);
            args.send = send;
            args.recv = recv + (size_t) i * 2 * FLIGHT_COUNT;
            args.finished = rank_on_finished;
            args.arg = &outcomes[i];
            CHECK(OC_OK == oc_allreduce_start(rank_group(rank, group), &args));
            /* the caller's array may go: it was copied */
            memset(counts, 0xff, sizeof(counts));
        }
    }
}

void owners_in_flight(rank_t *rank, unsigned operations)
{
    float *recv = calloc((size_t) operations * 2 * FLIGHT_COUNT, sizeof(*recv));
    outcome_t *outcomes = calloc(operations, sizeof(*outcomes));
    static float send[2 * FLIGHT_COUNT];

    CHECK(NULL != recv && NULL != outcomes);
    for (size_t i = 0; i < 2 * FLIGHT_COUNT; i++) {
        send[i] = (float) (i % 100 + rank->rank);
    }
    begin_many(rank, operations, send, recv, outcomes);
    CHECK(rank_wait(rank, outcomes, operations, 25));
    for (unsigned i = 0; i < operations; i++) {
        size_t counts[MAX_TEST_RANKS], own_first, own_count;
        const float *got = recv + (size_t) i * 2 * FLIGHT_COUNT;
        oc_allreduce_args_t args;

        plan(rank, i, &args, counts, &own_first, &own_count);
        CHECK(OC_OK == outcomes[i].status);
        for (size_t k = 0; k < own_count; k++) {
            CHECK(sum_of(rank, own_first + k) == got[k]);
        }
        CHECK(0 == got[own_count]);
    }
    free(recv);
    free(outcomes);
    CHECK(operations == rank->counters.allreduce_offloaded + rank->counters.reduce_offloaded
                            + rank->counters.reduce_scatter_offloaded);
}
