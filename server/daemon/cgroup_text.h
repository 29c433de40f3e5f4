/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads what the kernel writes about cgroups of version 2: where a process is, where that is in the
 * file system, and the files of a cgroup.
 */
#ifndef OC_SERVER_DAEMON_CGROUP_TEXT_H
#define OC_SERVER_DAEMON_CGROUP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The process's path in the hierarchy, from its /proc/PID/cgroup; false: there is none. */
bool oc_cgroup_read_path(FILE *file, char *path, size_t size);

/*
 * The folder of that path, from /proc/PID/mountinfo; false: no hierarchy of version 2 is mounted,
 * or not this part of it.
 */
bool oc_cgroup_read_folder(FILE *mountinfo, const char *path, char *folder, size_t size);

/* Whether a list of words, as in cgroup.controllers, has this one. */
bool oc_cgroup_has_word(const char *list, const char *word);

/* Of lines "NAME NUMBER", as in memory.stat and memory.events; false: there is no such line. */
bool oc_cgroup_number(const char *lines, const char *name, uint64_t *number);

#endif
