/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component's data model and the doors between its files.
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

typedef struct {
    mca_coll_base_component_t super;
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
} mca_coll_optcast_component_t;

OMPI_DECLSPEC extern mca_coll_optcast_component_t mca_coll_optcast_component;

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

/*
 * Not ompi_request_t: for some calls the MPI layer casts whatever a nonblocking collective
 * returned to this base class and stores in it what it retained.
 */
typedef struct {
    ompi_coll_base_nbc_request_t super;
    mca_coll_optcast_module_t *module;
    mca_coll_optcast_call_t call;
    oc_group_t *group;          /* NULL: persistent, and left to the previous module for good */
    ompi_request_t *inner;      /* reserved or started on the previous module; or NULL */
    mca_coll_optcast_hosted_t *hosted; /* what that works on; NULL: the call's own buffers */
    mca_coll_optcast_persistent_t *persistent; /* NULL: not one */
} mca_coll_optcast_request_t;
OBJ_CLASS_DECLARATION(mca_coll_optcast_request_t);

/* module.c */
int mca_coll_optcast_init_query(bool enable_progress_threads, bool enable_mpi_threads);
mca_coll_base_module_t *mca_coll_optcast_comm_query(ompi_communicator_t *comm, int *priority);
int mca_coll_optcast_progress(void);
/*
 * For the bootstrap's service. only: the call that a persistent operation will make, whose group is
 * patient; or NULL. NULL when memory has run out.
 */
oc_group_t *mca_coll_optcast_group_new(mca_coll_optcast_bootstrap_t *bootstrap,
                                       const mca_coll_optcast_call_t *only);

/* operate.c: the three ways to call a collective; the call has all but what decide fills in. */
int mca_coll_optcast_operate(mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call);
int mca_coll_optcast_operate_now(mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call,
                                 ompi_request_t **request);
/* persistent.c */
int mca_coll_optcast_operate_init(mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call,
                                  struct ompi_info_t *info, ompi_request_t **request);
/* What such a request owns, but for the request of the previous module. */
void mca_coll_optcast_persistent_free(mca_coll_optcast_request_t *request);

/*
 * decide.c. module: finds the smallest Allreduce that may ever be offloaded. left: why the group is
 * known to leave such a call to the previous module; NONE: it does not, or this rank does not know
 * it yet, and finds out when it gives the call to the engine.
 */
void mca_coll_optcast_decide_module(mca_coll_optcast_module_t *m);
oc_fallback_t mca_coll_optcast_left(const oc_group_t *group, const mca_coll_optcast_call_t *call);
/* For so many bytes of all ranks together. */
oc_fallback_t mca_coll_optcast_decide_cast(const mca_coll_optcast_module_t *m, uint64_t least,
                                           size_t total);
void mca_coll_optcast_decide_casts(mca_coll_optcast_module_t *m);

/*
 * layout.c. Blocks that are not rows of bytes in the caller's memory are packed and unpacked. All
 * of this is one rank's own affair: the others may describe the same elements in another way.
 */
/* Of one block for each rank; an error of MPI when memory has run out. */
int mca_coll_optcast_layout_blocks(mca_coll_optcast_call_t *call, int num_ranks);
/* Of one block, the whole. */
void mca_coll_optcast_layout_whole(mca_coll_optcast_call_t *call);
/* Before each operation: makes the temporary, if one is needed. */
int mca_coll_optcast_layout_begin(mca_coll_optcast_layout_t *layout);
/* Elements that lie in a row: where that begins. NULL: they do not. */
const void *mca_coll_optcast_row(const void *buffer, size_t count,
                                 const struct ompi_datatype_t *dtype);
/* device: that has the elements; NULL: the host. */
int mca_coll_optcast_pack(oc_device_t *device, const void *from, size_t count,
                          const struct ompi_datatype_t *dtype, char *to, size_t length);
int mca_coll_optcast_unpack(oc_device_t *device, char *from, size_t length, void *to, size_t count,
                            const struct ompi_datatype_t *dtype);
void mca_coll_optcast_layout_free(mca_coll_optcast_layout_t *layout);

/*
 * device.c. Where a buffer is, is one rank's own affair, too. find_devices: of a call's buffers.
 * is_known: Open MPI itself reaches what is there, which is memory of a device.
 */
void mca_coll_optcast_find_devices(const mca_coll_optcast_module_t *m,
                                   mca_coll_optcast_call_t *call);
bool mca_coll_optcast_is_known(const void *address);
/* Elements from their buffer on a device to a row of the host, or the other way round. */
int mca_coll_optcast_move(oc_device_t *device, oc_direction_t direction, void *buffer, size_t count,
                          const struct ompi_datatype_t *dtype, char *row, size_t length);
/* Elements from a double that is laid out as their buffer on a device, and nothing of its gaps. */
int mca_coll_optcast_store(oc_device_t *device, void *buffer, size_t count,
                           const struct ompi_datatype_t *dtype, const void *twin);
/* So many bytes went to a device, or came from one, outside the engine. */
void mca_coll_optcast_count_staged(size_t length);

