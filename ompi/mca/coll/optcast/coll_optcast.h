/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component's data model and the doors between its files.
 *
 * A module (one per communicator) holds a group of the engine and the functions that the
 * communicator had before. Set-up, servers and data are the engine's (client/client.h); this
 * folder decides what is offloaded, and does for MPI what only MPI can do.
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
#define OC_FOREACH_TAKEN(X) \
    X(allreduce)            \
    X(iallreduce)           \
    X(allreduce_init)

#define OC_FOREACH_SAVED(X) \
    OC_FOREACH_TAKEN(X)     \
    X(allgather)            \
    X(allgather_init)

/* Why an operation went to the previous module. */
typedef enum {
    OC_FALLBACK_NONE,
    OC_FALLBACK_OP,     /* user-defined, or not offered for this type */
    OC_FALLBACK_TYPE,   /* not a type that is offered */
    OC_FALLBACK_RANKS,  /* more ranks than max_ranks */
    OC_FALLBACK_SIZE,   /* mode auto and too small */
    OC_FALLBACK_SETUP,  /* the communicator has no service */
    OC_FALLBACK_ORDER,  /* nonblocking MAX or MIN of at most two integers: see decide.c */
    OC_FALLBACK_END
} oc_fallback_t;

typedef struct {
    mca_coll_base_component_t super;
    oc_job_settings_t settings;
    bool settings_valid;
    bool active;                /* the job did not begin in mode never, or without a priority */
    int output;
    oc_client_t *client;        /* made for the first communicator */
    int live_modules;           /* under lock */
    bool oversubscribed;        /* more local ranks than processors: waits sleep */
    opal_free_list_t requests;
    opal_list_t inner;          /* requests that wait for one of the previous module */
    opal_mutex_t lock;          /* of inner, live_modules and error codes */
    oc_counters_t counters;
    unsigned long long fallbacks;
    unsigned long long fallback_reasons[OC_FALLBACK_END];
    bool has_job;
    oc_job_t job;               /* published by rank 0 of the job */
} mca_coll_optcast_component_t;

OMPI_DECLSPEC extern mca_coll_optcast_component_t mca_coll_optcast_component;

typedef struct mca_coll_optcast_module mca_coll_optcast_module_t;

/* The two exchanges that a group's set-up needs: see bootstrap.c. */
typedef struct {
    mca_coll_optcast_module_t *module;
    bool blocking;              /* the first collective is a blocking one, on all ranks */
    oc_exchange_t exchange;     /* buffers of the engine */
    atomic_int wanted, done;    /* blocking: steps, counted from 1 */
    int error;                  /* blocking: of a step that is done */
    ompi_request_t *steps[2];   /* nonblocking: persistent requests of the previous module */
    int started;
    oc_exchange_t early;        /* reserved before the engine's are known: buffers of its own */
    uint8_t *buffer;            /* NULL if there are none */
    int64_t vote, outcome;
} mca_coll_optcast_bootstrap_t;

struct mca_coll_optcast_module {
    mca_coll_base_module_t super;
    ompi_communicator_t *comm;
    int mode;                   /* the setting's value when the communicator was made */
    bool enabled;
    oc_group_t *group;          /* NULL: too many ranks */
    mca_coll_optcast_bootstrap_t bootstrap;
    bool blocking_seen;         /* a blocking operation has known the outcome on all ranks */
    unsigned reserved;          /* nonblocking operations with a reserved fallback */
    atomic_bool announced[2];   /* that there is no service, or that there is, was told */
    atomic_bool failure_told;
    int error_code;             /* of MPI, with the reason as its text; 0: none yet */
#define X(op)                                    \
    mca_coll_base_module_##op##_fn_t prev_##op; \
    mca_coll_base_module_t *prev_##op##_module;
    OC_FOREACH_SAVED(X)
#undef X
};
OBJ_CLASS_DECLARATION(mca_coll_optcast_module_t);

/* An Allreduce as MPI gave it, and what it is for the engine: see reduction/reduction.h. */
typedef struct {
    const void *sbuf;
    void *rbuf;
    oc_mpi_count_t count;
    struct ompi_datatype_t *dtype;
    struct ompi_op_t *op;
    unsigned oc_op, oc_type;
} mca_coll_optcast_call_t;

/* What a persistent operation owns: see persistent.c. */
typedef struct {
    mca_coll_optcast_call_t call;
    oc_group_t *group;
    mca_coll_optcast_bootstrap_t bootstrap;
} mca_coll_optcast_persistent_t;

/*
 * Not ompi_request_t: for some calls the MPI layer casts whatever a nonblocking collective
 * returned to this base class and stores in it what it retained.
 */
typedef struct {
    ompi_coll_base_nbc_request_t super;
    mca_coll_optcast_module_t *module;
    oc_group_t *group;
    ompi_request_t *inner;      /* reserved or started on the previous module; or NULL */
    mca_coll_optcast_persistent_t *persistent; /* NULL: not one */
} mca_coll_optcast_request_t;
OBJ_CLASS_DECLARATION(mca_coll_optcast_request_t);

/* module.c */
int mca_coll_optcast_init_query(bool enable_progress_threads, bool enable_mpi_threads);
mca_coll_base_module_t *mca_coll_optcast_comm_query(ompi_communicator_t *comm, int *priority);
int mca_coll_optcast_progress(void);
/* NULL when memory has run out. */
oc_group_t *mca_coll_optcast_group_new(mca_coll_optcast_module_t *module,
                                       mca_coll_optcast_bootstrap_t *bootstrap);

