/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of what optcast-tune makes of its measurements. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tools/tune/decision.h"

#define ROUNDS 5

/* ---- one size ---- */

static oc_tune_finding_t judge(const double *ours, const double *previous, unsigned rounds)
{
    oc_tune_sample_t sample = {.bytes = 1024, .offloaded = true, .rounds = rounds};
    oc_tune_finding_t finding;

    memcpy(sample.ours, ours, rounds * sizeof(*ours));
    memcpy(sample.previous, previous, rounds * sizeof(*previous));
    oc_tune_judge(&sample, &finding);
    return finding;
}

#define JUDGE(...) judge((const double[]) {10, 10, 10, 10, 10}, (const double[]) {__VA_ARGS__}, \
                         ROUNDS)

static void test_numbers(void **state)
{
    oc_tune_finding_t finding = judge((const double[]) {4, 2, 8, 1, 5},
                                      (const double[]) {8, 3, 8, 5, 5}, ROUNDS);

    (void) state;
    assert_true(4 == finding.ours && 5 == finding.previous);
    /* 1, 1, 1.5, 2, 5 */
    assert_true(1.5 == finding.ratio && 1 == finding.low && 2 == finding.high);
    finding = judge((const double[]) {1, 1, 1, 1, 1, 1}, (const double[]) {6, 5, 4, 3, 2, 1}, 6);
    assert_true(3.5 == finding.ratio && 2.25 == finding.low && 4.75 == finding.high);
    assert_true(1 == finding.ours && 3.5 == finding.previous);
    finding = judge((const double[]) {2}, (const double[]) {4}, 1);
    assert_true(2 == finding.ratio && 2 == finding.low && 2 == finding.high);
}

static void test_verdicts(void **state)
{
    (void) state;
    assert_int_equal(JUDGE(20, 21, 20, 19, 20).verdict, OC_TUNE_FASTER);
    assert_int_equal(JUDGE(5, 5, 5, 5, 5).verdict, OC_TUNE_SLOWER);
    assert_int_equal(JUDGE(10, 10, 10, 10, 10).verdict, OC_TUNE_ALIKE);
    /* faster by less than the margin, however little the noise is */
    assert_int_equal(JUDGE(10.3, 10.3, 10.3, 10.3, 10.3).verdict, OC_TUNE_ALIKE);
    assert_int_equal(JUDGE(9.7, 9.7, 9.7, 9.7, 9.7).verdict, OC_TUNE_ALIKE);
    assert_int_equal(JUDGE(10.4, 10.4, 10.4, 10.4, 10.4).verdict, OC_TUNE_FASTER);
    /* one round that is far off proves nothing either way */
    assert_int_equal(JUDGE(11, 11, 11, 11, 1).verdict, OC_TUNE_FASTER);
    assert_int_equal(JUDGE(9, 9, 9, 9, 900).verdict, OC_TUNE_SLOWER);
    /* a median that is better by much, and rounds that do not agree */
    assert_int_equal(JUDGE(9, 9, 15, 20, 20).verdict, OC_TUNE_ALIKE);
    assert_int_equal(JUDGE(5, 5, 8, 11, 11).verdict, OC_TUNE_ALIKE);
}

/* The whole machine is slower for two rounds: ratios do not see it. */
static void test_drift(void **state)
{
    (void) state;
    assert_int_equal(judge((const double[]) {10, 10, 90, 90, 10},
                           (const double[]) {12, 12, 108, 108, 12}, ROUNDS).verdict,
                     OC_TUNE_FASTER);
}

static void test_not_offloaded(void **state)
{
    oc_tune_sample_t sample = {.rounds = 1, .ours = {1}, .previous = {9}};
    oc_tune_finding_t finding;

    (void) state;
    oc_tune_judge(&sample, &finding);
    assert_int_equal(finding.verdict, OC_TUNE_ALIKE);
    sample.offloaded = true;
    oc_tune_judge(&sample, &finding);
    assert_int_equal(finding.verdict, OC_TUNE_FASTER);
}

/* ---- ranges ---- */

static oc_tune_finding_t findings[OC_TUNE_MAX_POINTS];
static oc_sizes_t ranges;
static size_t num_findings;

