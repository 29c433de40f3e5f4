/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduces of shapes, and what a loop makes of their contributions. */
#include "tests/engine/reductions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/reduction_reference.h"

#define MAX_BYTES (1u << 20)
#define GUARD     64

/* ---- what a loop makes of the contributions ---- */

static uint32_t host_of(const rank_t *rank, uint32_t number)
{
    return NULL != rank->hosts ? rank->hosts[number] : number;
}

static uint32_t leaf_of(const uint8_t *leaves, uint32_t number)
{
    return NULL != leaves ? leaves[number] : 0;
}

typedef struct {
    unsigned op, type;
    bool begun;
    uint8_t partial[MAX_ELEM];
} sum_t;

static void add(sum_t *sum, const uint8_t *element)
{
    if (sum->begun) {
        fold(sum->op, sum->type, sum->partial, element);
    } else {
        begin_fold(sum->type, sum->partial, element);
    }
    sum->begun = true;
}

/* What one level hands to the next. */
static void add_sum(sum_t *to, const sum_t *from)
{
    uint8_t element[MAX_ELEM];

    if (from->begun) {
        end_fold(from->type, element, from->partial);
        add(to, element);
    }
}

/* The ranks of a host, if this is the lowest of them; else none. */
static void expect_host(const rank_t *rank, uint32_t low, const uint8_t *elements, unsigned type,
                        sum_t *sum)
{
    uint8_t element[MAX_ELEM];

    for (uint32_t r = 0; r < rank->num_ranks; r++) {
        if (host_of(rank, r) != host_of(rank, low)) {
            continue;
        }
        if (r < low) {
            break;
        }
        memcpy(element, elements + r * oc_type_size(type), oc_type_size(type));
        if (is_half(type)) {
            store_float(OC_TYPE_FLOAT, element,
                        load_float(type, elements + r * oc_type_size(type)));
        }
        add(sum, element);
    }
}

/* The hosts of this leaf, in the order of their lowest ranks, but for the one of the last rank. */
static void expect_leaf(const rank_t *rank, const uint8_t *leaves, uint32_t leaf, uint32_t last,
                        const uint8_t *elements, unsigned type, sum_t *sum)
{
    for (uint32_t low = 0; low < rank->num_ranks; low++) {
        sum_t host = {.op = sum->op, .type = sum->type};

        if (leaf_of(leaves, low) == leaf
            && (NO_LAST == last || host_of(rank, low) != host_of(rank, last))) {
            expect_host(rank, low, elements, type, &host);
            add_sum(sum, &host);
        }
    }
}

static uint32_t lowest_on_host(const rank_t *rank, uint32_t number)
{
    uint32_t low = 0;

    while (host_of(rank, low) != host_of(rank, number)) {
        low++;
    }
    return low;
}

void expect_element(const rank_t *rank, const uint8_t *leaves, unsigned op, unsigned type,
                    uint32_t last, const uint8_t *elements, uint8_t *result)
{
    unsigned inner = is_half(type) ? (unsigned) OC_TYPE_FLOAT : type;
    sum_t total = {.op = op, .type = inner};
    uint8_t element[MAX_ELEM];
    float value;

    for (uint32_t leaf = 0; leaf < MAX_TEST_LEAVES; leaf++) {
        sum_t sum = {.op = op, .type = inner};

        expect_leaf(rank, leaves, leaf, last, elements, type, &sum);
        add_sum(&total, &sum);
    }
    if (NO_LAST != last) {
        sum_t sum = {.op = op, .type = inner};

        expect_host(rank, lowest_on_host(rank, last), elements, type, &sum);
        add_sum(&total, &sum);
    }
    end_fold(inner, element, total.partial);
    if (is_half(type)) {
        memcpy(&value, element, sizeof(value));
        store_float(type, result, (double) value);
    } else {
        memcpy(result, element, oc_type_size(type));
    }
}

/* Vectors of all ranks, element by element, and what becomes of them: the same everywhere. */
static void make_vectors(const rank_t *rank, const uint8_t *leaves, unsigned op, unsigned type,
                         size_t count, uint8_t *own, uint8_t *expected)
{
    uint8_t elements[MAX_TEST_RANKS * MAX_ELEM];
    size_t size = oc_type_size(type);

    for (size_t i = 0; i < count; i++) {
        for (uint32_t r = 0; r < rank->num_ranks; r++) {
            store_value(type, elements + r * size, -1);
        }
        memcpy(own + i * size, elements + rank->rank * size, size);
        expect_element(rank, leaves, op, type, NO_LAST, elements, expected + i * size);
    }
}

/* ---- one ---- */

void unify_all(unsigned type, uint8_t *vector, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unify_nan(type, vector + i * oc_type_size(type));
    }
}

