/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data model of the engine, on one page. Everything is protected by the client's lock.
 *
 *   client --< connection          one server: control connection, endpoints of its aggregators
 *          --- multicast           this process's part in multicast
 *          --- exposure            whether multicast reaches servers, while that is tested
 *          --< group               one communicator and one kind of service
 *                --- servers       if they serve it
 *                      --< link    its use of one server (a connection and a handle there)
 *                      --< lane    one aggregator of the group: endpoint, handle, index
 *                      --- node    what it shares with the ranks of its host
 *                --- cast          or else its group of multicast
 *                --- setup         while it is being set up (setup_state.h)
 *                --< collective    one operation, queued, running or finished; allreduce.h goes on
 */
#ifndef OC_CLIENT_STATE_TYPES_H
#define OC_CLIENT_STATE_TYPES_H

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/handles.h"
#include "base/mac.h"
#include "base/stock.h"
#include "base/timeline.h"
#include "client/client.h"
#include "client/plan/division.h"
#include "client/plan/model.h"
#include "client/plan/owner_shares.h"
#include "client/state/comeback.h"
#include "control/farewell.h"
#include "control/uplink.h"
#include "net/address.h"
#include "net/admission.h"
#include "net/host.h"
#include "net/resolver.h"
#include "node/doorbell.h"
#include "node/ring.h"
#include "node/segment.h"
#include "protocol/control.h"
#include "protocol/lost.h"
#include "protocol/message.h"
#include "server/job/embedded.h"
#include "ucx_backend/worker.h"

#define OC_NAME_SIZE   320   /* names of servers and groups */
#define OC_REASON_SIZE 512   /* sentences about failures */
#define OC_WAY_SIZE    128   /* what serves a group, in words */

/* What a client keeps for collectives to come, in bytes. */
#define OC_CLIENT_STOCK ((size_t) 1 << 20)

/* How an aggregator is reached. */
typedef struct {
    oc_endpoint_t *endpoint;
    size_t unasked;            /* bytes sent eagerly that it may not have received yet */
} oc_route_t;

/* How far the test is whether multicast reaches a server that has not joined it. */
typedef enum {
    OC_EXPOSURE_NEW,           /* there is none, and may be one */
    OC_EXPOSURE_ASKED,         /* to watch */
    OC_EXPOSURE_WATCHED,       /* by the server */
    OC_EXPOSURE_LOOKED,        /* it was asked what it has seen */
    OC_EXPOSURE_OVER,
} oc_exposed_t;

typedef struct oc_connection {
    oc_client_t *client;
    char name[OC_NAME_SIZE];
    oc_uplink_t uplink;        /* CLOSED: turned away or retired; reopened when somebody uses it */
    uint64_t paused;           /* when it was closed */
    unsigned users;            /* links that lead here */
    unsigned number;           /* in the list of servers; UINT_MAX: of a rank */
    unsigned num_aggregators;
    uint64_t parent;           /* of a leaf: identity of the server above it; else 0 */
    uint64_t incarnation;      /* of the process that welcomed this one last; 0: none has */
    uint64_t eager_window;     /* the least that it said; its aggregators take no more unasked */
    oc_mac_t *codes;           /* of messages: the client's … */
    oc_mac_t *leaf_codes;      /* … or its own, of a leaf */
    oc_route_t *routes;
    bool of_rank;              /* embedded: its process is a rank, and may stand still */
    bool drains;               /* it was told to stop */
    oc_exposed_t exposed;
    struct oc_connection *prev, *next;
} oc_connection_t;

/* What a server says to a team. */
typedef struct {
    uint32_t handle;
    bool asked, joined;
} oc_membership_t;

typedef struct {
    oc_connection_t *connection;
    oc_membership_t *teams;    /* this rank's; NULL before the JOINs */
    uint64_t incarnation;      /* of the process that was joined last, or is to be */
    bool fresh;                /* it has come back, and the group has not gone on with it yet */
    uint32_t peer;             /* rank of a peer */
    unsigned server;           /* of others: their number in the list */
} oc_link_t;

typedef struct oc_part oc_part_t;

typedef struct {
    oc_connection_t *connection;
    oc_route_t *route;
    uint32_t handle;
    uint32_t index;            /* in the group: what is on the wire */
    uint32_t aggregator;       /* the same for all teams: what the division counts */
    uint32_t team;
    size_t flying;             /* bytes of chunks under way, of all large vectors */
    oc_part_t *line;           /* flat shape: those with chunks to be sent, in order */
} oc_lane_t;