/* f: faster, a: alike, s: slower, of sizes from first on, each twice the one before. */
static void make(const char *letters, uint64_t first)
{
    num_findings = 0;
    for (; '\0' != *letters; letters++, first *= 2) {
        findings[num_findings++] = (oc_tune_finding_t) {
            .bytes = first, .offloaded = true,
            .verdict = 'f' == *letters ? OC_TUNE_FASTER
                       : 'a' == *letters ? OC_TUNE_ALIKE : OC_TUNE_SLOWER};
    }
}

static const char *text(void)
{
    static char words[256];

    oc_tune_ranges(findings, num_findings, &ranges);
    oc_tune_ranges_text(&ranges, words, sizeof(words));
    return words;
}

static const char *of(const char *letters, uint64_t first)
{
    make(letters, first);
    return text();
}

static void test_ranges(void **state)
{
    (void) state;
    /* 8 B to 64 MiB */
    assert_string_equal(of("ssssssssssssssssssssssss", 8), "never");
    assert_string_equal(of("aaaaaaaaaaaaaaaaaaaaaaaa", 8), "never");
    assert_string_equal(of("ffffffffffffffffffffffff", 8), "always");
    assert_string_equal(of("sssssssssaaaafffffffffff", 8), "65536-");
    assert_string_equal(of("sfffffffffffffffffffffff", 8), "16-");
    assert_string_equal(of("ffffffsssssssassssssssss", 8), "0-256");
    assert_string_equal(of("ssfffsssssssssssffffffff", 8), "32-128, 524288-");
}

static void test_noise(void **state)
{
    (void) state;
    /* one size alone */
    assert_string_equal(of("ssfssfasafsssssssssssssf", 8), "never");
    assert_string_equal(of("sssssssssssssfafafafafas", 8), "never");
    /* one that cannot be told, in a range; two */
    assert_string_equal(of("sssssssssssssffffaffffff", 8), "65536-");
    assert_string_equal(of("sssssssssssssffffaafffff", 8), "65536-524288, 4194304-");
    /* one that is slower */
    assert_string_equal(of("sssssssssssssffffsffffff", 8), "65536-524288, 2097152-");
    assert_string_equal(of("sssssssssssssffffsfsssss", 8), "65536-524288");
    /* ends are always faster */
    assert_string_equal(of("ssssssssssssaffaasssssss", 8), "65536-131072");
    assert_string_equal(of("sssssssssssssfffffffffaa", 8), "65536-16777216");
    assert_string_equal(of("sssssssssssssffffffffffa", 8), "65536-33554432");
}

/* Rules have no room for more than four: the longest are kept, and the larger sizes. */
static void test_many(void **state)
{
    (void) state;
    assert_string_equal(of("ffsffsffsffsffffs", 8),
                        "64-128, 512-1024, 4096-8192, 32768-262144");
    assert_string_equal(of("ffsfffsfffsfffsfffs", 8),
                        "64-256, 1024-4096, 16384-65536, 262144-1048576");
    assert_string_equal(of("ffsffsffsff", 8), "0-16, 64-128, 512-1024, 4096-8192");
}

/* What was not measured is not known, but where time is in proportion to size. */
static void test_ends(void **state)
{
    (void) state;
    assert_string_equal(of("ffff", 16), "16-128");
    assert_string_equal(of("ffff", 4), "0-32");
    assert_string_equal(of("ssff", 1 << 18), "1048576-2097152");
    assert_string_equal(of("ssff", 1 << 19), "2097152-");
    assert_string_equal(of("ffff", 1 << 20), "1048576-");
    assert_string_equal(of("f", 1 << 20), "never");
    assert_string_equal(of("", 8), "never");
}

/* ---- sizes in between ---- */

/* bytes between the sizes that are there. */
static void insert(uint64_t bytes, oc_tune_verdict_t verdict)
{
    size_t at = num_findings++;

    for (; at > 0 && findings[at - 1].bytes > bytes; at--) {
        findings[at] = findings[at - 1];
    }
    findings[at] = (oc_tune_finding_t) {.bytes = bytes, .finer = true, .offloaded = true,
                                        .verdict = verdict};
}