/*
 * hosted.c: the previous module's functions, for a call whose buffers may be where it cannot reach
 * them. load: before it begins; what cannot be loaded ends the job. store: when it has succeeded.
 * NULL is allowed.
 */
int mca_coll_optcast_previous(const mca_coll_optcast_module_t *m,
                              const mca_coll_optcast_call_t *call);
int mca_coll_optcast_previous_now(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                                  ompi_request_t **request);
/* hosted: goes with the request, whose user loads and stores; NULL: there is nothing to do. */
int mca_coll_optcast_previous_init(const mca_coll_optcast_module_t *m,
                                   const mca_coll_optcast_call_t *call, struct ompi_info_t *info,
                                   ompi_request_t **request, mca_coll_optcast_hosted_t **hosted);
void mca_coll_optcast_hosted_load(const mca_coll_optcast_hosted_t *hosted);
int mca_coll_optcast_hosted_store(const mca_coll_optcast_hosted_t *hosted);
void mca_coll_optcast_hosted_free(mca_coll_optcast_hosted_t *hosted);

/* allreduce.c, allgather.c, bcast.c: signatures of the framework */
int mca_coll_optcast_allreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                               struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_optcast_iallreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                                struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                struct ompi_communicator_t *comm, ompi_request_t **request,
                                mca_coll_base_module_t *module);
int mca_coll_optcast_allreduce_init(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                                    struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                    struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                    ompi_request_t **request, mca_coll_base_module_t *module);

int mca_coll_optcast_allgather(const void *sbuf, oc_mpi_count_t scount,
                               struct ompi_datatype_t *sdtype, void *rbuf, oc_mpi_count_t rcount,
                               struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                               mca_coll_base_module_t *module);
int mca_coll_optcast_iallgather(const void *sbuf, oc_mpi_count_t scount,
                                struct ompi_datatype_t *sdtype, void *rbuf, oc_mpi_count_t rcount,
                                struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                ompi_request_t **request, mca_coll_base_module_t *module);
int mca_coll_optcast_allgather_init(const void *sbuf, oc_mpi_count_t scount,
                                    struct ompi_datatype_t *sdtype, void *rbuf,
                                    oc_mpi_count_t rcount, struct ompi_datatype_t *rdtype,
                                    struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                    ompi_request_t **request, mca_coll_base_module_t *module);
int mca_coll_optcast_allgatherv(const void *sbuf, oc_mpi_count_t scount,
                                struct ompi_datatype_t *sdtype, void *rbuf,
                                oc_mpi_counts_t rcounts, oc_mpi_displs_t displs,
                                struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                mca_coll_base_module_t *module);
int mca_coll_optcast_iallgatherv(const void *sbuf, oc_mpi_count_t scount,
                                 struct ompi_datatype_t *sdtype, void *rbuf,
                                 oc_mpi_counts_t rcounts, oc_mpi_displs_t displs,
                                 struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                 ompi_request_t **request, mca_coll_base_module_t *module);
int mca_coll_optcast_allgatherv_init(const void *sbuf, oc_mpi_count_t scount,
                                     struct ompi_datatype_t *sdtype, void *rbuf,
                                     oc_mpi_counts_t rcounts, oc_mpi_displs_t displs,
                                     struct ompi_datatype_t *rdtype,
                                     struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                     ompi_request_t **request, mca_coll_base_module_t *module);
int mca_coll_optcast_bcast(void *buffer, oc_mpi_count_t count, struct ompi_datatype_t *dtype,
                           int root, struct ompi_communicator_t *comm,
                           mca_coll_base_module_t *module);
int mca_coll_optcast_ibcast(void *buffer, oc_mpi_count_t count, struct ompi_datatype_t *dtype,
                            int root, struct ompi_communicator_t *comm, ompi_request_t **request,
                            mca_coll_base_module_t *module);
int mca_coll_optcast_bcast_init(void *buffer, oc_mpi_count_t count, struct ompi_datatype_t *dtype,
                                int root, struct ompi_communicator_t *comm,
                                struct ompi_info_t *info, ompi_request_t **request,
                                mca_coll_base_module_t *module);

/*
 * request.c. start: of a persistent request, which begins inactive; NULL: of one that is active
 * and ends with its first completion. Both keep the communicator alive, and take over the
 * call with its layout.
 */
mca_coll_optcast_request_t *mca_coll_optcast_request_new(mca_coll_optcast_module_t *module,
                                                         const mca_coll_optcast_call_t *call,
                                                         ompi_request_start_fn_t start);
/* Its end will be that of the inner one, which is under way. */
void mca_coll_optcast_request_await_inner(mca_coll_optcast_request_t *request);
/* A persistent request begins to wait. */
void mca_coll_optcast_request_activate(mca_coll_optcast_request_t *request);
/* To the engine; what goes wrong before it is there ends the group, for the others count on it. */
oc_status_t mca_coll_optcast_start(const mca_coll_optcast_module_t *m, oc_group_t *group,
                                   mca_coll_optcast_call_t *call,
                                   void (*finished)(void *, oc_status_t), void *arg);