/*
 * A team is a group as servers see it: one rank of each host, or all ranks in the flat shape, which
 * has one team. Chunk c of a vector belongs to team c mod count.
 */
typedef struct {
    uint32_t count;
    uint32_t own;              /* of this rank: first, first + step, … */
    uint32_t first, step;
    uint32_t num_ranks, rank;  /* in each */
    unsigned window;           /* chunks in flight of each, to an aggregator */
} oc_teams_t;

/* If servers are leaves of a tree: which of them is this rank's. All ranks compute the same. */
typedef struct {
    uint64_t parent;           /* identity of the server above them; 0: not known, or no leaves */
    uint32_t leaves;           /* that have members; 0: there is no tree */
    uint32_t leaf;
    uint32_t most;             /* ranks of a team, or hosts, that a leaf has */
} oc_branch_t;

/*
 * The ranks of this host, which reduce together before a vector leaves it, or of which one receives by multicast
 * for all.
 */
typedef struct {
    oc_segment_t *segment;     /* offered to them; NULL once the ring is there */
    size_t bytes;              /* of it */
    oc_ring_t *ring;
    uint32_t num_members, self;
    uint32_t *ranks;           /* of the members, ascending: their order in the ring */
    const void **sources;      /* for a reduction */
    uint32_t num_hosts, host;  /* by lowest rank */
    uint32_t *hosts;           /* … of each rank */
    uint32_t *leaders;         /* the lowest rank of each host */
    uint32_t most;             /* members that a host has */
    uint64_t planned;          /* steps of all collectives that have begun */
    uint64_t handled;          /* steps that have been sent, if it was for this rank to do */
    uint64_t begun;            /* all collectives of this epoch that have begun are before this sequence */
    bool left;                 /* in a new epoch: what its ring was at before is behind this rank */
    unsigned holding;          /* collectives that hold */
    unsigned settling;         /* those of them that have taken all steps */
    bool active;               /* some hold: it is in the client's list */
    bool armed;                /* others may ring */
} oc_node_t;

typedef struct oc_collective oc_collective_t;
typedef struct oc_helper oc_helper_t;
typedef struct oc_setup oc_setup_t;
typedef struct oc_relay oc_relay_t;
typedef struct oc_exposure oc_exposure_t;
typedef struct oc_renewal oc_renewal_t;
typedef struct oc_kept oc_kept_t;
typedef struct oc_resort oc_resort_t;
typedef struct oc_known oc_known_t;
typedef struct oc_exposed_name oc_exposed_name_t;

/*
 * Numbers of collectives on the wire begin anew with each epoch: first come those that settle it, then two for each
 * collective from first until end, which may have begun before, then the others. All zeros: the same as in the group.
 */
typedef struct {
    uint64_t base, first, end;
} oc_numbering_t;

/* What a group that servers serve remembers of them, and of how it is divided among them. */
typedef struct {
    bool chosen;                   /* the next two say what is offloaded; set before LIVE */
    oc_situation_t situation;
    oc_choice_t choices[OC_NUM_RULED];
    uint64_t id;                   /* in this epoch … */
    uint64_t first_id;             /* … and in the first one */
    uint64_t epoch;                /* in which its servers were joined last */
    oc_teams_t teams;              /* in a tree: what this rank's leaf has of them */
    oc_branch_t branch;
    uint32_t reply_handle;
    bool has_handle;               /* from the set-up on, unless it is declined */
    uint64_t next_sequence;
    uint64_t small_begun;          /* bytes of small results that are not blocking, of all that have begun: see kept.h */
    oc_numbering_t numbering;      /* from sequences to numbers on the wire */
    uint64_t away;                 /* bits: servers of the list that are lost on some rank, see servers/presence.h */
    bool renews;                   /* it can go on without a server: set before the JOINs, the same on all ranks */
    bool parts;                    /* its ranks leave it together, as it can go on without a server; set before LIVE */
    uint8_t token;                 /* what they reduce then */
    oc_renewal_t *renewal;         /* after the loss of a server, until it can go on; else NULL */
    uint64_t kept_most;            /* bytes: see promise.h; the same on all ranks once LIVE */
    oc_kept_t *kept[2];            /* results of small ones that another rank may lack: blocking ones, others */
    oc_link_t *links;
    unsigned num_links;
    unsigned num_peers;            /* the last ones of the links */
    oc_resort_t *resort;           /* for the case that all servers are lost: see servers/resort.h … */
    unsigned num_resort;
    bool resorted;                 /* … which it is: the peers are those */
    oc_lane_t *lanes;
    unsigned num_lanes;
    unsigned num_small;            /* the first ones of the lanes: those for small vectors */
    oc_division_t division;        /* of chunks by lane */
    oc_owner_lane_t *owner_lanes;  /* where lanes are, for vectors whose result goes to owners … */
    uint32_t for_servers;          /* … and the part of these that servers get, in thousandths … */
    uint32_t for_servers_scattered; /* … and of a Reduce_scatter */
    size_t chunk_bytes;            /* the largest: the setting, or what servers have room for */
} oc_group_servers_t;

