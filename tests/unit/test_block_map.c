/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of the map of blocks: each chunk is in one block, one share and one step, both
 * ways round, members own what is theirs, and aggregators get the bytes that they should.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "client/plan/chunk_map.h"
#include "tests/random.h"

#define MAX_BLOCKS 40u
#define MAX_LANES  12u
#define CHUNK      4096u

typedef struct {
    uint32_t num_blocks, members, teams;
    unsigned num_lanes;
    size_t bytes[MAX_BLOCKS], total;
    uint64_t shares[MAX_LANES];
} case_t;

static oc_block_map_t map;
static unsigned met[1u << 16];

static oc_owner_block_t *make_blocks(const case_t *what)
{
    oc_owner_block_t *blocks = malloc(what->num_blocks * sizeof(*blocks));
    size_t offset = what->total;

    assert_non_null(blocks);
    /* members own the vector from its end: their order is not that of offsets */
    for (uint32_t i = 0; i < what->num_blocks; i++) {
        offset -= what->bytes[i];
        blocks[i] = (oc_owner_block_t) {.rank = what->num_blocks - i, .bytes = what->bytes[i],
                                  .member = i * what->members / what->num_blocks,
                                  .offset = offset};
    }
    assert_int_equal(offset, 0);
    return blocks;
}

/* Chunks of a share go forward in the row, and what a member owns of them is side by side. */
static void check_share(const oc_chunk_map_t *chunks, const case_t *what, uint32_t team,
                        unsigned lane)
{
    oc_share_t share = oc_chunk_map_share(chunks, team, lane);
    uint32_t step = 0, place = 0, end = 0;

    for (uint32_t member = 0; member < what->members; member++) {
        oc_owned_t owned = oc_chunk_map_owned(chunks, &share, member);

        assert_true(0 == owned.count || owned.first == end);
        assert_true(owned.first <= share.count);
        end += owned.count;
        for (uint32_t number = owned.first; number < owned.first + owned.count; number++) {
            oc_client_chunk_t chunk = oc_chunk_map_chunk(chunks, &share, number);

            assert_int_equal(chunk.block->member, member);
            assert_true(0 == number || (chunk.step > step && chunk.place > place));
            assert_int_equal(oc_chunk_map_team(chunks, chunk.step), team);
            assert_int_equal(oc_chunk_map_aggregator(chunks, chunk.step), lane);
            assert_int_equal(oc_chunk_map_piece(chunks, chunk.step).offset, chunk.offset);
            assert_int_equal(oc_chunk_map_index(chunks, chunk.step), chunk.index);
            assert_ptr_equal(oc_block_map_owner(&map, chunk.index), chunk.block);
            assert_true(chunk.offset >= chunk.block->offset && chunk.length > 0
                        && chunk.length <= CHUNK
                        && chunk.offset + chunk.length <= chunk.block->offset
                                                              + chunk.block->bytes);
            step = chunk.step;
            place = chunk.place;
            met[chunk.index] += chunk.length;
        }
    }
    assert_int_equal(end, share.count);
}

/* Nobody has more than a chunk too much, and those who are to get nothing have nothing. */
static void check_bytes(const case_t *what)
{
    uint64_t all = 0;

    for (unsigned lane = 0; lane < what->num_lanes; lane++) {
        all += what->shares[lane];
    }
    /* the first one has the first chunk anyway */
    for (unsigned lane = 0; lane < what->num_lanes; lane++) {
        double share = (double) what->shares[lane] / (double) all * (double) what->total;
        size_t bytes = 0;

        for (uint32_t c = map.bounds[lane]; c < map.bounds[lane + 1]; c++) {
            bytes += oc_block_map_chunk(&map, c).length;
        }
        assert_true((double) bytes < share + CHUNK + 1 && (double) bytes > share - 2 * CHUNK - 1);
        assert_true(what->shares[lane] > 0 || 0 == bytes
                    || (0 == lane && 1 == map.bounds[1]));
        assert_true(0 != lane || bytes > 0);
    }
}

static void check_steps(void)
{
    for (uint32_t step = 0; step < map.num_chunks; step++) {
        assert_int_equal(map.steps[map.chunks[step]], step);
    }
}

static void make(const case_t *what, bool stepped, const uint32_t *listed, uint32_t num_listed)
{
    oc_block_plan_t plan = {.blocks = make_blocks(what), .num_blocks = what->num_blocks, .chunk_bytes = CHUNK,
                            .shares = what->shares, .num_lanes = what->num_lanes, .stepped = stepped,
                            .listed = listed, .num_listed = num_listed};

    assert_int_equal(oc_block_map_make(&map, &plan), OC_OK);
    assert_true(map.num_chunks <= sizeof(met) / sizeof(met[0]));
}

