/* SPDX-License-Identifier: BSD-3-Clause */
/* Medians and quartiles, verdicts, and ranges of sizes. */
#include "tools/tune/decision.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one size ---- */

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Between the two values that are next to it; values are sorted. */
static double quantile(const double *values, unsigned count, unsigned quarter)
{
    unsigned at = quarter * (count - 1), below = at / 4;
    double part = (at % 4) / 4.0;

    return below + 1 < count ? values[below] + part * (values[below + 1] - values[below])
                             : values[below];
}

static double median(const double *values, unsigned count)
{
    double sorted[OC_TUNE_MAX_ROUNDS];

    memcpy(sorted, values, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_value);
    return quantile(sorted, count, 2);
}

static oc_tune_verdict_t verdict(const oc_tune_finding_t *finding)
{
    double margin = 1 + 1.0 / OC_TUNE_MARGIN;

    if (finding->low >= margin) {
        return finding->offloaded ? OC_TUNE_FASTER : OC_TUNE_ALIKE;
    }
    return finding->high * margin <= 1 ? OC_TUNE_SLOWER : OC_TUNE_ALIKE;
}

/* Ratios are taken round by round: what slows the machine down for a while slows both. */
void oc_tune_judge(const oc_tune_sample_t *sample, oc_tune_finding_t *finding)
{
    double ratios[OC_TUNE_MAX_ROUNDS];
    unsigned count = sample->rounds;

    for (unsigned i = 0; i < count; i++) {
        ratios[i] = sample->ours[i] > 0 ? sample->previous[i] / sample->ours[i] : 1;
    }
    qsort(ratios, count, sizeof(*ratios), by_value);
    *finding = (oc_tune_finding_t) {.bytes = sample->bytes, .finer = sample->finer,
                                    .offloaded = sample->offloaded,
                                    .ours = median(sample->ours, count),
                                    .previous = median(sample->previous, count),
                                    .ratio = quantile(ratios, count, 2),
                                    .low = quantile(ratios, count, 1),
                                    .high = quantile(ratios, count, 3)};
    finding->verdict = verdict(finding);
}

/* ---- ranges ---- */

/* The first sizes, without those in between. */
typedef struct {
    const oc_tune_finding_t *findings[OC_TUNE_MAX_POINTS];
    size_t count;
} coarse_t;

/* Numbers of coarse sizes; both belong to it. */
typedef struct {
    size_t first, last;
} run_t;

static coarse_t coarse_of(const oc_tune_finding_t *findings, size_t count)
{
    coarse_t coarse = {.count = 0};

    for (size_t i = 0; i < count; i++) {
        if (!findings[i].finer) {
            coarse.findings[coarse.count++] = &findings[i];
        }
    }
    return coarse;
}

static bool is(const coarse_t *coarse, size_t at, oc_tune_verdict_t verdict)
{
    return at < coarse->count && verdict == coarse->findings[at]->verdict;
}

/* The next run at or behind begin; false: there is none. */
static bool find_run(const coarse_t *coarse, size_t begin, run_t *run)
{
    while (begin < coarse->count
           && !(is(coarse, begin, OC_TUNE_FASTER) && is(coarse, begin + 1, OC_TUNE_FASTER))) {
        begin++;
    }
    if (begin >= coarse->count) {
        return false;
    }
    *run = (run_t) {begin, begin + 1};
    for (;;) {
        size_t next = run->last + 1;

        next += is(coarse, next, OC_TUNE_ALIKE);
        if (!is(coarse, next, OC_TUNE_FASTER)) {
            return true;
        }
        run->last = next;
    }
}

/* The first sizes that are next to a run are not faster, only those in between may be. */
static uint64_t first_byte(const coarse_t *coarse, const run_t *run, const oc_tune_finding_t *all)
{
    const oc_tune_finding_t *at = coarse->findings[run->first];

    if (0 == run->first && at->bytes <= OC_TUNE_SMALLEST) {
        return 0;
    }
    while (at > all && OC_TUNE_FASTER == at[-1].verdict) {
        at--;
    }
    return at->bytes;
}