/* What a kind of service does in the life of a group; each is one file. */
typedef struct {
    /* The group is new. OC_ERR_NO_MEMORY: it is not made. */
    oc_status_t (*open)(oc_group_t *group);
    /* All ranks have voted for it. Sets way. false: it cannot begin, and is going to fail. */
    bool (*go_live)(oc_group_t *group);
    /* Whether mode auto leaves such a vector to the previous module; once that is chosen. */
    bool (*leaves)(const oc_group_t *group, oc_ruled_t ruled, unsigned type, uint64_t bytes);
    /* This rank alone goes on without: tells those who count on it. */
    void (*withdraw)(oc_group_t *group);
    /*
     * The end of the group, or of its set-up: in order, and gives back what it has. Of a group that
     * is declined, leaves may be asked afterwards.
     */
    void (*leave)(oc_group_t *group);
    /* The group is destroyed, after leave: frees what open made. */
    void (*close)(oc_group_t *group);
    /* It is lost: gives connections back. */
    void (*release)(oc_group_t *group);
    /* The group has failed, and so have its collectives: tells ranks that do not know. */
    void (*fail)(oc_group_t *group, oc_status_t status, const char *reason);
    /* The same, at the end of the client. */
    void (*abandon)(oc_group_t *group);
} oc_service_ops_t;

/* Whether a group's caller has done with it: see group/parting.h. */
typedef enum {
    OC_PARTING_NOT,
    OC_PARTING_LEAVES,         /* with the other ranks */
    OC_PARTING_ALONE,          /* it cannot, and ends */
} oc_parting_t;

struct oc_group {
    oc_client_t *client;
    const oc_service_ops_t *service;
    oc_group_params_t params;
    oc_hints_t hints;              /* once the set-up has begun */
    char name[OC_NAME_SIZE];
    _Atomic oc_group_state_t state; /* read without the lock; set after reason and status */
    oc_status_t status;            /* of a FAILED group */
    char reason[OC_REASON_SIZE];
    bool tells;                    /* this rank has the reason for declining */
    oc_setup_t *setup;             /* while it is being set up */
    oc_group_servers_t *servers;   /* of OC_SERVICE_AGGREGATION; else NULL */
    oc_node_t *node;               /* if its ranks share memory inside hosts; NULL: they do not, or it is
                                      not known yet */
    oc_cast_group_t *cast;         /* of OC_SERVICE_MULTICAST, from the set-up on; else NULL */
    oc_relay_t *relay;             /* what one rank of the host does for all; NULL: nothing is under way */
    uint64_t relays_begun;         /* so far */
    bool cast_closed;              /* without a cast: all ranks leave multicast */
    bool cast_told;                /* it goes on without multicast, which was said */
    char way[OC_WAY_SIZE];         /* what carries it, once it is live */
    oc_collective_t *queue;        /* not started: set-up is under way or the limit is reached */
    oc_collective_t *running;
    unsigned num_running;
    oc_parting_t parting;
    oc_group_t *prev, *next;
    oc_group_t *setup_prev, *setup_next;
    oc_group_t *node_prev, *node_next;
};

/*
 * What a kind of collective does; each is one file. Its object begins with an oc_collective_t. All
 * is called under the lock of the client.
 */
typedef struct {
    size_t size;               /* of its object */
    /* Whether another one may begin beside those of the group that run. */
    bool (*may_begin)(const oc_group_t *group);
    /* Its turn has come: it starts, and calls oc_collective_finish when it is over, or at once. */
    void (*begin)(oc_collective_t *collective);
    /* Its group has failed, with this in its status: what waits for nobody any more finishes. */
    void (*fail)(oc_collective_t *collective);
    /* It is over. Returns what has become of it: the last step may go wrong. */
    oc_status_t (*end)(oc_collective_t *collective, oc_status_t status);
    /* Gives back what it owns, whether it has begun or not. Its group may be gone. */
    void (*release)(oc_client_t *client, oc_collective_t *collective);
} oc_collective_ops_t;

