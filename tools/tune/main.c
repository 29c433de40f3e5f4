/* SPDX-License-Identifier: BSD-3-Clause */
/* optcast-tune: the order of things, and the exit status. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config.h"
#include "net/address.h"
#include "tools/tune/rules_file.h"
#include "tools/tune/survey.h"

typedef struct {
    const oc_tune_options_t *options;
    oc_perf_component_t component;
    oc_perf_job_t job;
    oc_tune_situation_t situation;
    oc_tune_survey_t survey;
    oc_tune_output_t output;    /* of rank 0 */
} run_t;

static const char *why_not(const run_t *run)
{
    const oc_perf_component_t *c = &run->component;

    if (!c->present) {
        return "coll/optcast is not loaded, there is nothing to measure: see optcast-info; with MPICH preload "
               "liboptcast-mpich.so";
    }
    if (!run->job.suspended) {
        return "the coll/optcast that is loaded does not let its mode be changed: load the one of "
               "this optcast-tune";
    }
    if (c->mode_now == c->mode_never) {
        return "the mode (coll_optcast_mode; with MPICH OPTCAST_MODE) is never: leave it out";
    }
    if (run->job.ranks < 2) {
        return "there is one rank only: start as many as the jobs that the rule is for have, on as "
               "many hosts";
    }
    return "";
}

/* As mode auto counts them: embedded aggregators are no servers. */
static bool count_servers(run_t *run, char *error, size_t size)
{
    const char *text = oc_perf_component_setting(&run->component, "servers");
    oc_server_list_t list = {0};
    uint64_t weights = 0;

    if (0 == strncmp(text, "embedded", strlen("embedded"))) {
        return true;
    }
    if (OC_OK != oc_server_list_parse(text, &list, error, size)) {
        return false;
    }
    for (unsigned i = 0; i < list.count; i++) {
        weights += list.servers[i].weight;
    }
    oc_server_list_free(&list);
    run->situation.servers = (unsigned) (weights / OC_WEIGHT_ONE);
    return true;
}

/* All that can go wrong before anything is measured. */
static bool prepare(run_t *run)
{
    const oc_tune_options_t *options = run->options;
    char error[OC_PERF_ERROR_SIZE] = "";

    if (!oc_perf_job_agree(&run->job, why_not(run))) {
        return false;
    }
    run->situation = (oc_tune_situation_t) {.hosts = (unsigned) run->job.hosts,
                                            .ranks_per_host = (unsigned) run->job.ranks_per_host,
                                            .ruled = options->ruled};
    if (0 == run->job.rank && count_servers(run, error, sizeof(error))) {
        (void) oc_tune_output_open(&run->output, options->output, options->add, error,
                                   sizeof(error));
    }
    return oc_perf_job_agree(&run->job, error);
}

/* What keeps the measurements from meaning anything; "": nothing. The same on all ranks. */
static const char *why_useless(const oc_tune_survey_t *survey)
{
    if (0 != survey->wrong) {
        return "results were wrong: no rule is written; please report this";
    }
    if (survey->previous_offloaded) {
        return "the communicator that should do without coll/optcast was offloaded, too: no rule "
               "is written; please report this";
    }
    if (!survey->offloaded) {
        return "nothing was offloaded, so that there is nothing to compare: see why with "
               "coll_optcast_verbose (with MPICH OPTCAST_VERBOSE) set to 1";
    }
    return "";
}

static void today(char date[16])
{
    time_t now = time(NULL);
    struct tm local;

    if (NULL == localtime_r(&now, &local) || 0 == strftime(date, 16, "%Y-%m-%d", &local)) {
        date[0] = '\0';
    }
}

static void write_rule(run_t *run, char *error, size_t size)
{
    char mpi[256], date[16];
    oc_tune_facts_t facts = {
        .situation = run->situation, .version = PACKAGE_VERSION, .mpi = mpi, .date = date,
        .servers = oc_perf_component_setting(&run->component, "servers"),
        .type = oc_perf_has_data(run->options->collective) ? oc_perf_type_name(run->options->type)
                                                           : NULL,
        .rounds = run->options->rounds};

    oc_perf_library(mpi, sizeof(mpi));
    mpi[strcspn(mpi, ",")] = '\0';
    today(date);
    if (oc_tune_output_write(&run->output, &facts, run->survey.findings, run->survey.count, error,
                             size)
        && NULL != run->options->output) {
        printf("# written to %s\n", run->options->output);
    }
}

static int measure(run_t *run)
{
    char error[OC_PERF_ERROR_SIZE] = "";

    if (!oc_tune_survey(run->options, &run->job, &run->component, &run->survey)) {
        return OC_PERF_EXIT_USAGE;
    }
    snprintf(error, sizeof(error), "%s", why_useless(&run->survey));
    if ('\0' == error[0] && 0 == run->job.rank) {
        write_rule(run, error, sizeof(error));
    }
    return oc_perf_job_agree(&run->job, error) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Everything that needs communicators. */
static int run_job(const oc_tune_options_t *options)
{
    static run_t run;
    int status = OC_PERF_EXIT_USAGE;

    run.options = options;
    oc_perf_component_open(&run.component, &options->collective, 1);
    oc_perf_component_insist(&run.component);
    oc_perf_job_open(&run.job, "optcast-tune", &run.component);
    if (prepare(&run)) {
        status = measure(&run);
    }
    oc_tune_output_close(&run.output);
    oc_perf_job_close(&run.job);
    oc_perf_component_close(&run.component);
    return status;
}

int main(int argc, char **argv)
{
    oc_tune_options_t options;
    oc_perf_command_t command;
    char error[OC_PERF_ERROR_SIZE];
    int status;

    MPI_Init(&argc, &argv);
    command = oc_tune_options_parse(argc, argv, &options, error, sizeof(error));
    status = OC_PERF_RUN == command
                 ? run_job(&options)
                 : oc_perf_answer(command, "optcast-tune", PACKAGE_VERSION, oc_tune_options_help,
                                  error);
    MPI_Finalize();
    return status;
}
