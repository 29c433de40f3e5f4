/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts this program once more as a data process: with a memory layout of its own, and nothing in
 * its memory that the supervisor knows of other jobs.
 */
#ifndef OC_SERVER_DAEMON_SPAWN_H
#define OC_SERVER_DAEMON_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

/* The descriptor that leads a data process to the supervisor. */
#define OC_SPAWN_CHANNEL 3

typedef struct {
    int program;     /* this very file, also after another one has taken its name */
} oc_spawn_t;

/* Once, at the start. false, with errno: the program's file cannot be opened. */
bool oc_spawn_open(oc_spawn_t *spawn);
void oc_spawn_close(oc_spawn_t *spawn);

/*
 * The process has the caller's environment and standard streams, channel, which stays the caller's,
 * and no other descriptor. It begins in the cgroup that has this file of processes, unless that is
 * -1, and ends with the calling thread. -1, with errno: the system lacks something.
 */
pid_t oc_spawn(const oc_spawn_t *spawn, int channel, int processes);

/* Whether this program was started by oc_spawn; main asks before anything else. */
bool oc_is_spawned(int argc, char *const *argv);

/* In such a process, first: false, it was started by somebody else. */
bool oc_spawned_prepare(void);

#endif