/* To the engine or, if that has declined, to the previous module; an error of MPI if to neither. */
int mca_coll_optcast_request_start(mca_coll_optcast_request_t *request);
/* The last thing that is done with a request that is not persistent. */
void mca_coll_optcast_request_complete(mca_coll_optcast_request_t *request, int error);
/* Gives back a request that the application has not seen. */
void mca_coll_optcast_request_discard(mca_coll_optcast_request_t *request);
int mca_coll_optcast_request_progress(void);

/*
 * memory.c. open: from now on, and whenever there is memory again, some is in reserve. need: what
 * was to be allocated is not there, and the other ranks count on it: returns when it is to be
 * tried again, once more memory was made free, or ends the job.
 */
void mca_coll_optcast_memory_open(void);
void mca_coll_optcast_memory_close(void);
void mca_coll_optcast_need(const ompi_communicator_t *comm, const char *what);
/* This rank cannot do its part of an operation that nobody can tell the others of. */
void mca_coll_optcast_end_job(const ompi_communicator_t *comm, const char *why);

/*
 * han.c. find: what came before us has changed. call: as mca_coll_optcast_previous, of a module
 * that is over HAN. is_mine: this thread is in such a call.
 */
void mca_coll_optcast_han_find(mca_coll_optcast_module_t *m);
int mca_coll_optcast_han_call(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call);
bool mca_coll_optcast_han_is_mine(void);

/* Whether it is HAN that calls a blocking collective now. */
static inline bool mca_coll_optcast_han_is_calling(void)
{
    return 0 != atomic_load_explicit(&mca_coll_optcast_component.han_calls, memory_order_relaxed)
           && mca_coll_optcast_han_is_mine();
}

/* bootstrap.c */
extern const oc_bootstrap_t mca_coll_optcast_bootstrap;
/* Takes the tag now, for a group whose set-up begins later. */
void mca_coll_optcast_bootstrap_reserve(mca_coll_optcast_bootstrap_t *bootstrap);
void mca_coll_optcast_bootstrap_release(mca_coll_optcast_bootstrap_t *bootstrap);

/*
 * exchange.c. Begins one, which all ranks do with the same tag, in the same order for one tag.
 * Communicates nothing yet: progress does. NULL when memory has run out.
 */
mca_coll_optcast_exchange_t *mca_coll_optcast_exchange_records(ompi_communicator_t *comm, int tag,
                                                               const void *record, size_t size);
/* Of buffers->num_neighbours ranks, more than 0, each of which has this one among its own. */
mca_coll_optcast_exchange_t *
mca_coll_optcast_exchange_contacts(ompi_communicator_t *comm, int tag,
                                   const oc_exchange_t *buffers);
mca_coll_optcast_exchange_t *mca_coll_optcast_exchange_vote(ompi_communicator_t *comm, int tag,
                                                            int64_t vote);
/* OC_IN_PROGRESS, OC_OK or OC_ERR_SYSTEM */
oc_status_t mca_coll_optcast_exchange_test(const mca_coll_optcast_exchange_t *exchange);
/* After OC_OK: all records in rank order, contacts in that of the neighbours, or the least vote. */
void mca_coll_optcast_exchange_copy(const mca_coll_optcast_exchange_t *exchange, void *records);
int64_t mca_coll_optcast_exchange_least(const mca_coll_optcast_exchange_t *exchange);
/* At any time; whatever the PML still needs of it stays until it has ended. */
void mca_coll_optcast_exchange_end(mca_coll_optcast_exchange_t *exchange);
/* Moves all of them on. Needs no lock, and may be called from within itself. */
void mca_coll_optcast_exchange_progress(void);
/* When the component closes: those that nobody will end. */
void mca_coll_optcast_exchange_forget(void);

/*
 * opponent.c: one of client/plan/previous.h, by the components that are open and by what users have
 * set for them. While components are opened.
 */
uint64_t mca_coll_optcast_opponent(void);

/*
 * job.c. max_hosts: how many hosts the job is on at most, as far as this rank knows. publish: while
 * the component is opened, rank 0. adopt: once, before there is a communicator, all ranks; whether
 * rank 0 takes part. lookup: never waits.
 */
uint32_t mca_coll_optcast_job_max_hosts(void);
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
/* Once, when a job with servers will not use them in mode auto. */
void mca_coll_optcast_report_module(const mca_coll_optcast_module_t *module);
/* Of an operation, at coll_optcast_verbose 2. */
void mca_coll_optcast_report_call(const mca_coll_optcast_module_t *module, const char *name,
                                  const mca_coll_optcast_call_t *call, oc_fallback_t reason);
/* group: the service's own, or that of a persistent operation */
void mca_coll_optcast_report_setup(mca_coll_optcast_service_t *service, oc_group_t *group);
int mca_coll_optcast_report_failure(mca_coll_optcast_service_t *service, const oc_group_t *group,
                                    oc_status_t status);
void mca_coll_optcast_report_summary(void);

#define OC_VERBOSE(level, ...) \
    opal_output_verbose((level), mca_coll_optcast_component.output, __VA_ARGS__)

#endif