static uint64_t last_byte(const coarse_t *coarse, const run_t *run, const oc_tune_finding_t *end)
{
    const oc_tune_finding_t *at = coarse->findings[run->last];

    if (coarse->count - 1 == run->last && at->bytes >= OC_TUNE_LINEAR) {
        return UINT64_MAX;
    }
    while (at + 1 < end && OC_TUNE_FASTER == at[1].verdict) {
        at++;
    }
    return at->bytes;
}

static void remove_shortest(run_t *runs, size_t count)
{
    size_t shortest = 0;

    for (size_t i = 1; i < count; i++) {
        if (runs[i].last - runs[i].first < runs[shortest].last - runs[shortest].first) {
            shortest = i;
        }
    }
    memmove(runs + shortest, runs + shortest + 1, (count - shortest - 1) * sizeof(*runs));
}

void oc_tune_ranges(const oc_tune_finding_t *findings, size_t count, oc_sizes_t *sizes)
{
    coarse_t coarse = coarse_of(findings, count);
    run_t runs[OC_MAX_SIZES + 1] = {{0, 0}}, run;

    *sizes = (oc_sizes_t) {.count = 0};
    if (1 == count && 0 == findings[0].bytes) {
        sizes->count = OC_TUNE_FASTER == findings[0].verdict;
        sizes->ranges[0] = (oc_range_t) {.last = UINT64_MAX};
        return;
    }
    for (size_t begin = 0; find_run(&coarse, begin, &run); begin = run.last + 1) {
        runs[sizes->count++] = run;
        if (sizes->count > OC_MAX_SIZES) {
            remove_shortest(runs, sizes->count--);
        }
    }
    for (uint64_t i = 0; i < sizes->count; i++) {
        sizes->ranges[i] = (oc_range_t) {first_byte(&coarse, &runs[i], findings),
                                         last_byte(&coarse, &runs[i], findings + count)};
    }
}

/* ---- more sizes ---- */

/* Between two sizes, in equal steps. Returns how many there are now. */
static size_t add_between(const oc_tune_finding_t *low, const oc_tune_finding_t *high,
                          uint64_t element, uint64_t *sizes, size_t count)
{
    uint64_t step = (high->bytes - low->bytes) / (OC_TUNE_FINER + 1) / element * element;

    for (unsigned i = 1; i <= OC_TUNE_FINER && 0 != step; i++) {
        sizes[count++] = low->bytes + i * step;
    }
    return count;
}

size_t oc_tune_finer(const oc_tune_finding_t *findings, size_t count, uint64_t element,
                     uint64_t *sizes)
{
    size_t found = 0;
    coarse_t coarse = coarse_of(findings, count);
    run_t run;

    for (size_t begin = 0; find_run(&coarse, begin, &run); begin = run.last + 1) {
        if (run.first > 0 && found + OC_TUNE_FINER <= OC_TUNE_MAX_POINTS) {
            found = add_between(&findings[run.first - 1], &findings[run.first], element, sizes,
                                found);
        }
        if (run.last + 1 < count && found + OC_TUNE_FINER <= OC_TUNE_MAX_POINTS) {
            found = add_between(&findings[run.last], &findings[run.last + 1], element, sizes,
                                found);
        }
    }
    return found;
}

/* ---- words ---- */

static size_t add_range(const oc_range_t *range, bool first, char *text, size_t size)
{
    int length;

    if (UINT64_MAX == range->last) {
        length = snprintf(text, size, "%s%" PRIu64 "-", first ? "" : ", ", range->first);
    } else {
        length = snprintf(text, size, "%s%" PRIu64 "-%" PRIu64, first ? "" : ", ", range->first,
                          range->last);
    }
    return (size_t) length < size ? (size_t) length : size - 1;
}

void oc_tune_ranges_text(const oc_sizes_t *sizes, char *text, size_t size)
{
    size_t used = 0;

    if (0 == sizes->count) {
        snprintf(text, size, "never");
    } else if (0 == sizes->ranges[0].first && UINT64_MAX == sizes->ranges[0].last) {
        snprintf(text, size, "always");
    } else {
        for (uint64_t i = 0; i < sizes->count; i++) {
            used += add_range(&sizes->ranges[i], 0 == i, text + used, size - used);
        }
    }
}