/*
 * decide.c. The decision is a pure function of what MPI makes equal on all ranks, and fills in
 * what the operation is for the engine. Nonblocking MAX and MIN of at most two integers are
 * never offloaded: Open MPI agrees on communicator ids that way, from inside progress, and in an
 * order that differs between ranks.
 */
oc_fallback_t mca_coll_optcast_decide(const mca_coll_optcast_module_t *m,
                                      mca_coll_optcast_call_t *call, bool nonblocking);
oc_allreduce_args_t mca_coll_optcast_engine_args(const mca_coll_optcast_call_t *call,
                                                 void (*finished)(void *, oc_status_t), void *arg);
/* The line of an operation at coll_optcast_verbose 2. */
void mca_coll_optcast_tell(const mca_coll_optcast_module_t *m, const char *name,
                           const mca_coll_optcast_call_t *call, oc_fallback_t reason);

/* allreduce.c: signatures of the framework */
int mca_coll_optcast_allreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                               struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_optcast_iallreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                                struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                struct ompi_communicator_t *comm, ompi_request_t **request,
                                mca_coll_base_module_t *module);

/* persistent.c */
int mca_coll_optcast_allreduce_init(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                                    struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                    struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                    ompi_request_t **request, mca_coll_base_module_t *module);
/* What such a request owns, but for the request of the previous module. */
void mca_coll_optcast_persistent_free(mca_coll_optcast_request_t *request);

/*
 * request.c. start: of a persistent request, which begins inactive; NULL: of one that is active
 * and ends with its first completion. Both keep the communicator alive.
 */
mca_coll_optcast_request_t *mca_coll_optcast_request_new(mca_coll_optcast_module_t *module,
                                                         ompi_request_start_fn_t start);
/* A persistent request begins to wait. */
void mca_coll_optcast_request_activate(mca_coll_optcast_request_t *request);
/* To the engine or, if that has declined, to the previous module; an error of MPI if to neither. */
int mca_coll_optcast_request_start(mca_coll_optcast_request_t *request,
                                   const mca_coll_optcast_call_t *call);
/* The last thing that is done with a request that is not persistent. */
void mca_coll_optcast_request_complete(mca_coll_optcast_request_t *request, int error);
/* oc_allreduce_args_t.finished of a nonblocking operation; arg is the request. */
void mca_coll_optcast_request_finished(void *arg, oc_status_t status);
/* Starts the reserved request of the previous module, whose end will be that of this one. */
int mca_coll_optcast_request_fall_back(mca_coll_optcast_request_t *request);
/* Gives back a request that the application has not seen. */
void mca_coll_optcast_request_discard(mca_coll_optcast_request_t *request);
int mca_coll_optcast_request_progress(void);

/* bootstrap.c */
extern const oc_bootstrap_t mca_coll_optcast_bootstrap;
/* Inside a blocking collective: carries out the step that the engine asks for, if any. */
void mca_coll_optcast_bootstrap_serve(mca_coll_optcast_bootstrap_t *bootstrap);
/* Takes the numbers of both exchanges now, for a group whose set-up begins later. */
oc_status_t mca_coll_optcast_bootstrap_reserve(mca_coll_optcast_bootstrap_t *bootstrap);
void mca_coll_optcast_bootstrap_release(mca_coll_optcast_bootstrap_t *bootstrap);

/*
 * job.c. publish: while the component is opened, rank 0. adopt: once, before there is a
 * communicator, all ranks; whether rank 0 takes part. lookup: never waits.
 */
void mca_coll_optcast_job_publish(void);
bool mca_coll_optcast_job_adopt(void);
oc_status_t mca_coll_optcast_job_lookup(oc_job_t *job);

/*
 * types.c: operation and type of reduction/ for those of MPI, or why there are none
 * (OC_FALLBACK_OP, OC_FALLBACK_TYPE). Depends on the operation and the type signature only.
 * Elements of reduction/ have no padding; those of MPI_SHORT_INT and the like have.
 */
oc_fallback_t mca_coll_optcast_map(const struct ompi_op_t *op, const struct ompi_datatype_t *dtype,
                                   unsigned *oc_op, unsigned *oc_type);

/* half.c: the same for operations that are not predefined, as those of <optcast/mpi.h> */
oc_fallback_t mca_coll_optcast_map_half(const struct ompi_op_t *op,
                                        const struct ompi_datatype_t *dtype, unsigned *oc_op,
                                        unsigned *oc_type);

/* pvars.c */
void mca_coll_optcast_pvars_register(void);
void mca_coll_optcast_count_fallback(oc_fallback_t reason);

/* report.c: lines for people, and the MPI error code of a failure */
/* What to call a communicator; never NULL or empty. Belongs to the communicator. */
const char *mca_coll_optcast_name(const ompi_communicator_t *comm);
void mca_coll_optcast_report_setup(mca_coll_optcast_module_t *module, oc_group_t *group);
int mca_coll_optcast_report_failure(mca_coll_optcast_module_t *module, const oc_group_t *group,
                                    oc_status_t status);
void mca_coll_optcast_report_summary(void);

#define OC_VERBOSE(level, ...) \
    opal_output_verbose((level), mca_coll_optcast_component.output, __VA_ARGS__)

#endif