static void test_finer(void **state)
{
    uint64_t sizes[OC_TUNE_MAX_POINTS];

    (void) state;
    make("sssff", 1 << 20);
    assert_int_equal(oc_tune_finer(findings, num_findings, 4, sizes), 3);
    assert_true(5u << 20 == sizes[0] && 6u << 20 == sizes[1] && 7u << 20 == sizes[2]);
    make("ffsff", 1024);
    assert_int_equal(oc_tune_finer(findings, num_findings, 4, sizes), 6);
    assert_true(2560 == sizes[0] && 3584 == sizes[2] && 5120 == sizes[3] && 7168 == sizes[5]);
    /* only whole elements */
    make("ffss", 8);
    assert_int_equal(oc_tune_finer(findings, num_findings, 4, sizes), 3);
    assert_true(20 == sizes[0] && 24 == sizes[1] && 28 == sizes[2]);
    assert_int_equal(oc_tune_finer(findings, num_findings, 8, sizes), 0);
    make("ssss", 8);
    assert_int_equal(oc_tune_finer(findings, num_findings, 4, sizes), 0);
    make("ffff", 8);
    assert_int_equal(oc_tune_finer(findings, num_findings, 4, sizes), 0);
}

static void test_finer_ends(void **state)
{
    (void) state;
    make("sffffs", 1024);
    assert_string_equal(text(), "2048-16384");
    insert(1792, OC_TUNE_FASTER);
    insert(1536, OC_TUNE_ALIKE);
    insert(1280, OC_TUNE_FASTER);
    insert(20480, OC_TUNE_FASTER);
    insert(24576, OC_TUNE_FASTER);
    insert(28672, OC_TUNE_SLOWER);
    assert_string_equal(text(), "1792-24576");
}

/* They only move ends: they neither make a range nor divide one. */
static void test_finer_alone(void **state)
{
    (void) state;
    make("ssfsss", 1024);
    insert(3072, OC_TUNE_FASTER);
    insert(3584, OC_TUNE_FASTER);
    assert_string_equal(text(), "never");
    make("sffffs", 1024);
    insert(6144, OC_TUNE_SLOWER);
    assert_string_equal(text(), "2048-16384");
}

/* ---- noisy data ---- */

/* From 0 to 1, the same in each run. */
static double random_part(void)
{
    static uint64_t state = 88172645463325252ull;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double) (state >> 11) / (double) (1ull << 53);
}

/*
 * Time is latency and size by rate, with noise, and now and then something far off. Ours has
 * offset more of latency and advantage times the rate.
 */
static void simulate(double offset, double advantage, double noise)
{
    num_findings = 0;
    for (uint64_t bytes = 8; bytes <= 64u << 20; bytes *= 2) {
        oc_tune_sample_t sample = {.bytes = bytes, .offloaded = true, .rounds = ROUNDS};

        for (unsigned i = 0; i < ROUNDS; i++) {
            double far = random_part() < 0.01 ? 3 : 1, far_too = random_part() < 0.01 ? 3 : 1;

            sample.previous[i] = (20e-6 + (double) bytes / 1e9)
                                 * (1 + noise * random_part()) * far;
            sample.ours[i] = (20e-6 + offset + (double) bytes / 1e9 / advantage)
                             * (1 + noise * random_part()) * far_too;
        }
        oc_tune_judge(&sample, &findings[num_findings++]);
    }
}

/* 20 us more, and 1.5 times the rate: it pays from 60 000 bytes on, and visibly somewhat later. */
static void test_crossing(void **state)
{
    (void) state;
    for (unsigned run = 0; run < 200; run++) {
        simulate(20e-6, 1.5, 0.05);
        oc_tune_ranges(findings, num_findings, &ranges);
        assert_in_range(ranges.count, 1, 2);
        assert_in_range(ranges.ranges[0].first, 65536, 524288);
        assert_true(UINT64_MAX == ranges.ranges[ranges.count - 1].last);
    }
}

/* What is no faster gets nothing, and what is slower does not, either. */
static void test_no_gain(void **state)
{
    (void) state;
    for (unsigned run = 0; run < 200; run++) {
        simulate(0, 1, 0.03);
        assert_string_equal(text(), "never");
        simulate(20e-6, 0.8, 0.3);
        assert_string_equal(text(), "never");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_drift),       cmocka_unit_test(test_not_offloaded),
        cmocka_unit_test(test_ranges),      cmocka_unit_test(test_noise),
        cmocka_unit_test(test_many),        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_finer),
        cmocka_unit_test(test_finer_ends),  cmocka_unit_test(test_finer_alone),
        cmocka_unit_test(test_crossing),    cmocka_unit_test(test_no_gain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
