/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes as /proc shows them. */
#include "tests/engine/process.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last of as many as that, in the order in which they were made. */
static pid_t nth_child_of(pid_t pid, unsigned most)
{
    int child = -1, next;
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int) pid, (int) pid);
    file = fopen(path, "r");
    while (NULL != file && most-- > 0 && 1 == fscanf(file, "%d", &next)) {
        child = next;
    }
    if (NULL != file) {
        fclose(file);
    }
    return child;
}

pid_t child_of(pid_t pid)
{
    return nth_child_of(pid, 1);
}

pid_t last_child_of(pid_t pid)
{
    return nth_child_of(pid, UINT_MAX);
}

pid_t thread_of(pid_t pid, const char *name)
{
    char path[64], line[64];
    struct dirent *entry;
    pid_t found = -1;
    DIR *folder;

    snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
    folder = opendir(path);
    while (NULL != folder && NULL != (entry = readdir(folder))) {
        FILE *file;

        snprintf(path, sizeof(path), "/proc/%d/task/%.16s/comm", (int) pid, entry->d_name);
        file = fopen(path, "r");
        if (NULL != file && NULL != fgets(line, sizeof(line), file)
            && strlen(name) == strcspn(line, "\n") && 0 == strncmp(line, name, strlen(name))) {
            found = (pid_t) atoi(entry->d_name);
        }
        if (NULL != file) {
            fclose(file);
        }
    }
    if (NULL != folder) {
        closedir(folder);
    }
    return found;
}

unsigned long long memory_kib_of(pid_t pid, const char *field)
{
    size_t length = strlen(field);
    unsigned long long kib = 0;
    char path[64], line[256];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int) pid);
    file = fopen(path, "r");
    while (NULL != file && NULL != fgets(line, sizeof(line), file)) {
        if (0 == strncmp(line, field, length)) {
            (void) sscanf(line + length, ": %llu kB", &kib);
        }
    }
    if (NULL != file) {
        fclose(file);
    }
    return kib;
}
