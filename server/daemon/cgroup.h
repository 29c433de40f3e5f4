/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cgroup (version 2) that is delegated to the daemon, if one is: the supervisor goes into the
 * child "supervisor" of it, and each data process into one of its own (job_cgroup.h). Nothing else
 * is touched. There may be none: RLIMIT_DATA is all that bounds data processes then.
 */
#ifndef OC_SERVER_DAEMON_CGROUP_H
#define OC_SERVER_DAEMON_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* What names of children for data processes begin with; a number follows. */
#define OC_CGROUP_JOB "job-"

typedef struct {
    int folder;                /* of the delegated cgroup; -1: there is none */
    unsigned long long number; /* of the last child … */
    unsigned long long left;   /* … and of the last that a predecessor has left; 0: none is */
    bool complained;           /* that no child could be made */
    char path[PATH_MAX];
} oc_cgroup_t;

/*
 * Moves this process, which must be the only one in its cgroup, into a child of it, and removes
 * cgroups that a predecessor has left. false, with the reason: nothing was changed, and cgroups
 * are not used.
 */
bool oc_cgroup_open(oc_cgroup_t *cgroup, char *reason, size_t reason_size);
void oc_cgroup_close(oc_cgroup_t *cgroup);

/* Removes what a predecessor has left, if all processes there have ended by now. */
void oc_cgroup_sweep(oc_cgroup_t *cgroup);

/* ---- files of a cgroup ---- */

/* The text of a short file; false, with errno. */
bool oc_cgroup_read(int folder, const char *name, char *text, size_t size);

/* false, with errno. */
bool oc_cgroup_write(int folder, const char *name, const char *text);

#endif
