/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of the map of chunks: each chunk of a vector is in just one share, both ways round,
 * in order, and with its whole length.
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

#define MAX_CHUNKS 3000u
#define CHUNK      16384u

/* How often each chunk of the vector was met. */
static unsigned met[MAX_CHUNKS];
static oc_division_t division;

/* Numbers in a share count from 0 and go forward in the vector; its chunks know whose they are. */
static void check_share(const oc_chunk_map_t *map, uint32_t team, unsigned aggregator)
{
    oc_share_t share = oc_chunk_map_share(map, team, aggregator);
    uint32_t before = 0;

    for (uint32_t number = 0; number < share.count; number++) {
        oc_client_chunk_t chunk = oc_chunk_map_chunk(map, &share, number);

        assert_int_equal(chunk.number, number);
        assert_true(chunk.index < map->num_chunks);
        assert_true(0 == number || chunk.index > before);
        assert_int_equal(chunk.place, chunk.index / map->teams);
        assert_int_equal(chunk.offset, (size_t) chunk.index * map->chunk_bytes);
        assert_int_equal(oc_chunk_map_team(map, chunk.index), team);
        assert_int_equal(oc_chunk_map_aggregator(map, chunk.index), aggregator);
        assert_int_equal(chunk.length, chunk.index + 1 == map->num_chunks
                                           ? map->bytes - chunk.offset
                                           : map->chunk_bytes);
        before = chunk.index;
        met[chunk.index]++;
    }
}

static void check(size_t bytes, uint32_t teams, uint64_t sequence)
{
    oc_chunk_map_t map = oc_chunk_map_make(&division, bytes, CHUNK, teams, sequence);

    assert_int_equal(map.num_chunks, (bytes + CHUNK - 1) / CHUNK);
    assert_true(map.num_chunks <= MAX_CHUNKS);
    /* what others compute of a collective's sequence alone: each one begins elsewhere */
    assert_int_equal(oc_chunk_map_team(&map, 0), sequence % teams);
    assert_int_equal(oc_chunk_map_aggregator(&map, 0),
                     oc_division_lane(&division, sequence % division.period));
    for (uint32_t i = 0; i < map.num_chunks; i++) {
        assert_int_equal(oc_chunk_map_team(&map, i), oc_team_of(sequence, i, teams));
    }
    memset(met, 0, sizeof(met));
    for (uint32_t team = 0; team < teams; team++) {
        for (unsigned aggregator = 0; aggregator < division.num_lanes; aggregator++) {
            check_share(&map, team, aggregator);
        }
    }
    for (uint32_t i = 0; i < map.num_chunks; i++) {
        assert_int_equal(met[i], 1);
    }
}

static void check_shares(const uint64_t *shares, unsigned count)
{
    static const uint64_t sequences[] = {0, 1, 2, 5, 1000003, (1ull << 40) + 12345};
    static const size_t lengths[] = {1, CHUNK - 4, CHUNK, CHUNK + 4, 7 * CHUNK - 8, 64 * CHUNK,
                                     (size_t) 2999 * CHUNK + 4};

    assert_int_equal(oc_division_make(shares, count, &division), OC_OK);
    for (unsigned s = 0; s < sizeof(sequences) / sizeof(sequences[0]); s++) {
        for (unsigned l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
            for (uint32_t teams = 1; teams <= 5; teams++) {
                check(lengths[l], teams, sequences[s]);
            }
        }
    }
    oc_division_free(&division);
}

static void test_equal(void **state)
{
    static const uint64_t shares[] = {1, 1, 1, 1, 1};

    (void) state;
    check_shares(shares, 1);
    check_shares(shares, 5);
}

static void test_unequal(void **state)
{
    static const uint64_t shares[] = {8, 8, 3, 3, 3, 3, 3, 1};

    (void) state;
    check_shares(shares, sizeof(shares) / sizeof(shares[0]));
}

/* A vector that has fewer chunks than there are aggregators and teams. */
static void test_more_aggregators_than_chunks(void **state)
{
    uint64_t shares[300];

    (void) state;
    for (unsigned i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        shares[i] = 1 + i % 2;
    }
    check_shares(shares, sizeof(shares) / sizeof(shares[0]));
}

/* What an aggregator gets of a team, of the chunks of a list. */
static uint32_t check_listed_share(const oc_chunk_map_t *map, const oc_chunk_map_t *whole, const uint32_t *list,
                                   uint32_t team, unsigned aggregator)
{
    oc_share_t share = oc_chunk_map_share(map, team, aggregator);

    for (uint32_t number = 0; number < share.count; number++) {
        oc_client_chunk_t chunk = oc_chunk_map_chunk(map, &share, number);

        assert_int_equal(chunk.number, number);
        assert_int_equal(chunk.index, list[chunk.step]);
        assert_int_equal(chunk.step / map->teams, chunk.place);
        assert_int_equal(oc_chunk_map_team(map, chunk.step), team);
        assert_int_equal(oc_chunk_map_aggregator(map, chunk.step), aggregator);
        assert_int_equal(chunk.offset, (size_t) chunk.index * CHUNK);
        assert_int_equal(chunk.length,
                         chunk.index + 1 == whole->num_chunks ? whole->bytes - chunk.offset : CHUNK);
        met[chunk.index]++;
    }
    return share.count;
}

/* Some chunks of a vector, whose shares are those of a vector of as many chunks. */
static void check_list(size_t bytes, uint32_t teams, uint32_t step, uint64_t sequence)
{
    static uint32_t list[MAX_CHUNKS];
    oc_chunk_map_t map = oc_chunk_map_make(&division, bytes, CHUNK, teams, sequence), whole = map;
    uint32_t count = 0, met_here = 0;

    for (uint32_t i = step / 2; i < map.num_chunks; i += step) {
        list[count++] = i;
    }
    oc_chunk_map_list(&map, list, count);
    memset(met, 0, sizeof(met));
    for (uint32_t team = 0; team < teams; team++) {
        for (unsigned aggregator = 0; aggregator < division.num_lanes; aggregator++) {
            met_here += check_listed_share(&map, &whole, list, team, aggregator);
        }
    }
    assert_int_equal(met_here, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(met[list[i]], 1);
    }
}

static void test_list(void **state)
{
    static const uint64_t shares[] = {8, 8, 3, 3, 3, 3, 3, 1};

    (void) state;
    assert_int_equal(oc_division_make(shares, sizeof(shares) / sizeof(shares[0]), &division), OC_OK);
    for (uint32_t step = 1; step < 40; step += 3) {
        check_list((size_t) 100 * CHUNK, 1, step, step);
        check_list((size_t) 2999 * CHUNK + 4, 1, step, 1000003);
        check_list((size_t) 2999 * CHUNK + 4, 3, step, 1000003 + step);
    }
    oc_division_free(&division);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_unequal),
        cmocka_unit_test(test_more_aggregators_than_chunks),
        cmocka_unit_test(test_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
