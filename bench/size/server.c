/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of what /proc says of a server's processes. */
#include "bench/size/server.h"

#include <dirent.h>
#include <stdio.h>

/* In nanoseconds; those of /proc/PID/stat are too coarse. */
static double time_of(pid_t pid)
{
    unsigned long long nanoseconds;
    struct dirent *entry;
    char path[64];
    double sum = 0;
    DIR *folder;

    snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
    folder = opendir(path);
    while (NULL != folder && NULL != (entry = readdir(folder))) {
        FILE *file;

        snprintf(path, sizeof(path), "/proc/%d/task/%.16s/schedstat", (int) pid, entry->d_name);
        file = '.' != entry->d_name[0] ? fopen(path, "r") : NULL;
        if (NULL != file) {
            sum += 1 == fscanf(file, "%llu", &nanoseconds) ? (double) nanoseconds : 0;
            fclose(file);
        }
    }
    if (NULL != folder) {
        closedir(folder);
    }
    return sum;
}

oc_server_use_t oc_server_use(const test_server_t *server)
{
    pid_t pids[] = {server->pid, server_data_process(server)};
    oc_server_use_t use = {0};

    for (unsigned i = 0; i < 2; i++) {
        use.seconds += time_of(pids[i]) * 1e-9;
        use.kib += (double) memory_kib_of(pids[i], "VmRSS");
    }
    return use;
}
