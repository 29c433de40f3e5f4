/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of all settings: name, default, range, unit, help, readers and scope stand once, and
 * feed MCA registration, the daemon's flags and configuration file, --help, the documentation, the
 * digests that ranks compare, and the checks.
 */
#ifndef OC_BASE_SETTINGS_H
#define OC_BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum {
    OC_SETTING_INT,    /* int */
    OC_SETTING_SIZE,   /* size_t, in bytes; K, M and G are understood */
    OC_SETTING_CHOICE, /* int, one of the names in choices */
    OC_SETTING_TEXT,   /* const char *; memory of whoever set it; NULL is as good as "" */
} oc_setting_type_t;

/* Who may want to set it. */
typedef enum {
    OC_FOR_USERS,
    OC_FOR_ADMINISTRATORS, /* whoever knows the network and the servers */
    OC_FOR_EXPERTS,        /* whoever measures what it changes; the default is good for most */
    OC_FOR_END,
} oc_setting_readers_t;

/* Whose value counts, of what jobs set. */
typedef enum {
    OC_SCOPE_LOCAL,     /* each process has its own */
    OC_SCOPE_FIRST,     /* rank 0's: the others take it over */
    OC_SCOPE_MEANING,   /* what the text stands for is equal on all ranks, and not the text */
    OC_SCOPE_SERVERS,   /* all ranks of what servers do need the same */
    OC_SCOPE_MULTICAST, /* all ranks of what goes by multicast need the same */
    OC_SCOPE_END,
} oc_setting_scope_t;

typedef struct {
    const char *name;
    oc_setting_type_t type;
    size_t offset;               /* in the structure that holds the values */
    uint64_t number;             /* default; for a choice the index of its name */
    const char *text;            /* default of a text */
    int64_t min, max;            /* INT64_MAX: no upper end */
    bool automatic;              /* 0, below min, is allowed: the right value is found */
    const char *unit;            /* for people; "" if there is none */
    const char *const *choices;  /* ends with NULL */
    const char *argument;        /* of a text: what stands for the value in help texts */
    const char *help;            /* a few sentences, no line breaks */
    bool changeable;             /* while the program runs, through MPI_T, by all ranks alike */
    oc_setting_readers_t readers;
    unsigned level;              /* of ompi_info, 1 to 9 */
    oc_setting_scope_t scope;
} oc_setting_t;

typedef struct {
    const oc_setting_t *settings;
    unsigned count;
} oc_settings_table_t;

typedef enum { OC_MODE_AUTO, OC_MODE_ALWAYS, OC_MODE_NEVER } oc_mode_t;

typedef enum {
    OC_MULTICAST_AUTO, /* verbs if all ranks can, else udp */
    OC_MULTICAST_VERBS,
    OC_MULTICAST_UDP,
    OC_MULTICAST_OFF,
} oc_multicast_choice_t;

typedef enum {
    OC_RECEIVER_HOST, /* one rank of each host, for all of them */
    OC_RECEIVER_RANK, /* each rank */
} oc_receiver_t;

typedef enum {
    OC_REPRODUCIBLE_SHAPE,      /* as the group's shape says: nodes reduce first */
    OC_REPRODUCIBLE_RANK_ORDER, /* always flat */
} oc_reproducible_t;

/* What is expected to run beside Reduce_scatters. */
typedef enum {
    OC_BESIDE_NOTHING,
    OC_BESIDE_ALLGATHER,        /* by multicast: hosts' links have more to receive than to send */
} oc_beside_t;

typedef enum { OC_PEERS_AUTO, OC_PEERS_OFF } oc_peer_aggregation_t;

typedef enum { OC_CGROUP_AUTO, OC_CGROUP_OFF } oc_cgroup_choice_t;

typedef enum { OC_BIND_AUTO, OC_BIND_OFF } oc_bind_t;

