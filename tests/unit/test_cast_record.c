/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of what ranks tell each other about multicast, and of what follows. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "multicast/service/cast_record.h"

#define RANKS 4

static oc_cast_record_t ranks[RANKS];
static uint8_t bytes[RANKS][OC_MULTICAST_RECORD_SIZE];

static oc_multicast_terms_t terms;
static uint32_t blamed;
static char reason[512];

static void make_record(oc_cast_record_t *record, uint32_t rank)
{
    memset(record, 0, sizeof(*record));
    record->ready = true;
    record->settings = 0x1122334455667788ull;
    record->token = 0x99aabbccddeeff00ull + rank;
    record->job = 0x4242424242424242ull;
    record->contact = 0x6060606060606060ull + rank;
    record->process = 100 + rank;
    record->host = 7 + rank / 2;
    record->carriers[OC_CARRIER_VERBS].datagram_size = 4096;
    record->carriers[OC_CARRIER_UDP].datagram_size = 1472;
    for (unsigned i = 0; i < OC_CARRIERS; i++) {
        oc_origin_t *origin = &record->carriers[i].origin;

        memset(origin->address, 0x21 + (int) i, sizeof(origin->address));
        origin->port = 0xfedc - rank;
        record->carriers[i].staging = 1000 + i;
        record->carriers[i].floods = 0 != (rank + i) % 3;
        record->carriers[i].flood = (oc_flood_verdict_t) ((rank + 2 * i) % OC_FLOOD_VERDICTS);
    }
}

static int setup(void **state)
{
    (void) state;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        make_record(&ranks[rank], rank);
    }
    blamed = 99;
    return 0;
}

static oc_status_t judge(oc_multicast_choice_t choice)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        oc_cast_record_encode(&ranks[rank], bytes[rank]);
    }
    return oc_cast_records_judge(bytes[0], RANKS, choice, &terms, &blamed, reason,
                                 sizeof(reason));
}

static void assert_declined(oc_multicast_choice_t choice, uint32_t rank, const char *text)
{
    assert_int_equal(judge(choice), OC_DECLINED);
    assert_int_equal(blamed, rank);
    assert_string_equal(reason, text);
}

static void test_round_trip(void **state)
{
    oc_cast_record_t got;

    (void) state;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        memset(&got, 0, sizeof(got));
        oc_cast_record_encode(&ranks[rank], bytes[rank]);
        assert_true(oc_cast_record_decode(bytes[rank], &got));
        assert_memory_equal(&got, &ranks[rank], sizeof(got));
    }
}

static void test_refusal(void **state)
{
    oc_cast_record_t got;

    (void) state;
    oc_cast_record_encode(&(oc_cast_record_t) {.ready = false}, bytes[0]);
    assert_true(oc_cast_record_decode(bytes[0], &got));
    assert_false(got.ready);
}

/* Each of these bytes alone makes the record invalid. */
static void test_wrong_records(void **state)
{
    oc_cast_record_t record = ranks[0], got;
    uint8_t *one = bytes[0];

    (void) state;
    oc_cast_record_encode(&record, one);
    for (size_t at = 0; at < 8; at++) {
        one[at] ^= 0x80;
        assert_false(oc_cast_record_decode(one, &got));
        one[at] ^= 0x80;
    }
    record.token = 0;
    oc_cast_record_encode(&record, one);
    assert_false(oc_cast_record_decode(one, &got));
    record = ranks[0];
    record.contact = 0;
    oc_cast_record_encode(&record, one);
    assert_false(oc_cast_record_decode(one, &got));
    record = ranks[0];
    record.carriers[OC_CARRIER_UDP].datagram_size = OC_DATAGRAM_MIN - 1;
    oc_cast_record_encode(&record, one);
    assert_false(oc_cast_record_decode(one, &got));
    record.carriers[OC_CARRIER_UDP].datagram_size = OC_DATAGRAM_MAX + 1;
    oc_cast_record_encode(&record, one);
    assert_false(oc_cast_record_decode(one, &got));
    record = ranks[0]; /* it sends from nowhere */
    memset(&record.carriers[OC_CARRIER_UDP].origin, 0, sizeof(oc_origin_t));
    oc_cast_record_encode(&record, one);
    assert_false(oc_cast_record_decode(one, &got));
    record = ranks[0]; /* it keeps nothing */
    record.carriers[OC_CARRIER_UDP].staging = 0;
    oc_cast_record_encode(&record, one);
    assert_false(oc_cast_record_decode(one, &got));
    record.carriers[OC_CARRIER_UDP].datagram_size = 0;
    oc_cast_record_encode(&record, one);
    assert_true(oc_cast_record_decode(one, &got));
}