/* Each chunk is met once; returns the bytes of all. */
static size_t check_shares(const case_t *what)
{
    oc_chunk_map_t chunks = oc_chunk_map_of_blocks(&map, what->total, what->teams, 5);
    size_t bytes = 0;

    memset(met, 0, sizeof(met));
    for (uint32_t team = 0; team < what->teams; team++) {
        for (unsigned lane = 0; lane < what->num_lanes; lane++) {
            check_share(&chunks, what, team, lane);
        }
    }
    for (uint32_t i = 0; i < map.num_chunks; i++) {
        uint32_t row = oc_block_map_row(&map, i);

        assert_int_equal(met[row], oc_block_map_chunk(&map, i).length);
        bytes += met[row];
        met[row] = 0;
    }
    for (uint32_t i = 0; i < sizeof(met) / sizeof(met[0]); i++) {
        assert_int_equal(met[i], 0);
    }
    return bytes;
}

static void check(case_t *what, bool stepped)
{
    what->total = 0;
    for (uint32_t i = 0; i < what->num_blocks; i++) {
        what->total += what->bytes[i];
    }
    make(what, stepped, NULL, 0);
    assert_int_equal(check_shares(what), what->total);
    check_bytes(what);
    if (stepped) {
        check_steps();
    }
    oc_block_map_free(&map);
}

/* Some of the chunks are left; by their number nobody has more than one too many. */
static void check_listed(const case_t *what, bool stepped, oc_random_t *random)
{
    static uint32_t listed[sizeof(met) / sizeof(met[0])];
    uint32_t all, count = 0;
    uint64_t shares = 0;

    make(what, false, NULL, 0);
    all = map.num_chunks;
    oc_block_map_free(&map);
    for (uint32_t row = 0; row < all; row++) {
        if (0 == oc_random_below(random, 3) || (row + 1 == all && 0 == count)) {
            listed[count++] = row;
        }
    }
    make(what, stepped, listed, count);
    assert_int_equal(map.num_chunks, count);
    assert_true(check_shares(what) > 0);
    for (unsigned lane = 0; lane < what->num_lanes; lane++) {
        shares += what->shares[lane];
    }
    for (unsigned lane = 1; lane < what->num_lanes; lane++) {
        double share = (double) what->shares[lane] / (double) shares * count;
        double has = map.bounds[lane + 1] - map.bounds[lane];

        assert_true(has < share + 1.01 && has > share - 2.01);
    }
    if (stepped) {
        check_steps();
    }
    oc_block_map_free(&map);
}

static void test_any(void **state)
{
    oc_random_t random = {19};

    (void) state;
    for (unsigned round = 0; round < 400; round++) {
        case_t what = {.num_blocks = 1 + oc_random_below(&random, MAX_BLOCKS),
                       .teams = 1 + oc_random_below(&random, 4),
                       .num_lanes = 1 + oc_random_below(&random, MAX_LANES)};

        what.members = 1 + oc_random_below(&random, what.num_blocks);
        for (uint32_t i = 0; i < what.num_blocks; i++) {
            what.bytes[i] = 1 + oc_random_below(&random, 0 == round % 2 ? 3 * CHUNK : 30 * CHUNK);
        }
        for (unsigned i = 0; i < what.num_lanes; i++) {
            what.shares[i] = 0 == oc_random_below(&random, 4) ? 0 : 1 + oc_random_below(&random, 1000);
        }
        what.shares[oc_random_below(&random, what.num_lanes)] += 7;
        check(&what, 0 != round % 3);
        check_listed(&what, 0 != round % 2, &random);
    }
}

/* Each owner has a lane of its own. */
static void test_equal(void **state)
{
    case_t what = {.num_blocks = 8, .members = 8, .teams = 1, .num_lanes = 8, .total = 0};

    (void) state;
    for (uint32_t i = 0; i < 8; i++) {
        what.bytes[i] = 10 * CHUNK + 12;
        what.shares[i] = 3;
        what.total += what.bytes[i];
    }
    make(&what, true, NULL, 0);
    for (unsigned lane = 0; lane < 8; lane++) {
        assert_int_equal(map.bounds[lane], lane * 11);
    }
    /* and they take turns */
    for (uint32_t step = 0; step < map.num_chunks; step++) {
        assert_int_equal(oc_block_map_lane(&map, map.chunks[step]), step % 8);
    }
    oc_block_map_free(&map);
}

static void test_too_many(void **state)
{
    static const uint64_t share = 1;
    oc_owner_block_t *blocks = malloc(2 * sizeof(*blocks));
    oc_block_plan_t plan = {.blocks = blocks, .num_blocks = 2, .chunk_bytes = CHUNK, .shares = &share, .num_lanes = 1};

    (void) state;
    assert_non_null(blocks);
    blocks[0] = (oc_owner_block_t) {.bytes = (size_t) INT32_MAX * CHUNK};
    blocks[1] = (oc_owner_block_t) {.rank = 1, .member = 1, .bytes = 1};
    assert_int_equal(oc_block_map_make(&map, &plan), OC_ERR_LIMIT);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
