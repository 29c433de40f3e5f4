/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data model of a job's control side. Belongs to the thread of the loop.
 *
 *   job --- parent              a leaf's connection to the server above it
 *       --< session             one process of the job: its control connection
 *       --< registered group    one communicator: handle, who joined, who left
 *       --- vigil               a session's flood test, while it is under way
 *       --< aggregator          driven by commands
 */
#ifndef OC_SERVER_JOB_JOB_TYPES_H
#define OC_SERVER_JOB_JOB_TYPES_H

#include <uthash.h>

#include "base/clock.h"
#include "base/handles.h"
#include "control/pulse.h"
#include "control/stream.h"
#include "net/admission.h"
#include "server/aggregator/aggregator.h"
#include "server/job/job.h"

/*
 * How long a server on the other side of a tree's edge may leave a PING open. Less than clients wait
 * by default: they hear who it is.
 */
#define OC_EDGE_PATIENCE (5 * OC_SECOND)

/* The loop comes round once a second at least: what is longer, this process has not run. */
#define OC_EDGE_STEP (1 * OC_SECOND)

/* A PING from the other end. */
typedef struct {
    bool waits;                  /* for the next round of heartbeats */
    bool asked;                  /* for the present one */
    uint32_t number;             /* what it sent and wants back */
} oc_ping_t;

struct oc_session;

/* Some of the sessions, in order: with thousands of them, no event may look at all. */
typedef struct oc_session_link {
    struct oc_session *session;
    struct oc_session_link *prev, *next;
} oc_session_link_t;

typedef struct oc_session {
    oc_watch_t watch;
    oc_stream_t stream;
    oc_job_server_t *job;
    uint32_t client;             /* id inside this server */
    uint32_t process;            /* rank in the job, as it says; or OC_PROCESS_LEAF */
    char leaf[80];               /* of a leaf: where it listens, as it says */
    uint8_t *address;            /* UCX worker address; NULL: of a leaf, or aggregators have it */
    uint32_t address_length;
    uint64_t routes;             /* of a leaf: which aggregators' ROUTE has come, by bits */
    uint16_t version;            /* of the protocol, that both speak */
    bool welcomed;               /* a leaf has to hear from its parent first */
    oc_ping_t ping;
    oc_session_link_t pinged;    /* while its PING waits or was asked for: in one of two lists */
    oc_pulse_t pulse;            /* of a leaf */
    bool has_offer;              /* this is what it may send unasked, to each aggregator */
    uint64_t eager_window;
    uint64_t since;              /* when it came */
    uint64_t retires_at;         /* it was told to, and has to by then; 0: it was not */
    uint64_t lost_at;            /* UCX lost it then; 0: no */
    bool returns;                /* it said LOST last: it leaves to come back with another worker */
    oc_session_link_t watched;   /* if the tick has to look at it: a leaf, or lost */
    struct oc_registered_member *memberships;
    struct oc_session *prev, *next;
    UT_hash_handle hh;           /* by client */
} oc_session_t;

/* Ranks that a process has joined with are in a list of its session. */
typedef struct oc_registered_member {
    oc_session_t *session;           /* NULL: has left, or has not joined */
    struct oc_registered_group *group;    /* NULL: has not joined */
    struct oc_registered_member *prev, *next;
} oc_registered_member_t;

typedef struct oc_registered_group {
    uint64_t id;
    uint32_t handle;
    oc_join_t join;              /* of the first rank: what all must agree on */
    uint32_t asked;              /* its largest chunk as ranks say it; join has what there is room for */
    bool in_tree;                /* it may wait for other leaves */
    uint32_t joined, left;
    char *refusal;               /* of the parent: why the group cannot go on; NULL */
    oc_registered_member_t *members;
    UT_hash_handle hh;           /* by id */
} oc_registered_group_t;

typedef struct oc_parent oc_parent_t;
typedef struct oc_vigil oc_vigil_t;

_Static_assert(OC_MAX_AGGREGATORS <= 64, "a session has a bit for each");

struct oc_job_server {
    oc_job_config_t config;
    oc_loop_t *loop;
    oc_parent_t *parent;         /* NULL: no leaf of a tree */
    oc_mailbox_t mailbox;
    oc_watch_t mail_watch;
    oc_binding_t *binding;       /* of the aggregators */
    oc_aggregator_t *aggregators[OC_MAX_AGGREGATORS];
    unsigned num_aggregators;
    oc_session_t *sessions;
    oc_session_t *by_client;     /* hash of the same */
    unsigned num_sessions;
    oc_session_link_t *waiting, *asked;    /* those whose PINGs do, see oc_ping_t */
    oc_session_link_t *watched;
    uint64_t tick_due, ticked;   /* the next look at deadlines, and the last one */
    uint32_t next_client;
    oc_registered_group_t *groups;
    oc_handles_t *handles;
    uint64_t num_members;        /* of all groups */
    oc_admission_t *admission;   /* of hosts that may connect to the aggregators */
    oc_watch_t hosts_watch;      /* a timer … */
    bool hosts_wait;             /* … until which some are not admitted yet … */
    void (*hosts_gathered)(oc_job_server_t *job); /* … and what is done then */
    oc_origins_t origins;        /* of this host */
    size_t groups_cost;          /* what they take of each aggregator's memory */
    size_t largest_step;         /* the most that one of them needs at a time */
    uint64_t eager_windows;      /* of all sessions */
    uint64_t refused_group;      /* the last one that was: it is told of once */
    oc_vigil_t *vigil;           /* NULL: none is under way, or just over */
    unsigned vigils;             /* attempts at one */
    bool has_told_sight;         /* one of them has been told that it is flooded */
    oc_ping_t parent_ping;
    uint32_t round;              /* of heartbeats */
    unsigned round_waits;        /* answers that are missing */
    uint64_t round_due;          /* not before then */
    uint64_t idle_looked;        /* when */
    uint64_t needed_until;       /* if none has joined: another job waits for this one to go */
    uint64_t incarnation;        /* of this process, for the job: random */
    oc_lost_t lost;              /* servers that processes of the job have lost */
    uint64_t awaited_until;      /* processes that have left are to come back by then */
    bool has_joined;             /* some process has joined a group, at some time */
    bool has_refused;
    bool has_key;                /* the aggregators know it */
    bool draining;
    bool failed;
};

#endif
