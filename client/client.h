/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of a client process: groups (one communicator's view of the aggregation service)
 * and their collectives, nonblocking. No MPI.
 *
 * Threads: every function may be called from any thread; one lock per client. Callbacks
 * (oc_bootstrap_t) run under that lock and must not call back into the client; finished
 * callbacks run without it.
 */
#ifndef OC_CLIENT_CLIENT_H
#define OC_CLIENT_CLIENT_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/rules.h"
#include "base/settings.h"
#include "base/status.h"
#include "client/plan/model.h"
#include "client/vote.h"
#include "multicast/service/multicast.h"
#include "staging/device.h"

typedef struct oc_client oc_client_t;
typedef struct oc_group oc_group_t;

/* Who this job is: random, from one process of the job. */
typedef struct {
    uint8_t id[OC_JOB_ID_SIZE];
    uint8_t key[OC_JOB_KEY_SIZE];
} oc_job_t;

/* Only ever counts up; bytes are payload of collectives, without headers. */
typedef struct {
    unsigned long long allreduce_offloaded; /* finished without error, as the next ones */
    unsigned long long reduce_offloaded;
    unsigned long long reduce_scatter_offloaded; /* blocks equal or not */
    unsigned long long barrier_offloaded;
    unsigned long long bytes_sent;
    unsigned long long bytes_received;
    unsigned long long bytes_copied;        /* between user memory and buffers of the engine */
    unsigned long long bytes_staged;        /* between memory of devices and the host's */
    unsigned long long bytes_node;          /* given to and taken from other ranks of the host */
    unsigned long long messages_sent;
    unsigned long long messages_resent;     /* of those, to aggregators that had no room before */
    unsigned long long replies_forged;      /* replies that no server of the job made */
    unsigned long long chunks;
    unsigned long long groups;              /* set up successfully */
    unsigned long long failures;            /* collectives that ended with an error */
    unsigned long long allgather_offloaded; /* also Allgatherv; finished without error */
    unsigned long long bcast_offloaded;
    unsigned long long open_sockets;        /* that hosts of no job can connect to, too */
    unsigned long long servers_flooded;     /* that get multicast which they have not joined, as
                                               this process has found out */
    unsigned long long returns;         /* of servers that groups had lost, to these */
    unsigned long long recoveries;      /* losses of servers after which collectives went on … */
    unsigned long long bytes_repeated;  /* … and bytes of vectors that were reduced again then … */
    unsigned long long bytes_supplied;  /* … or came from a rank that had them … */
    unsigned long long recovery_time;   /* … and us from then until all groups went on, also after returns */
    unsigned long long helper_wakes;        /* of the thread that moves collectives on */
    oc_cast_counters_t cast;                /* fragments and repairs */
} oc_counters_t;

typedef struct {
    const oc_job_settings_t *settings; /* outlives the client */
    oc_counters_t *counters;           /* outlives the client */
    uint32_t process;                  /* rank in the job */
    bool spans_hosts;                  /* embedded servers must be reachable from other hosts */
    oc_network_t network;              /* of this host: goes into records */
    uint32_t max_hosts;                /* the job has no more hosts than these; 0: not known */
    bool full_host;                    /* its ranks take all processors of this one */
    bool unattended;                   /* nobody calls oc_client_progress but while a collective of this
                                          process blocks: a thread does also what others wait for */
    const cpu_set_t *processors;       /* that a thread beside the application may use; outlives the
                                          client. NULL: those of the process */
} oc_client_config_t;

/* Bytes that a rank tells the others when a group is set up, by what serves the group. */
#define OC_RECORD_SIZE 136

/* What serves a group. */
typedef enum {
    OC_SERVICE_AGGREGATION, /* servers: Allreduce */
    OC_SERVICE_MULTICAST,   /* the ranks themselves: Allgather, Bcast */
} oc_service_t;

/* OC_RECORD_SIZE or OC_MULTICAST_RECORD_SIZE: the size of the records that begin will get. */
size_t oc_record_size(oc_service_t service);

/*
 * What a group needs from outside to set itself up: exchanges among its ranks. begin is
 * called in the order in which the ranks issue collectives, before anything is known, and
 * reserves them (with their buffers); start may come at any time later, in any order relative to
 * other collectives of the application. There may be several votes, one after the other.
 * test tells whether the step that was started last is finished. end releases everything and
 * is called once for each begin. An error of any of them fails the group on this rank: the ranks
 * have no way left to come to the same outcome.
 */
typedef enum {
    OC_EXCHANGE_RECORDS,
    OC_EXCHANGE_VOTE,
    OC_EXCHANGE_CONTACTS,      /* not started by ranks without neighbours */
} oc_exchange_step_t;

typedef struct {
    void *record;      /* size bytes to give to all */
    void *records;     /* room for num_ranks * size bytes, in rank order */
    size_t size;
    /*
     * After the records: something for few ranks, each of which has this one among its neighbours,
     * too. It may be shorter than contact_size, and says itself how long it is. Who and how many they are
     * is known when the exchange of contacts is started.
     */
    const uint32_t *neighbours;
    const unsigned *num_neighbours;
    void *contact;     /* contact_size bytes to give to these */
    void *contacts;    /* room for OC_CAST_NEIGHBOURS * contact_size bytes, in their order */
    size_t contact_size;
    int64_t *vote;     /* OC_VOTE_WORDS numbers to give to all */
    int64_t *outcome;  /* room for as many: of each the minimum over all ranks */
} oc_exchange_t;

/* What a communicator says instead of the settings: equal on all of its ranks. */
typedef struct {
    int reduce_scatter_beside;  /* oc_beside_t */
} oc_hints_t;

typedef struct {
    oc_status_t (*job)(void *context, oc_job_t *job);  /* the identity of this process's job */
    oc_status_t (*begin)(void *context, const oc_exchange_t *exchange);
    oc_status_t (*start)(void *context, oc_exchange_step_t step);
    oc_status_t (*test)(void *context);
    void (*end)(void *context);
    /* Changes what it has hints for, when the set-up begins; NULL: there are none. */
    void (*hints)(void *context, oc_hints_t *hints);
} oc_bootstrap_t;

typedef struct {
    oc_service_t service;
    bool patient;                      /* multicast: ranks may be elsewhere during the set-up, also
                                          if the first collective does not block */
    uint32_t num_ranks, rank;
    bool shares_host;                  /* other ranks of the group are on this host */
    uint64_t node;                     /* equal for ranks that share memory; 0: as this host is */
    bool lowest_on_host;               /* aggregation: no lower rank of the group is on this host */
    uint32_t max_hosts;                /* no more hosts than these have ranks of the group */
    const char *name;                  /* for messages; copied */
    int mode;                          /* of the caller: only has to be the same on all ranks */
    const oc_rules_t *rules;           /* decide which reductions are offloaded; outlive the group.
                                          NULL: all are */
    uint64_t least[OC_NUM_RULED];      /* … but nothing smaller than so many bytes */
    oc_ruled_t only_ruled;             /* … and no others than these … */
    unsigned only_type;                /* … of this type … */
    uint64_t only_bytes;               /* … and so many bytes will ever come; 0: any may */
    const oc_bootstrap_t *bootstrap;
    void *context;                     /* of the bootstrap */
} oc_group_params_t;

/*
 * How the elements of a type of two parts lie in the caller's buffers, if there are gaps. The
 * gaps of the receive buffer keep what is in them. extent 0: elements lie side by side.
 */
typedef struct {
    size_t extent;      /* bytes from one element to the next */
    size_t first;       /* bytes of the first part, which begins the element */
    size_t second_at;   /* offset of the second part, in bytes */
} oc_layout_t;

/* Who gets the result of a reduction. */
typedef enum {
    OC_RESULT_TO_ALL,      /* every rank, all of it: an Allreduce */
    OC_RESULT_TO_ROOT,     /* one rank, all of it: a Reduce */
    OC_RESULT_TO_BLOCKS,   /* each rank its block: a Reduce_scatter */
    OC_RESULT_TO_NOBODY,   /* all that counts is that every rank has come: a Barrier */
} oc_result_to_t;

typedef struct {
    const void *send;   /* count elements; may be recv: in place */
    void *recv;         /* what this rank gets of the result, from its first element on; not used
                           by ranks that get nothing, unless it is send; to nobody: as to all */
    size_t count;       /* elements of the vector, > 0 */
    oc_result_to_t to;
    oc_ruled_t ruled;   /* whose rules decide, in mode auto */
    uint32_t root;      /* to it: who that is */
    const size_t *counts; /* to blocks: elements of the block of each rank, whose sum is count;
                           copied. NULL: they are equal */
    unsigned op, type;  /* of reduction/reduction.h; the pair must be offered */
    oc_layout_t layout; /* of send and recv */
    oc_device_t *send_device, *recv_device; /* that have these buffers; NULL: host memory */
    bool blocking;      /* the caller does nothing else until it is over */
    /*
     * Called once, without the client's lock, never from within oc_allreduce_start.
     * OC_DECLINED: nothing was done and all ranks learn the same, about this vector or all of
     * them; otherwise the status of the operation, and with an error recv holds garbage.
     */
    void (*finished)(void *arg, oc_status_t status);
    void *arg;
} oc_allreduce_args_t;

typedef enum {
    OC_GROUP_NEW,         /* nothing was sent yet */
    OC_GROUP_SETTING_UP,
    OC_GROUP_LIVE,
    OC_GROUP_DECLINED,    /* set-up failed, on all ranks, or multicast does not work any more, which all
                             know since the same blocking collective; stays so */
    OC_GROUP_FAILED,      /* lost its service, or the ranks could not agree; stays so */
} oc_group_state_t;

oc_status_t oc_client_create(const oc_client_config_t *config, oc_client_t **client);

/* Whether threads of this process reduce. Never waits for the client's lock. */
bool oc_client_embeds(const oc_client_t *client);

/*
 * Says goodbye to the servers and ends the embedded one. Groups that are left are destroyed; what
 * they have not finished is dropped without calling back, also to the bootstrap. Waits for nothing
 * but a look-up of names that is under way.
 */
void oc_client_destroy(oc_client_t *client);

/*
 * Moves everything on and runs finished callbacks; returns how many. Cheap when nothing is
 * pending. Skips the work when another thread is at it.
 */
unsigned oc_client_progress(oc_client_t *client);

/* Collectives and set-ups that need progress. May be read without the lock. */
unsigned oc_client_pending(const oc_client_t *client);

/* Sleeps until the network has something to tell, at most timeout_us. For polite waiting. */
void oc_client_wait(oc_client_t *client, unsigned timeout_us);

/* Communicates nothing; set-up starts with the first collective. */
oc_status_t oc_group_create(oc_client_t *client, const oc_group_params_t *params,
                            oc_group_t **group);

/*
 * All collectives of the group should have finished; otherwise nobody is called back, and what it has is
 * freed with the client. Does not wait for peers; if the group can go on after the loss of a server, progress
 * goes on until all ranks have destroyed it.
 */
void oc_group_destroy(oc_group_t *group);

/*
 * Begins the set-up of a new group, which its first collective would do otherwise, on all ranks of the group
 * at the same place in the order of their collectives. Does not block; an error: the group has failed.
 */
oc_status_t oc_group_set_up(oc_group_t *group);

oc_group_state_t oc_group_state(const oc_group_t *group);

/* Why a group is DECLINED or FAILED, one sentence; "" otherwise. Owned by the group. */
const char *oc_group_reason(const oc_group_t *group);

/*
 * This rank cannot do its part in the group's next collective, which the others count on: the group
 * fails for all. Does nothing if it has failed or is declined already.
 */
void oc_group_give_up(oc_group_t *group, oc_status_t status, const char *reason);

/* Whether this rank is the one to tell people the reason: at most one rank of the group is. */
bool oc_group_tells(const oc_group_t *group);

/* What a LIVE group uses, for messages: servers, peers and their shares. */
void oc_group_describe(const oc_group_t *group, char *buffer, size_t size);

/*
 * Whether it is known that reductions of so many bytes of a type are better left to others. What
 * it says is the same on all ranks, but some may know it earlier; who knows it once knows it for
 * ever, also when the group has failed.
 */
bool oc_group_leaves(const oc_group_t *group, oc_ruled_t ruled, unsigned type, uint64_t bytes);

/* Whether a group is DECLINED because nothing is gained. */
bool oc_group_leaves_all(const oc_group_t *group);

/* Whether it was chosen that vectors of some sizes are offloaded. */
bool oc_group_offloads(const oc_group_t *group, oc_ruled_t ruled);

/* What it offloads and why, for messages; false: it was not chosen, or not yet. */
bool oc_group_explain(const oc_group_t *group, oc_ruled_t ruled, char *buffer, size_t size);

/*
 * What is known before any group is made. hosts: no more than these have ranks of the job;
 * network: this host's. Does not resolve names.
 */
void oc_outlook_make(const oc_job_settings_t *settings, uint32_t hosts,
                     const oc_network_t *network, oc_outlook_t *outlook);

/*
 * Starts an Allreduce, or a reduction whose result goes to others; on all ranks of the group in the
 * same order with equal op, type, count and receivers. A Reduce gives what an Allreduce would. In
 * a Reduce_scatter the owner of a block adds its own elements last, unless results are to be in
 * rank order. Never blocks on peers. OC_DECLINED: the group is declined, or leaves such a vector; an
 * error: the operation was not started and the group has failed, which the other ranks learn from
 * its servers or from the bootstrap. In both cases finished is not called.
 */
oc_status_t oc_allreduce_start(oc_group_t *group, const oc_allreduce_args_t *args);

/* Blocks are byte ranges. What lies between them in recv stays untouched. */
typedef struct {
    const void *send;          /* own block; NULL: in place */
    void *recv;
    size_t block;              /* bytes of each block, side by side in rank order, if … */
    const size_t *lengths;     /* … this is NULL: bytes of each rank's block. Copied */
    const size_t *offsets;     /* bytes from recv to each rank's block; with lengths. Copied */
    oc_device_t *send_device, *recv_device; /* that have these buffers; NULL: host memory */
    bool blocking;             /* all ranks stay in the call until it is over */
    void (*finished)(void *arg, oc_status_t status); /* as in oc_allreduce_args_t */
    void *arg;
} oc_allgather_args_t;

typedef struct {
    void *buffer;
    oc_device_t *device;       /* that has the buffer; NULL: host memory */
    size_t length;             /* bytes, > 0 */
    uint32_t root;
    bool blocking;
    void (*finished)(void *arg, oc_status_t status);
    void *arg;
} oc_bcast_args_t;

/* As oc_allreduce_start, on groups of OC_SERVICE_MULTICAST; at least one block is not empty. */
oc_status_t oc_allgather_start(oc_group_t *group, const oc_allgather_args_t *args);
oc_status_t oc_bcast_start(oc_group_t *group, const oc_bcast_args_t *args);

#endif