typedef enum {
    OC_HUGE_PAGES_AUTO,     /* transparent ones */
    OC_HUGE_PAGES_RESERVED, /* those that the administrator has set aside */
    OC_HUGE_PAGES_OFF,
} oc_huge_pages_t;

typedef enum {
    OC_POLLING_ADAPTIVE,    /* who has waited in vain for a while sleeps */
    OC_POLLING_BUSY,
    OC_POLLING_YIELD,       /* of ranks: others want the processor */
} oc_polling_t;

/* Who moves nonblocking collectives on. */
typedef enum {
    OC_PROGRESS_THREAD,     /* also a thread, while the program is not in MPI */
    OC_PROGRESS_MPI,        /* only the program's calls of MPI */
} oc_progress_t;

/* How aggregators use the machine that they run on. Nobody else needs the same values. */
typedef struct {
    int bind;                    /* oc_bind_t */
    int huge_pages;              /* oc_huge_pages_t */
    int polling;                 /* oc_polling_t; also of ranks that wait */
} oc_local_settings_t;

/* coll_optcast_*: what a job sets. All ranks of a job need the same values. */
typedef struct {
    int priority;
    int mode;                    /* oc_mode_t */
    int verbose;
    int peer_aggregation;        /* oc_peer_aggregation_t */
    const char *servers;
    const char *rules;
    size_t small_size;
    size_t chunk_size;           /* 0: see oc_settings_largest_chunk */
    int window;
    size_t eager_window;
    int max_ranks;
    int reproducible;            /* oc_reproducible_t */
    int recovery;                /* 1: collectives go on when a server is lost; 0: they end with an error */
    int reduce_scatter_beside;   /* oc_beside_t */
    int progress;                /* oc_progress_t */
    int connect_timeout;
    int heartbeat_timeout;
    int multicast;               /* oc_multicast_choice_t */
    size_t multicast_min_size;   /* 0: by the rate of links */
    const char *multicast_interface;
    const char *multicast_address;
    int multicast_port;
    int multicast_receiver;      /* oc_receiver_t */
    int multicast_groups;
    int multicast_senders;       /* 0: as many as the window is good for */
    size_t multicast_window;
    size_t multicast_staging;
    int multicast_rate;
    size_t device_staging;
    const char *timeline;
    oc_local_settings_t local;   /* of embedded aggregators */
} oc_job_settings_t;

/* optcast-server: what its administrator sets. */
typedef struct {
    const char *listen;
    int aggregators;
    size_t memory_limit;
    int log_level;
    int drain_timeout;
    int max_jobs;
    int cgroup;                  /* oc_cgroup_choice_t */
    const char *parent;
    const char *timeline;
    oc_local_settings_t local;
} oc_server_settings_t;

extern const oc_settings_table_t oc_job_settings_table;
extern const oc_settings_table_t oc_server_settings_table;

void oc_settings_default(const oc_settings_table_t *table, void *values);

/* NULL if there is no such name. */
const oc_setting_t *oc_setting_find(const oc_settings_table_t *table, const char *name);

/* Sets one value from text. On OC_ERR_INVALID error names value, range and setting. */
oc_status_t oc_setting_parse(const oc_setting_t *setting, void *values, const char *text,
                             char *error, size_t error_size);

/* Checks the ranges of all values, wherever they came from. */
oc_status_t oc_settings_check(const oc_settings_table_t *table, const void *values, char *error,
                              size_t error_size);

/*
 * Goes on with a hash of oc_hash over the values of one scope, but of what is changeable: processes
 * need not change that at the same time. Any thread may call it; it does not block.
 */
uint64_t oc_settings_hash(uint64_t hash, const oc_settings_table_t *table, const void *values,
                          oc_setting_scope_t scope);

/* What chunk_size stands for: bytes of the largest chunk of a vector … */
size_t oc_settings_largest_chunk(const oc_job_settings_t *settings);

/* … and how many chunks each aggregator gets at least, unless they would be below OC_FINE_CHUNK. */
unsigned oc_settings_fewest_chunks(const oc_job_settings_t *settings);

#endif