/* A queue pair has 24 bits, a port of UDP 16; 0 is nobody's. */
static void test_ports(void **state)
{
    static const struct {
        oc_carrier_t carrier;
        uint32_t port;
        bool valid;
    } cases[] = {
        {OC_CARRIER_VERBS, 0, false}, {OC_CARRIER_VERBS, 0xffffff, true},
        {OC_CARRIER_VERBS, 0x1000000, false}, {OC_CARRIER_UDP, 0, false},
        {OC_CARRIER_UDP, 0xffff, true}, {OC_CARRIER_UDP, 0x10000, false},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        oc_cast_record_t record = ranks[0], got;

        record.carriers[cases[i].carrier].origin.port = cases[i].port;
        oc_cast_record_encode(&record, bytes[0]);
        assert_int_equal(oc_cast_record_decode(bytes[0], &got), cases[i].valid);
        if (cases[i].valid) {
            assert_int_equal(got.carriers[cases[i].carrier].origin.port, cases[i].port);
        }
    }
}

static void test_terms(void **state)
{
    (void) state;
    ranks[2].carriers[OC_CARRIER_VERBS].datagram_size = 2048;
    ranks[1].carriers[OC_CARRIER_UDP].datagram_size = 8972;
    ranks[3].carriers[OC_CARRIER_UDP].datagram_size = 1400;
    ranks[1].carriers[OC_CARRIER_VERBS].staging = 900;
    ranks[2].carriers[OC_CARRIER_UDP].staging = 138;
    assert_int_equal(judge(OC_MULTICAST_AUTO), OC_OK);
    assert_int_equal(terms.carrier, OC_CARRIER_VERBS);
    assert_int_equal(terms.datagram_size, 2048);
    assert_int_equal(terms.staging, 900);
    assert_int_equal(terms.token, ranks[0].token);
    assert_int_equal(judge(OC_MULTICAST_UDP), OC_OK);
    assert_int_equal(terms.carrier, OC_CARRIER_UDP);
    assert_int_equal(terms.datagram_size, 1400);
    assert_int_equal(terms.staging, 138);
}

static void test_choice_of_the_carrier(void **state)
{
    oc_carrier_record_t *verbs = &ranks[1].carriers[OC_CARRIER_VERBS];
    oc_carrier_record_t *udp = &ranks[2].carriers[OC_CARRIER_UDP];

    (void) state;
    *verbs = (oc_carrier_record_t) {0};
    assert_int_equal(judge(OC_MULTICAST_AUTO), OC_OK);
    assert_int_equal(terms.carrier, OC_CARRIER_UDP);
    assert_declined(OC_MULTICAST_VERBS, 1, "rank 1 cannot multicast by verbs");
    assert_int_equal(terms.carrier, OC_CARRIER_VERBS);
    *udp = (oc_carrier_record_t) {0};
    assert_declined(OC_MULTICAST_AUTO, 2, "rank 2 cannot multicast by udp");
    assert_int_equal(terms.carrier, OC_CARRIER_UDP);
    ranks[3].carriers[OC_CARRIER_UDP] = (oc_carrier_record_t) {0};
    assert_declined(OC_MULTICAST_UDP, 2, "rank 2 cannot multicast by udp");
    assert_int_equal(terms.carrier, OC_CARRIER_UDP);
}

static void test_ranks_that_do_not_fit(void **state)
{
    (void) state;
    ranks[3].job++;
    assert_declined(OC_MULTICAST_AUTO, 3, "rank 3 belongs to another MPI job than rank 0");
    assert_int_equal(terms.carrier, OC_CARRIERS);
    ranks[2].settings++;
    assert_declined(OC_MULTICAST_AUTO, 2, "rank 2 has other coll_optcast settings than rank 0");
    ranks[1].ready = false;
    assert_declined(OC_MULTICAST_AUTO, 1, "rank 1 cannot take part");
    ranks[0].ready = false;
    assert_declined(OC_MULTICAST_AUTO, 0, "rank 0 cannot take part");
}

static void test_rank_of_another_version(void **state)
{
    (void) state;
    assert_int_equal(judge(OC_MULTICAST_AUTO), OC_OK);
    bytes[2][4]++;
    assert_int_equal(oc_cast_records_judge(bytes[0], RANKS, OC_MULTICAST_AUTO, &terms, &blamed,
                                           reason, sizeof(reason)), OC_DECLINED);
    assert_int_equal(blamed, 2);
    assert_string_equal(reason, "rank 2 has another version of optcast");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_round_trip, setup),
        cmocka_unit_test_setup(test_refusal, setup),
        cmocka_unit_test_setup(test_wrong_records, setup),
        cmocka_unit_test_setup(test_ports, setup),
        cmocka_unit_test_setup(test_terms, setup),
        cmocka_unit_test_setup(test_choice_of_the_carrier, setup),
        cmocka_unit_test_setup(test_ranks_that_do_not_fit, setup),
        cmocka_unit_test_setup(test_rank_of_another_version, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
