/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component's data model, on one page. Each file has a header of its own with what it does.
 *
 * A module (one per communicator) holds what serves the communicator, which is a group of the
 * engine each, and the functions that it had before. Set-up, network and data are the engine's
 * (client/client.h); this folder decides what is offloaded, and does for MPI what only MPI can do.
 *
 * A call of MPI becomes a mca_coll_optcast_call_t, whose operation says how it is decided, started
 * and left to the previous module. All that does not depend on the operation is in operate.c,
 * request.c and persistent.c.
 */
#ifndef MCA_COLL_OPTCAST_H
#define MCA_COLL_OPTCAST_H

#include "coll_optcast_compat.h"

#include <stdatomic.h>

#include "ompi/mca/coll/base/coll_base_util.h"
#include "opal/class/opal_free_list.h"

#include "base/settings.h"
#include "client/client.h"

/* What is taken over, and what is only kept to be used from below. */
#define OC_FOREACH_REDUCED(X) \
    X(allreduce)              \
    X(iallreduce)             \
    X(allreduce_init)

/* These only if multicast is not off. */
#define OC_FOREACH_CAST(X) \
    X(allgather)           \
    X(iallgather)          \
    X(allgather_init)      \
    X(allgatherv)          \
    X(iallgatherv)         \
    X(allgatherv_init)     \
    X(bcast)               \
    X(ibcast)              \
    X(bcast_init)

#define OC_FOREACH_SAVED(X) \
    OC_FOREACH_REDUCED(X)   \
    OC_FOREACH_CAST(X)

/* The services of a communicator are numbered by oc_service_t. */
#define OC_NUM_SERVICES (OC_SERVICE_MULTICAST + 1)

/* Why an operation went to the previous module. */
typedef enum {
    OC_FALLBACK_NONE,
    OC_FALLBACK_OP,     /* user-defined, or not offered for this type */
    OC_FALLBACK_TYPE,   /* not a type that is offered */
    OC_FALLBACK_RANKS,  /* more ranks than max_ranks */
    OC_FALLBACK_SIZE,   /* mode auto, and faster without us, or nothing at all */
    OC_FALLBACK_PLACE,  /* mode auto, and nothing is gained between these ranks */
    OC_FALLBACK_SETUP,  /* the communicator has no service */
    OC_FALLBACK_ORDER,  /* what Open MPI itself does inside progress: see decide */
    OC_FALLBACK_END
} oc_fallback_t;

/* What the component knows and has in this process, for all communicators. */
typedef struct {
    const mca_base_component_t *component; /* what MCA knows it by */
    oc_job_settings_t settings;
    bool settings_valid;
    bool active;                /* the job did not begin in mode never, or without a priority */
    int output;
    oc_client_t *client;        /* made for the first communicator */
    int live_modules;           /* under lock */
    atomic_int han_calls;       /* of all threads, that are under way: see han.c */
    oc_network_t network;       /* of this host */
    uint64_t cast_least;        /* bytes of all ranks that multicast carries in mode auto, … */
    uint64_t block_least;       /* … of one of them in an Allgather, on average, … */
    uint64_t pair_least;        /* … and of an Allgather between two; UINT64_MAX: none */
    uint32_t max_hosts;         /* of the job: no more than these */
    oc_rules_t rules;           /* of rank 0 of the job, as the next one: for mode auto */
    oc_least_t least;
    long spare_processors;      /* of this host, beside one for each rank; may be negative */
    opal_free_list_t requests;
    opal_list_t inner;          /* requests that wait for one of the previous module */
    opal_list_t exchanges;      /* under way; but those that the one below moves on */
    atomic_flag exchanging;     /* somebody moves exchanges on */
    opal_mutex_t lock;          /* of both lists, live_modules and the text of the error code */
    atomic_int error_code;      /* of MPI, with the last reason as its text; 0: none */
    atomic_bool error_code_asked;
    oc_counters_t counters;
    unsigned long long fallbacks;
    unsigned long long fallback_reasons[OC_FALLBACK_END];
    unsigned long long setup_messages; /* sent to other ranks for set-ups */
    unsigned long long setup_bytes;
    bool has_job;
    oc_job_t job;               /* published by rank 0 of the job */
} mca_coll_optcast_state_t;

extern mca_coll_optcast_state_t mca_coll_optcast_state;

typedef struct mca_coll_optcast_module mca_coll_optcast_module_t;

/* Of all ranks of a communicator: see exchange.c. */
typedef struct mca_coll_optcast_exchange mca_coll_optcast_exchange_t;

/* The exchanges that a group's set-up needs: see bootstrap.c. */
typedef struct {
    mca_coll_optcast_module_t *module;
    oc_service_t service;       /* of the group */
    bool blocking;              /* the first collective is a blocking one, on all ranks */
    bool reserved;              /* there is a tag already */
    int tag;                    /* of all messages of this set-up */
    oc_exchange_t buffers;      /* of the engine */
    int step;                   /* that was started last; records come after contacts */
    bool contacts;              /* these are under way */
    mca_coll_optcast_exchange_t *exchange; /* of that; NULL: none is under way */
} mca_coll_optcast_bootstrap_t;

/* What serves a communicator, for some of its collectives. */
typedef struct {
    mca_coll_optcast_module_t *module;
    oc_group_t *group;          /* NULL: too many ranks */
    mca_coll_optcast_bootstrap_t bootstrap;
    bool blocking_seen;         /* a blocking operation has known the outcome on all ranks */
    unsigned reserved;          /* nonblocking operations with a reserved fallback */
    atomic_bool announced[2];   /* that there is no service, or that there is, was told */
    atomic_bool failure_told;
} mca_coll_optcast_service_t;