/* What the queue of a group knows of a collective. */
struct oc_collective {
    oc_group_t *group;
    const oc_collective_ops_t *ops;
    void (*finished)(void *arg, oc_status_t status);
    void *arg;
    oc_ruled_t ruled;          /* … */
    unsigned type;             /* of a reduction, which mode auto … */
    uint64_t bytes;            /* … may leave */
    bool background;           /* its caller does not wait for it now */
    bool bound;                /* only threads of the application move it on: memory of devices */
    /* One of the engine's own: called when it is over, instead of being handed out. Its object is freed then. */
    void (*inner)(oc_collective_t *collective, oc_status_t status);
    oc_status_t status;
    oc_collective_t *prev, *next;
};

/* Of how many servers of the list account is kept. */
#define OC_PRESENCE_SERVERS 64

struct oc_client {
    pthread_mutex_t lock;
    oc_client_config_t config;
    oc_server_list_t servers;  /* external ones */
    uint64_t away;             /* bits: those that this process has lost, or could not have, and that have not come back … */
    char away_reason[OC_REASON_SIZE]; /* … the last one that it could not have, and why */
    uint64_t tree;             /* identity of their parent, once a group has voted for it; or 0 */
    bool on_hosts;             /* embedded: an aggregator on each host … */
    unsigned num_embedded;     /* … or so many of them; neither: external servers */
    oc_status_t servers_status;
    char servers_error[OC_REASON_SIZE];
    bool has_job;
    oc_job_t job;
    uint32_t groups_made;
    oc_worker_t *worker;
    oc_admission_t *admission; /* of servers, to the worker; comes and goes with it */
    oc_origins_t origins;      /* of this host; as old as the worker */
    oc_mac_t *codes;           /* of messages from and to servers that are no leaves */
    oc_embedded_t *embedded;
    atomic_bool embeds;        /* a group has used it: for those without the lock */
    uint64_t embedded_opened;  /* when */
    oc_listening_t listening;  /* for one that may be needed later */
    uint64_t called;           /* when somebody was last looked for there */
    oc_known_t *known;         /* processes that may aggregate when no server is left */
    bool embedded_missed;      /* it could not start, and the user knows */
    oc_connection_t *connections;
    oc_farewell_t *farewells;  /* connections that were left for a new epoch */
    int control_fd;            /* readable when a server has said something, or is gone; -1: nobody watches */
    bool wants_watch;          /* a group is live that can go on without a server */
    oc_group_t *groups;
    oc_arena_t *arena;         /* for memory of devices, from the first on */
    oc_stock_t stock;          /* for collectives, and what small ones need */
    oc_collective_t *finished;
    oc_group_t *setups;        /* groups that are being set up */
    oc_handles_t *handles;     /* reply handles of groups */
    oc_group_t *nodes;         /* groups whose hosts have steps to do */
    oc_group_t *relays;        /* groups of multicast whose hosts have steps to do */
    oc_doorbell_t *bell;       /* from the first group on that shares a host */
    size_t node_bytes;         /* of shared memory that this process gives to all groups */
    bool told_flat;            /* that a group is not reduced inside hosts */
    bool told_blind;           /* that nobody can tell whether the network floods multicast */
    bool told_exposed;         /* that it floods servers */
    uint32_t exposes;          /* as process 0 of the job, it may have to test that with so many hosts … */
    oc_exposure_t *exposure;   /* … by this test, or one to come; NULL: neither … */
    oc_exposed_name_t *exposed;/* … of servers but these, which it has asked */
    oc_resolver_t *resolver;   /* addresses of the servers, once somebody needed them … */
    uint64_t resolved;         /* … and when that was */
    atomic_uint pending;       /* collectives not called back and set-ups under way */
    oc_multicast_t *multicast; /* from the first multicast group on */
    unsigned cast_setups;      /* of multicast groups */
    bool cast_news;            /* a group of multicast has failed, or goes on without, and nobody has
                                  looked yet */
    uint64_t kept_promised;    /* bytes of kept_most, of all groups */
    uint64_t quiet;            /* until when large vectors do not begin, so that multicast does; 0: they may */
    uint64_t cast_linger;      /* messages to ranks may have to leave until then */
    bool cast_pending;         /* it counts in pending: messages to ranks have to leave */
    uint64_t now, polled;      /* times of this and the last look at the connections … */
    uint64_t setups_polled;    /* … at the set-ups … */
    uint64_t swept;            /* … and for leftovers */
    uint64_t elapsed;          /* between the last two looks at the set-ups, at most 100 ms */
    unsigned background;       /* collectives that go on while the application may be elsewhere */
    unsigned bound;            /* collectives that only the application moves on */
    oc_helper_t *helper;       /* who moves the others on then, from the first on; or NULL */
    bool helper_tried;
    bool helped;               /* it was the last to move the client on */
    uint64_t driven;           /* when the application did */
    atomic_uint sleepers;      /* threads of the application that wait for the network, … */
    atomic_uint waiting;       /* … and for the lock; … */
    atomic_bool knocked;       /* … or one went away, since the lock was taken */
    oc_status_t collapse;      /* not OC_OK: all service is given up at the end of progress */
    char collapse_reason[OC_REASON_SIZE];
    uint64_t collapsed;        /* time of the last one; 0: never */
    oc_lost_t lost;            /* servers that the job has lost, and that have come back: the epoch */
    unsigned losses, returns;  /* … of which so many were known in the last one */
    bool losing;               /* there is a new one: see state/loss.h … */
    bool loss_is_one;          /* … and the reason is a loss; else that a server is back */
    oc_status_t loss_status;
    char loss_reason[OC_REASON_SIZE];
    bool suspending;           /* transfers that call back now are over for the epoch */
    uint64_t renewed;          /* time of the last loss that was survived; 0: none was */
    uint64_t returning;        /* when it is time to look for servers that are back */
    oc_comeback_t comebacks[OC_PRESENCE_SERVERS]; /* by their numbers in the list */
    bool had_devices;          /* a collective of memory of a device has begun */
    unsigned renewals;         /* groups that are not settled since then … */
    uint64_t unsettled;        /* … and since when there have been any, by oc_clock_ns */
    unsigned inner;            /* the engine's own collectives that run */
    unsigned parting;          /* groups that their callers have done with, and that are not over */
    oc_timeline_t *timeline;   /* NULL: none is wanted */
};

