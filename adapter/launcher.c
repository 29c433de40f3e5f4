/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of a launcher is in the environment may be of another one that started this one. Hydra's is the innermost. Slurm's
 * is taken if its number of this process and that of all are those of MPI.
 *
 * Daemons of MPI libraries start ranks and bind them, and are not bound themselves: they may use what
 * the user or the resource manager gave to the job. Other parents say nothing about it.
 */
#include "adapter/launcher.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_daemon(pid_t pid)
{
    static const char *const names[] = {"orted", "prted", "mpirun", "orterun", "prterun",
                                        "mpirun.openmpi", "hydra_pmi_proxy"};
    char path[64], name[64] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%ld/comm", (long) pid);
    file = fopen(path, "re");
    if (NULL == file) {
        return false;
    }
    (void) !fgets(name, sizeof(name), file);
    fclose(file);
    name[strcspn(name, "\n")] = '\0';
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (0 == strcmp(name, names[i])) {
            return true;
        }
    }
    return false;
}

const cpu_set_t *oc_launcher_processors(int ranks)
{
    static cpu_set_t set;
    pid_t parent = getppid();

    if (!is_daemon(parent) || 0 != sched_getaffinity(parent, sizeof(set), &set)) {
        return NULL;
    }
    return CPU_COUNT(&set) > ranks ? &set : NULL;
}

/* A number of the environment; -1: there is none. */
static long number_of(const char *name)
{
    const char *text = getenv(name);
    char *end = NULL;
    long number = NULL == text ? -1 : strtol(text, &end, 10);

    return NULL != text && end != text && '\0' == *end ? number : -1;
}

/* Of a list as "4(x2),3": what node 0, 1, … has. -1: the list ends before, or is another thing. */
static long entry_of(const char *list, long node)
{
    while (NULL != list && '\0' != *list) {
        char *end;
        long value = strtol(list, &end, 10), times = 1;

        if (end == list) {
            return -1;
        }
        if (0 == strncmp(end, "(x", 2)) {
            times = strtol(end + 2, &end, 10);
            end += ')' == *end;
        }
        if (node < times) {
            return value;
        }
        node -= times;
        list = ',' == *end ? end + 1 : NULL;
    }
    return -1;
}

static long slurm_ranks(uint32_t rank, uint32_t ranks)
{
    long node = number_of("SLURM_NODEID");

    if (node < 0 || (long) rank != number_of("SLURM_PROCID")
        || (long) ranks != number_of("SLURM_STEP_NUM_TASKS")) {
        return -1;
    }
    return entry_of(getenv("SLURM_STEP_TASKS_PER_NODE"), node);
}

int oc_launcher_local_ranks(uint32_t rank, uint32_t ranks)
{
    long number = number_of("MPI_LOCALNRANKS");

    if (number < 0) {
        number = slurm_ranks(rank, ranks);
    }
    return number > 0 && number <= (long) ranks ? (int) number : 0;
}
