/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions to data processes, and what /proc says of their connections: who hangs cannot be asked
 * whether its clients are there, and the supervisor has given them away.
 */
#include "server/daemon/hang.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <utarray.h>

#include "base/clock.h"
#include "base/log.h"

/* How often a process is asked, and how long it may leave that open. */
#define INTERVAL (2 * OC_SECOND)
#define PATIENCE (10 * OC_SECOND)

/* A process that starts may take its time; its first clients are on their way to it meanwhile. */
#define START_PATIENCE (60 * OC_SECOND)

/* A connection that is established, in /proc/net/tcp. */
#define ESTABLISHED 1u

static const UT_icd inode_icd = {.sz = sizeof(unsigned long)};

static int by_number(const void *a, const void *b)
{
    unsigned long x = *(const unsigned long *) a, y = *(const unsigned long *) b;

    return x < y ? -1 : x > y;
}

/* The sockets of a process; NULL: not known. */
static UT_array *sockets_of(pid_t pid)
{
    char path[64], target[64];
    struct dirent *entry;
    unsigned long inode;
    UT_array *sockets;
    ssize_t length;
    DIR *folder;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int) pid);
    folder = opendir(path);
    if (NULL == folder) {
        return NULL;
    }
    utarray_new(sockets, &inode_icd);
    while (NULL != (entry = readdir(folder))) {
        length = readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);
        target[length < 0 ? 0 : length] = '\0';
        if (1 == sscanf(target, "socket:[%lu]", &inode)) {
            utarray_push_back(sockets, &inode);
        }
    }
    closedir(folder);
    utarray_sort(sockets, by_number);
    return sockets;
}

/* One of them is in this list of connections of all processes; true also if there is no list. */
static bool hang_is_listed(const char *list, const UT_array *sockets, uint16_t port)
{
    FILE *file = fopen(list, "re");
    unsigned local, state;
    unsigned long inode;
    bool found = false;
    char line[512];

    if (NULL == file) {
        return true;
    }
    while (!found && NULL != fgets(line, sizeof(line), file)) {
        found = 3 == sscanf(line, " %*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x %*s %*s %*s %*u %*u %lu",
                            &local, &state, &inode)
                && local == port && ESTABLISHED == state
                && NULL != utarray_find(sockets, &inode, by_number);
    }
    fclose(file);
    return found;
}

bool oc_has_connections(pid_t pid, uint16_t port)
{
    UT_array *sockets = sockets_of(pid);
    bool found;

    if (NULL == sockets) {
        return true;
    }
    /* hosts without IPv6 have no list of its connections */
    found = hang_is_listed("/proc/net/tcp", sockets, port)
            || (0 == access("/proc/net/tcp6", F_OK)
                && hang_is_listed("/proc/net/tcp6", sockets, port));
    utarray_free(sockets);
    return found;
}

static bool hangs(const oc_job_process_t *process, uint64_t now)
{
    return 0 != process->asked_at && now - process->asked_at > PATIENCE
           && (process->taken == process->adopted || now - process->adopted_at > START_PATIENCE);
}

void oc_hang_look(oc_job_process_t *process, uint16_t port)
{
    uint64_t now = oc_clock_ns();

    if (now - process->looked < INTERVAL) {
        return;
    }
    process->looked = now;
    if (hangs(process, now) && !oc_has_connections(process->pid, port)) {
        oc_warn("process %d of a job does not answer, and its clients are gone: it is ended",
                (int) process->pid);
        (void) kill(process->pid, SIGKILL);
    }
    oc_job_process_ask(process);
}
