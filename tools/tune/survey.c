/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of measurements. A round measures every size once, so that what disturbs the machine
 * for a while is in one round of many sizes, and not in all rounds of one.
 */
#include "tools/tune/survey.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/perf/values.h"

/* How long a size takes in a round, both sides together, if one iteration does not take longer. */
#define SECONDS        0.1
#define MAX_ITERATIONS 1000

/* To learn how long an operation takes. */
#define TRIAL_ITERATIONS 2

#define WARMUP 1

typedef struct {
    oc_tune_sample_t samples[OC_TUNE_MAX_POINTS]; /* by size; times on rank 0 only */
    int iterations[OC_TUNE_MAX_POINTS]; /* 0: not measured yet */
    size_t count;
    oc_perf_options_t options;
    const oc_perf_job_t *job;
    oc_perf_meter_t *meter;
    oc_tune_survey_t *result;
} survey_t;

/* What a size is a multiple of. */
static uint64_t unit_of(const survey_t *s)
{
    uint64_t element = oc_perf_type_size(s->options.type);

    bool equal = OC_PERF_REDUCE_SCATTER_BLOCK == s->options.collective;

    return equal ? element * (uint64_t) s->job->ranks : element;
}

static void add_size(survey_t *s, uint64_t bytes, bool finer)
{
    size_t at = s->count;

    if (OC_TUNE_MAX_POINTS == s->count) {
        return;
    }
    s->count++;
    for (; at > 0 && s->samples[at - 1].bytes > bytes; at--) {
        s->samples[at] = s->samples[at - 1];
        s->iterations[at] = s->iterations[at - 1];
    }
    s->samples[at] = (oc_tune_sample_t) {.bytes = bytes, .finer = finer, .offloaded = true};
    s->iterations[at] = 0;
}

/*
 * In whole elements, of which there is at least one: small sizes may become the same. Without
 * elements there is one size, which is none.
 */
static void add_sizes(survey_t *s)
{
    uint64_t element = unit_of(s), bytes;

    if (!oc_perf_has_data(s->options.collective)) {
        add_size(s, 0, false);
        return;
    }
    for (uint64_t size = s->options.min; size <= s->options.max; size *= 2) {
        bytes = size < element ? element : size / element * element;
        if (0 == s->count || s->samples[s->count - 1].bytes != bytes) {
            add_size(s, bytes, false);
        }
    }
}

/* ---- rows ---- */

static bool measure(survey_t *s, uint64_t bytes, int iterations, oc_perf_row_t *row)
{
    const oc_perf_side_t *sides = row->sides;

    oc_perf_meter_effort(s->meter, iterations, WARMUP);
    if (!oc_perf_meter_row(s->meter, bytes, row)) {
        oc_perf_row_free(row);
        return false;
    }
    s->result->wrong += sides[OC_PERF_OURS].wrong + sides[OC_PERF_PREVIOUS].wrong;
    s->result->offloaded |= 0 != sides[OC_PERF_OURS].counters.offloaded;
    s->result->previous_offloaded |= 0 != sides[OC_PERF_PREVIOUS].counters.offloaded;
    return true;
}

/* How often it is done in each round. */
static bool try_size(survey_t *s, size_t at)
{
    oc_perf_row_t row;
    double both;
    int iterations;

    if (!measure(s, s->samples[at].bytes, TRIAL_ITERATIONS, &row)) {
        return false;
    }
    both = row.sides[OC_PERF_OURS].median + row.sides[OC_PERF_PREVIOUS].median;
    iterations = both * MAX_ITERATIONS > SECONDS ? (int) (SECONDS / both) : MAX_ITERATIONS;
    oc_perf_row_free(&row);
    MPI_Bcast(&iterations, 1, MPI_INT, 0, s->job->control);
    s->iterations[at] = iterations < 1 ? 1 : iterations;
    return true;
}

static bool measure_size(survey_t *s, size_t at)
{
    oc_tune_sample_t *sample = &s->samples[at];
    oc_perf_row_t row;

    if (!measure(s, sample->bytes, s->iterations[at], &row)) {
        return false;
    }
    sample->ours[sample->rounds] = row.sides[OC_PERF_OURS].median;
    sample->previous[sample->rounds] = row.sides[OC_PERF_PREVIOUS].median;
    sample->rounds++;
    sample->offloaded = sample->offloaded && (uint64_t) s->iterations[at]
                                             == row.sides[OC_PERF_OURS].counters.offloaded;
    oc_perf_row_free(&row);
    return true;
}

/* All sizes that have not had their rounds yet. */
static bool measure_new(survey_t *s, int rounds, const char *what)
{
    double begin = MPI_Wtime();
    bool good = true;

    for (size_t at = 0; at < s->count && good; at++) {
        good = 0 != s->iterations[at] || try_size(s, at);
    }
    for (int round = 0; round < rounds && good; round++) {
        for (size_t at = 0; at < s->count && good; at++) {
            good = s->samples[at].rounds > (unsigned) round || measure_size(s, at);
        }
        if (0 == s->job->rank && good) {
            fprintf(stderr, "optcast-tune: %s, round %d of %d, %.1f s\n", what, round + 1, rounds,
                    MPI_Wtime() - begin);
        }
    }
    return good;
}

static void judge(survey_t *s)
{
    for (size_t at = 0; at < s->count; at++) {
        oc_tune_judge(&s->samples[at], &s->result->findings[at]);
    }
    s->result->count = s->count;
}

/* Rank 0 has the times. */
static size_t add_finer(survey_t *s)
{
    uint64_t sizes[OC_TUNE_MAX_POINTS], count = 0;

    if (0 == s->job->rank) {
        judge(s);
        count = oc_tune_finer(s->result->findings, s->count, unit_of(s), sizes);
    }
    MPI_Bcast(&count, 1, MPI_UINT64_T, 0, s->job->control);
    MPI_Bcast(sizes, (int) count, MPI_UINT64_T, 0, s->job->control);
    for (size_t i = 0; i < count; i++) {
        add_size(s, sizes[i], true);
    }
    return count;
}

static bool run(survey_t *s, int rounds)
{
    add_sizes(s);
    if (!measure_new(s, rounds, "all sizes")
        || (0 != add_finer(s) && !measure_new(s, rounds, "sizes in between"))) {
        return false;
    }
    if (0 == s->job->rank) {
        judge(s);
    }
    return true;
}

bool oc_tune_survey(const oc_tune_options_t *options, const oc_perf_job_t *job,
                    const oc_perf_component_t *component, oc_tune_survey_t *result)
{
    survey_t *s = calloc(1, sizeof(*s));
    bool good;

    *result = (oc_tune_survey_t) {.count = 0};
    if (!oc_perf_job_agree(job, NULL == s ? "no memory" : "")) {
        free(s);
        return false;
    }
    s->options = (oc_perf_options_t) {
        .collective = options->collective, .min = options->min, .max = options->max, .factor = 2,
        .iterations = MAX_ITERATIONS, .warmup = WARMUP, .type = options->type, .op = OC_PERF_SUM,
        .first = -1, .stream = 1,
        .check = job->ranks <= OC_PERF_MAX_CHECKED_RANKS, .compare = true, .interfaces = "none"};
    s->job = job;
    s->result = result;
    s->meter = oc_perf_meter_open(&s->options, job, component);
    good = NULL != s->meter && run(s, options->rounds);
    if (NULL != s->meter) {
        oc_perf_meter_close(s->meter);
    }
    free(s);
    return good;
}