struct mca_coll_optcast_module {
    mca_coll_base_module_t super;
    ompi_communicator_t *comm;
    int mode;                   /* the setting's value when the communicator was made */
    bool enabled;
    uint64_t bcast_least, gather_least; /* bytes that multicast carries; UINT64_MAX: none */
    bool chooses;               /* mode auto: rules and model say which Allreduces are offloaded */
    uint64_t least;             /* bytes; no smaller Allreduce is ever, UINT64_MAX: none is */
    bool over_han;              /* some of the functions before us are those of HAN */
    atomic_int inside;          /* calls of the previous module that are under way: see operate.c */
    mca_coll_optcast_service_t services[OC_NUM_SERVICES];
#define X(op)                                    \
    mca_coll_base_module_##op##_fn_t prev_##op; \
    mca_coll_base_module_t *prev_##op##_module;
    OC_FOREACH_SAVED(X)
#undef X
};
OBJ_CLASS_DECLARATION(mca_coll_optcast_module_t);

typedef enum {
    OC_WAY_BLOCKING,
    OC_WAY_NONBLOCKING,
    OC_WAY_PERSISTENT,
    OC_NUM_WAYS
} mca_coll_optcast_way_t;

typedef struct mca_coll_optcast_operation mca_coll_optcast_operation_t;

/* The buffers of an Allgather or Bcast as the engine sees them: each block a row of bytes. */
typedef struct {
    char *recv;                 /* the caller's, or the temporary */
    size_t block;               /* bytes of each block, side by side, if … */
    size_t *lengths;            /* … this is NULL: bytes of each */
    size_t *offsets;            /* from recv; with lengths */
    ptrdiff_t *places;          /* bytes from rbuf to the first element of each; with lengths */
    size_t total;               /* bytes of all */
    bool scattered;             /* the caller's blocks are no rows of bytes: see temporary */
    char *temporary;            /* NULL: not there yet */
} mca_coll_optcast_layout_t;

/* A collective as MPI gave it, and what it is for the engine. What it does not have is 0. */
typedef struct {
    const mca_coll_optcast_operation_t *operation;
    mca_coll_optcast_way_t way;
    const void *sbuf;
    oc_mpi_count_t scount;      /* Allgather */
    struct ompi_datatype_t *sdtype;
    void *rbuf;                 /* Bcast: the only buffer */
    oc_mpi_count_t count;
    struct ompi_datatype_t *dtype;
    bool unequal;               /* Allgatherv: counts and displacements instead of count, … */
    oc_mpi_counts_t counts;     /* … only valid while MPI's function is called */
    oc_mpi_displs_t displs;
    int root;
    struct ompi_op_t *op;
    oc_device_t *sdevice, *rdevice; /* that have the buffers; NULL: host memory */
    unsigned oc_op, oc_type;    /* of reduction/reduction.h */
    uint64_t bytes;             /* Allreduce: of the vector */
    mca_coll_optcast_layout_t layout;
} mca_coll_optcast_call_t;

/* A call whose buffers have doubles in host memory: see hosted.c. */
typedef struct mca_coll_optcast_hosted mca_coll_optcast_hosted_t;

/* All that depends on which collective it is, whichever way it is called. */
struct mca_coll_optcast_operation {
    const char *names[OC_NUM_WAYS];
    oc_service_t service;
    /*
     * Whether it is offloaded: a pure function of what MPI makes equal on all ranks. Fills in
     * what the call is for the engine.
     */
    oc_fallback_t (*decide)(const mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call);
    /* Once, in MPI's function, before start: fills in the layout. NULL: it has none. */
    int (*prepare)(const mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call);
    /* As oc_allreduce_start. */
    oc_status_t (*start)(const mca_coll_optcast_module_t *m, oc_group_t *group,
                         mca_coll_optcast_call_t *call, void (*finished)(void *, oc_status_t),
                         void *arg);
    /* After each success: what is temporary goes to where it belongs. NULL: nothing is. */
    int (*finish)(const mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call);
    /* The previous module's functions. */
    int (*previous)(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call);
    int (*previous_now)(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                        ompi_request_t **request);
    int (*previous_init)(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                         struct ompi_info_t *info, ompi_request_t **request);
    /* As previous_init, but may be of something small: for a request that is never started. */
    int (*previous_unused)(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                           ompi_request_t **request);
    /* Whether the previous module numbers an immediate operation like a persistent one. */
    bool (*same_numbers)(const mca_coll_optcast_module_t *m);
};

/* What a persistent operation owns: see persistent.c. */
typedef struct {
    oc_group_t *group;
    mca_coll_optcast_bootstrap_t bootstrap;
} mca_coll_optcast_persistent_t;

typedef struct mca_coll_optcast_request mca_coll_optcast_request_t;

/*
 * Not ompi_request_t: for some calls the MPI layer casts whatever a nonblocking collective
 * returned to this base class and stores in it what it retained.
 */
struct mca_coll_optcast_request {
    ompi_coll_base_nbc_request_t super;
    mca_coll_optcast_module_t *module;
    mca_coll_optcast_call_t call;
    oc_group_t *group;          /* NULL: persistent, and left to the previous module for good */
    ompi_request_t *inner;      /* reserved or started on the previous module; or NULL */
    mca_coll_optcast_hosted_t *hosted; /* what that works on; NULL: the call's own buffers */
    mca_coll_optcast_persistent_t *persistent; /* NULL: not one */
    void (*freed)(mca_coll_optcast_request_t *request); /* it is being freed; NULL: nobody cares */
};
OBJ_CLASS_DECLARATION(mca_coll_optcast_request_t);

#define OC_VERBOSE(level, ...) \
    opal_output_verbose((level), mca_coll_optcast_state.output, __VA_ARGS__)

#endif
