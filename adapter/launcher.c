/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Daemons of MPI libraries start ranks and bind them, and are not bound themselves: they may use what
 * the user or the resource manager gave to the job. Other parents say nothing about it.
 */
#include "adapter/launcher.h"

#include <stdbool.h>
#include <stdio.h>
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
