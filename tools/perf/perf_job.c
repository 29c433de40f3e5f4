/* SPDX-License-Identifier: BSD-3-Clause */
/* Making the communicators, counting hosts, agreeing about errors. */
#include "tools/perf/perf_job.h"

#include <stdlib.h>
#include <string.h>

static void count_hosts(oc_perf_job_t *job)
{
    int rank, size, leaders;
    MPI_Comm host;

    MPI_Comm_split_type(job->control, MPI_COMM_TYPE_SHARED, job->rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank);
    MPI_Comm_size(host, &size);
    MPI_Comm_free(&host);
    job->leader = 0 == rank;
    leaders = job->leader;
    MPI_Allreduce(&leaders, &job->hosts, 1, MPI_INT, MPI_SUM, job->control);
    MPI_Allreduce(&size, &job->ranks_per_host, 1, MPI_INT, MPI_MAX, job->control);
}

void oc_perf_job_open(oc_perf_job_t *job, const char *program,
                      const oc_perf_component_t *component)
{
    job->program = program;
    MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &job->ours);
    oc_perf_component_settle(component, job->ours);
    job->suspended = oc_perf_component_suspend(component);
    MPI_Comm_dup(MPI_COMM_WORLD, &job->control);
    MPI_Comm_dup(MPI_COMM_WORLD, &job->previous);
    oc_perf_component_settle(component, job->previous);
    count_hosts(job);
    if (job->suspended) {
        oc_perf_component_resume(component);
    }
}

void oc_perf_job_close(oc_perf_job_t *job)
{
    MPI_Comm_free(&job->previous);
    MPI_Comm_free(&job->ours);
    MPI_Comm_free(&job->control);
}

bool oc_perf_job_agree(const oc_perf_job_t *job, const char *error)
{
    int mine = '\0' != error[0] ? job->rank : job->ranks, first;
    char text[OC_PERF_ERROR_SIZE];

    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, job->control);
    if (job->ranks == first) {
        return true;
    }
    snprintf(text, sizeof(text), "%s", error);
    MPI_Bcast(text, sizeof(text), MPI_CHAR, first, job->control);
    if (0 == job->rank) {
        fprintf(stderr, "%s: %s\n", job->program, text);
        fflush(stderr);
    }
    return false;
}

void oc_perf_library(char *text, size_t size)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;

    text[0] = '\0';
    if (MPI_SUCCESS == MPI_Get_library_version(version, &length)) {
        version[strcspn(version, "\n")] = '\0';
        for (char *tab = version; NULL != (tab = strchr(tab, '\t'));) {
            *tab = ' ';
        }
        snprintf(text, size, "%s", version);
    }
}

int oc_perf_answer(oc_perf_command_t command, const char *program, const char *version,
                   void (*help)(FILE *out), const char *error)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (0 == rank && OC_PERF_HELP == command) {
        help(stdout);
    } else if (0 == rank && OC_PERF_VERSION == command) {
        printf("%s %s\n", program, version);
    } else if (0 == rank) {
        fprintf(stderr, "%s: %s\n", program, error);
    }
    return OC_PERF_WRONG == command ? OC_PERF_EXIT_USAGE : EXIT_SUCCESS;
}