/* Of one that is not before first. */
static inline uint64_t oc_wire_sequence(const oc_numbering_t *numbering, uint64_t sequence)
{
    assert(sequence >= numbering->first);
    if (sequence < numbering->end) {
        return numbering->base + 2 * (sequence - numbering->first) + 1;
    }
    return numbering->base + 2 * (numbering->end - numbering->first) + sequence - numbering->end;
}

/* Of multicast: whether this rank is in it, for its host if the ranks of hosts share memory. */
static inline bool oc_group_leads(const oc_group_t *group)
{
    return NULL == group->node || 0 == group->node->self;
}
/* The number of a team, by its place among those of this rank. */
static inline uint32_t oc_team_number(const oc_group_t *group, unsigned own)
{
    return group->servers->teams.first + own * group->servers->teams.step;
}
/* The lane of an aggregator and a team, which is one of this rank's. */
static inline unsigned oc_lane_number(const oc_group_t *group, uint32_t team, unsigned aggregator)
{
    const oc_teams_t *teams = &group->servers->teams;
    uint32_t own = (team - teams->first) / teams->step;

    assert(own < teams->own && team == oc_team_number(group, own));
    return own * group->servers->num_lanes + aggregator;
}
/* A team as servers know it. */
static inline uint64_t oc_team_id(const oc_group_t *group, unsigned own)
{
    return group->servers->id + oc_team_number(group, own);
}

/* The lock, for the application. The helper stays away meanwhile: locks are not fair. */
static inline void oc_client_lock(oc_client_t *client)
{
    if (0 != pthread_mutex_trylock(&client->lock)) {
        atomic_fetch_add(&client->waiting, 1);
        pthread_mutex_lock(&client->lock);
        atomic_fetch_sub(&client->waiting, 1);
    }
}
/* The caller of the engine adds to this counter, too, without the lock. */
static inline void oc_count_copied(const oc_client_t *client, unsigned long long bytes)
{
    (void) __atomic_fetch_add(&client->config.counters->bytes_copied, bytes, __ATOMIC_RELAXED);
}

#endif
