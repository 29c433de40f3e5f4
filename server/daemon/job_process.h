/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job's data process, as the supervisor sees it: its channel, and what that has not taken yet.
 * Belongs to the thread of the loop; nothing here blocks.
 */
#ifndef OC_SERVER_DAEMON_JOB_PROCESS_H
#define OC_SERVER_DAEMON_JOB_PROCESS_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "net/loop.h"
#include "protocol/control.h"
#include "server/daemon/data_process.h"
#include "server/daemon/job_cgroup.h"
#include "server/daemon/spawn.h"

typedef struct oc_job_process {
    oc_watch_t watch;              /* the channel; fd -1 once it is closed */
    oc_watch_t cgroup_watch;       /* what happens at the bounds of … */
    oc_job_cgroup_t cgroup;        /* … this */
    oc_loop_t *loop;
    struct outgoing *queue;        /* while its process is starting, or slow */
    unsigned queued;
    bool owes_echo;                /* sent after these, when there is room … */
    uint32_t echo;                 /* … with this number */
    uint8_t id[OC_JOB_ID_SIZE], key[OC_JOB_KEY_SIZE];
    pid_t pid;
    oc_bound_sizes_t least;        /* that it can say in truth */
    uint64_t bound;                /* of its memory, in bytes; 0: it has not said */
    bool is_over;                  /* its cgroup: nothing bounds it but memory.max */
    bool slowed;                   /* the kernel slows it down, and that was said */
    bool unbound;                  /* its cgroup does not bound it, and that was said */
    uint32_t adopted;
    uint64_t started_at;
    bool has_joined;               /* one of its clients, a group */
    uint64_t retires_until;        /* it was told to, since nobody has, and may go by then; or 0 */
    unsigned told;                 /* how often it was */
    uint32_t taken;                /* of these; the others may be on their way there */
    uint64_t adopted_at;
    uint64_t asked_at, looked;     /* see hang.c; asked_at 0: no question is open */
    struct oc_job_process *prev, *next;    /* the owner's */
} oc_job_process_t;

/*
 * Starts a process for the job of this HELLO, in a cgroup of its own if there are cgroups, and
 * tells it what it has to know. NULL if the system lacks something. The caller owns it until
 * oc_job_process_ended or oc_job_process_free.
 */
oc_job_process_t *oc_job_process_start(oc_loop_t *loop, const oc_hello_t *hello,
                                       const oc_spawn_t *spawn, oc_cgroup_t *cgroup,
                                       const oc_data_process_config_t *config);

/* Takes fd over, if true: HELLO is in bytes. false: the process takes none any more. */
bool oc_job_process_adopt(oc_job_process_t *process, int fd, const uint8_t *bytes, size_t length);

/* Whether it is there. If a question is open, there is no other one. */
void oc_job_process_ask(oc_job_process_t *process);

/*
 * Its place is needed: if nobody has joined it goes soon. But it may stay: a leaf, for example, has
 * clients that have joined groups in which this server has no part.
 */
void oc_job_process_retire(oc_job_process_t *process);

/* It was told so, and there is still hope. */
bool oc_job_process_retires(const oc_job_process_t *process, uint64_t now);

/* Tells it to finish. */
void oc_job_process_drain(oc_job_process_t *process);

/* It has ended, with that status and usage of wait4: says so, removes its cgroup and frees this. */
void oc_job_process_ended(oc_job_process_t *process, oc_cgroup_t *cgroup, int status,
                          const struct rusage *usage);

/* Closes the channel, with which the process ends, and frees this; its cgroup is left. */
void oc_job_process_free(oc_job_process_t *process);

#endif