void reduce_one(rank_t *rank, const uint8_t *leaves, unsigned op, unsigned type, size_t count,
                bool in_place)
{
    static uint8_t send[MAX_BYTES + GUARD], recv[MAX_BYTES + GUARD], expected[MAX_BYTES],
        copy[MAX_BYTES];
    size_t bytes = count * oc_type_size(type);
    uint8_t *result = in_place ? send : recv;

    CHECK(bytes <= MAX_BYTES);
    make_vectors(rank, leaves, op, type, count, send, expected);
    memcpy(copy, send, bytes);
    memset(recv, 0x5a, bytes);
    memset(result + bytes, 0xc3, GUARD);
    CHECK(OC_OK == rank_allreduce(rank, 0, op, type, send, result, count));
    unify_all(type, result, count);
    unify_all(type, expected, count);
    if (0 != memcmp(result, expected, bytes)) {
        fprintf(stderr, "%s of %zu %s\n", oc_op_name(op), count, oc_type_name(type));
    }
    CHECK(0 == memcmp(result, expected, bytes));
    for (int i = 0; i < GUARD; i++) {
        CHECK(0xc3 == result[bytes + (size_t) i]);
    }
    CHECK(in_place || 0 == memcmp(send, copy, bytes));
}

/* ---- rounds of them ---- */

void reduce_pairs(rank_t *rank, const uint8_t *leaves)
{
    for (unsigned type = 1; type < OC_TYPE_END; type++) {
        for (unsigned op = 1; op < OC_OP_END; op++) {
            if (is_offered(op, type)) {
                reduce_one(rank, leaves, op, type, 37, 0 == op % 2);
                reduce_one(rank, leaves, op, type, 1200 + op, 0 == (op + type) % 2);
            }
        }
    }
}

void reduce_sizes(rank_t *rank, const uint8_t *leaves)
{
    size_t small = rank->settings.small_size, chunk = rank->settings.chunk_size;
    const size_t limits[] = {8, small, chunk, 2 * chunk, 3 * chunk, 7 * chunk, 25 * chunk};

    for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        for (int more = -8; more <= 8; more += 8) {
            size_t bytes = limits[i] + (size_t) (ptrdiff_t) more;

            if (bytes > 0) {
                reduce_one(rank, leaves, OC_OP_SUM, OC_TYPE_FLOAT, bytes / 4, 0 == i % 2);
                reduce_one(rank, leaves, OC_OP_SUM, OC_TYPE_BFLOAT16, bytes / 2, 0 != i % 2);
                reduce_one(rank, leaves, OC_OP_MAXLOC, OC_TYPE_DOUBLE_INT32, bytes / 12 + 1,
                           0 == i % 2);
            }
        }
    }
}

/* ---- many at a time ---- */

typedef struct {
    float *recv;
    size_t count;
} vector_t;

/* Small whole numbers: their sums are exact, in any order. */
static float value_of(uint32_t rank, size_t i)
{
    return (float) (i % 100 + rank);
}

static float sum_of(const rank_t *rank, size_t i)
{
    uint32_t n = rank->num_ranks;

    return (float) (n * (i % 100) + n * (n - 1) / 2);
}

static float *make_send(const rank_t *rank, const size_t counts[NUM_MIXED])
{
    size_t most = 0;
    float *send;

    for (unsigned i = 0; i < NUM_MIXED; i++) {
        most = counts[i] > most ? counts[i] : most;
    }
    send = malloc(most * sizeof(*send));
    CHECK(NULL != send);
    for (size_t i = 0; i < most; i++) {
        send[i] = value_of(rank->rank, i);
    }
    return send;
}

static void start_many(rank_t *rank, unsigned operations, const size_t counts[NUM_MIXED],
                       const float *send, vector_t *vectors, outcome_t *outcomes)
{
    for (unsigned half = 0; half < 2; half++) {
        unsigned group = (half + rank->rank) % 2;

        for (unsigned i = group; i < operations; i += 2) {
            vectors[i].count = counts[i % NUM_MIXED];
            vectors[i].recv = malloc(vectors[i].count * sizeof(float));
            CHECK(NULL != vectors[i].recv);
            CHECK(OC_OK == rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, send,
                                      vectors[i].recv, vectors[i].count, &outcomes[i]));
        }
    }
}

void reduce_many(rank_t *rank, unsigned operations, const size_t counts[NUM_MIXED],
                 unsigned seconds)
{
    vector_t *vectors = calloc(operations, sizeof(*vectors));
    outcome_t *outcomes = calloc(operations, sizeof(*outcomes));
    float *send = make_send(rank, counts);

    CHECK(NULL != vectors && NULL != outcomes);
    start_many(rank, operations, counts, send, vectors, outcomes);
    CHECK(rank_wait(rank, outcomes, operations, seconds));
    for (unsigned i = 0; i < operations; i++) {
        CHECK(OC_OK == outcomes[i].status);
        for (size_t k = 0; k < vectors[i].count; k++) {
            CHECK(sum_of(rank, k) == vectors[i].recv[k]);
        }
        free(vectors[i].recv);
    }
    free(vectors);
    free(outcomes);
    free(send);
    CHECK(operations == rank->counters.allreduce_offloaded);
}

void reduce_in_flight(rank_t *rank)
{
    reduce_many(rank, 300, (const size_t[]) {100, 100, 100, 3000, 3000, 3000}, 25);
}
