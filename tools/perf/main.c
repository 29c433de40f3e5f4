/* SPDX-License-Identifier: BSD-3-Clause */
/* optcast-perf: the order of things, and the exit status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/perf/file.h"
#include "tools/perf/perf_records.h"

#define MAX_ROWS   64 /* sizes at least double, and end at 2^60 */

typedef struct {
    oc_perf_facts_t facts;
    oc_perf_meter_t *meter;
    oc_perf_file_t json, csv;      /* of rank 0 */
    oc_perf_row_t rows[MAX_ROWS];
    size_t num_rows;
} run_t;

static bool open_files(run_t *run, const oc_perf_options_t *options, const oc_perf_job_t *job)
{
    char error[OC_PERF_ERROR_SIZE] = "";

    if (0 == job->rank && oc_perf_file_open(&run->json, options->json, error, sizeof(error))) {
        (void) oc_perf_file_open(&run->csv, options->csv, error, sizeof(error));
    }
    return oc_perf_job_agree(job, error);
}

static bool write_files(run_t *run)
{
    char error[OC_PERF_ERROR_SIZE] = "";

    if (NULL != run->json.out) {
        oc_perf_write_json(run->json.out, &run->facts, run->rows, run->num_rows);
    }
    if (NULL != run->csv.out) {
        oc_perf_write_csv(run->csv.out, &run->facts, run->rows, run->num_rows);
    }
    if (oc_perf_file_commit(&run->json, error, sizeof(error))) {
        (void) oc_perf_file_commit(&run->csv, error, sizeof(error));
    }
    return oc_perf_job_agree(run->facts.job, error);
}

static bool measure_size(run_t *run, uint64_t size)
{
    oc_perf_row_t *row = &run->rows[run->num_rows];
    bool print = 0 == run->facts.job->rank;

    if (print) {
        oc_perf_progress(size);
    }
    if (!oc_perf_meter_row(run->meter, size, row)) {
        return false;
    }
    if (print) {
        oc_perf_progress(0);
        oc_perf_print_row(&run->facts, row);
    }
    run->num_rows++;
    return true;
}

/* Small sizes may be the same when they are rounded to whole elements of all ranks. */
static bool is_new(const run_t *run, uint64_t size)
{
    const oc_perf_facts_t *facts = &run->facts;
    oc_perf_layout_t layout = oc_perf_layout(facts->options, size, 0, (unsigned) facts->job->ranks);
    uint64_t bytes = layout.total * oc_perf_type_size(facts->options->type);

    return 0 == run->num_rows || run->rows[run->num_rows - 1].bytes != bytes;
}

static bool measure_all(run_t *run)
{
    const oc_perf_options_t *options = run->facts.options;
    uint64_t size = options->min;
    bool good = true;

    while (good && size <= options->max && run->num_rows < MAX_ROWS) {
        good = !is_new(run, size) || measure_size(run, size);
        if (0 == size || size > options->max / options->factor) {
            break;
        }
        size *= options->factor;
    }
    return good;
}

/* On all ranks alike. */
static bool has_wrong_results(const run_t *run)
{
    uint64_t wrong = 0;

    for (size_t i = 0; i < run->num_rows; i++) {
        wrong += run->rows[i].sides[OC_PERF_OURS].wrong;
        wrong += run->rows[i].sides[OC_PERF_PREVIOUS].wrong;
    }
    return 0 != wrong;
}

/* The comparison would be one of the same with the same. */
static bool previous_was_offloaded(const run_t *run)
{
    bool found = false;

    for (size_t i = 0; i < run->num_rows; i++) {
        found = found || 0 != run->rows[i].sides[OC_PERF_PREVIOUS].counters.offloaded;
    }
    if (found && 0 == run->facts.job->rank) {
        fprintf(stderr, "optcast-perf: --compare: the communicator that should do without "
                "coll/optcast was offloaded, too: the ratio means nothing; please report this\n");
    }
    return found;
}

static int measure(run_t *run)
{
    bool good;

    if (0 == run->facts.job->rank) {
        oc_perf_print_header(&run->facts);
    }
    good = measure_all(run) && write_files(run);
    good = !previous_was_offloaded(run) && good;
    return good && !has_wrong_results(run) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run(const oc_perf_options_t *options, const oc_perf_job_t *job,
               const oc_perf_component_t *component)
{
    run_t run = {.facts = oc_perf_facts(options, job, component)};
    int status = OC_PERF_EXIT_USAGE;

    run.meter = oc_perf_meter_open(options, job, component);
    if (NULL != run.meter && open_files(&run, options, job)) {
        status = measure(&run);
    }
    oc_perf_file_discard(&run.json);
    oc_perf_file_discard(&run.csv);
    for (size_t i = 0; i < run.num_rows; i++) {
        oc_perf_row_free(&run.rows[i]);
    }
    if (NULL != run.meter) {
        oc_perf_meter_close(run.meter);
    }
    return status;
}

/* Everything that needs communicators. */
static int run_job(const oc_perf_options_t *options)
{
    const oc_perf_collective_t collectives[] = {options->collective, options->second};
    oc_perf_component_t component;
    oc_perf_job_t job;
    int status;

    oc_perf_component_open(&component, collectives, options->pair ? 2 : 1);
    oc_perf_job_open(&job, "optcast-perf", &component);
    status = run(options, &job, &component);
    oc_perf_job_close(&job);
    oc_perf_component_close(&component);
    return status;
}

int main(int argc, char **argv)
{
    oc_perf_options_t options;
    oc_perf_command_t command;
    char error[OC_PERF_ERROR_SIZE];
    int status;

    MPI_Init(&argc, &argv);
    command = oc_perf_options_parse(argc, argv, &options, error, sizeof(error));
    status = OC_PERF_RUN == command
                 ? run_job(&options)
                 : oc_perf_answer(command, "optcast-perf", oc_perf_facts(NULL, NULL, NULL).version,
                                  oc_perf_options_help, error);
    MPI_Finalize();
    return status;
}
