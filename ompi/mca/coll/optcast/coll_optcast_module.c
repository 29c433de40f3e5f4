/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator's module: query, enable, end. Nothing here communicates. */
#include "coll_optcast_module.h"

#include <unistd.h>

#include "ompi/proc/proc.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"

#include "adapter/launcher.h"
#include "base/log.h"
#include "base/output.h"

#include "coll_optcast_allgather.h"
#include "coll_optcast_allreduce.h"
#include "coll_optcast_barrier.h"
#include "coll_optcast_bcast.h"
#include "coll_optcast_bootstrap.h"
#include "coll_optcast_decide.h"
#include "coll_optcast_exchange.h"
#include "coll_optcast_group.h"
#include "coll_optcast_han.h"
#include "coll_optcast_hints.h"
#include "coll_optcast_job.h"
#include "coll_optcast_memory.h"
#include "coll_optcast_reduce.h"
#include "coll_optcast_reduce_scatter.h"
#include "coll_optcast_report.h"
#include "coll_optcast_request.h"
#include "coll_optcast_state.h"

#define MIN_RANKS 2

/* The job did not begin in mode never, or without a priority. */
static bool active;

int mca_coll_optcast_progress(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    int events;

    mca_coll_optcast_exchange_progress();
    events = (int) oc_client_progress(st->client);
    if (0 != opal_list_get_size(&st->inner)) {
        events += mca_coll_optcast_request_progress();
    }
    return events;
}

/*
 * Threads of an embedded server come here too, and Open MPI's output functions are only safe for
 * threads under MPI_THREAD_MULTIPLE.
 */
static void module_log_to_stderr(oc_log_level_t level, const char *line)
{
    (void) level;
    oc_output_line("[%s:%d] optcast: %s", opal_process_info.nodename, (int) getpid(), line);
}

/* One rank of the host says it; of embedded aggregators those that have one do. */
static void warn_if_too_busy(const mca_coll_optcast_state_t *st, int local)
{
    if (OC_POLLING_BUSY == st->settings.local.polling && st->spare_processors < 0
        && 0 == opal_process_info.my_local_rank) {
        oc_warn("with coll_optcast_polling busy, %d ranks of this host wait for each other's "
                "processors, which are %ld: use adaptive", local, st->spare_processors + local);
    }
}

static void open_log(int verbose)
{
    static char name[128];

    snprintf(name, sizeof(name), "[%s:%d] optcast", opal_process_info.nodename, (int) getpid());
    oc_output_set_name(name);
    oc_log_set_sink(module_log_to_stderr);
    oc_log_set_level(verbose > 1   ? OC_LOG_DEBUG
                     : verbose > 0 ? OC_LOG_INFO
                                   : OC_LOG_WARN);
}

/* A client outlives communicators: servers and connections stay until the component closes. */
static int client_make(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    int local = (int) opal_process_info.num_local_peers + 1;
    oc_client_config_t config = {
        .settings = &st->settings,
        .counters = &st->counters.engine,
        .process = (uint32_t) ompi_proc_local()->super.proc_name.vpid,
        .spans_hosts = local < ompi_proc_world_size(),
        .max_hosts = mca_coll_optcast_job_max_hosts(),
        .network = st->network,
        .processors = oc_launcher_processors(local),
    };

    st->spare_processors = sysconf(_SC_NPROCESSORS_ONLN) - local;
    config.full_host = st->spare_processors < 1;
    open_log(st->settings.verbose);
    if (OC_OK != oc_client_create(&config, &st->client)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    st->max_hosts = config.max_hosts;
    warn_if_too_busy(st, local);
    return OMPI_SUCCESS;
}

/* Called for every module; the first one starts the client and its progress. */
static int module_count_in(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    int rc = OMPI_SUCCESS;

    OPAL_THREAD_LOCK(&st->lock);
    if (NULL == st->client) {
        rc = opal_free_list_init(&st->requests, sizeof(mca_coll_optcast_request_t),
                                 opal_cache_line_size, OBJ_CLASS(mca_coll_optcast_request_t), 0, 0,
                                 0, -1, 8, NULL, 0, NULL, NULL, NULL);
        if (OMPI_SUCCESS == rc) {
            rc = client_make();
        }
    }
    if (OMPI_SUCCESS == rc && 1 == ++st->live_modules) {
        opal_progress_register(mca_coll_optcast_progress);
    }
    OPAL_THREAD_UNLOCK(&st->lock);
    return rc;
}

static void module_count_out(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;

    OPAL_THREAD_LOCK(&st->lock);
    if (0 == --st->live_modules) {
        (void) opal_progress_unregister(mca_coll_optcast_progress);
    }
    OPAL_THREAD_UNLOCK(&st->lock);
}

static bool is_offered(int service)
{
    return OC_SERVICE_MULTICAST != service
           || OC_MULTICAST_OFF != mca_coll_optcast_state.settings.multicast;
}

/* All or nothing: the first half only looks. */
static int save_previous(mca_coll_optcast_module_t *m)
{
    bool casts = is_offered(OC_SERVICE_MULTICAST);

#define X(fn)                                                                                  \
    if (NULL == m->comm->c_coll->coll_##fn || NULL == m->comm->c_coll->coll_##fn##_module) {   \
        OC_VERBOSE(1, "optcast: communicator \"%s\" has no other %s: not used there",          \
                   mca_coll_optcast_name(m->comm), #fn);                                       \
        return OMPI_ERR_NOT_FOUND;                                                             \
    }
    OC_FOREACH_REDUCED(X)
    if (casts) {
        OC_FOREACH_CAST(X)
    }
#undef X
#define X(fn)                                                    \
    m->prev_##fn = m->comm->c_coll->coll_##fn;                   \
    m->prev_##fn##_module = m->comm->c_coll->coll_##fn##_module; \
    OBJ_RETAIN(m->prev_##fn##_module);
    OC_FOREACH_REDUCED(X)
    if (casts) {
        OC_FOREACH_CAST(X)
    }
#undef X
    mca_coll_optcast_han_find(m);
    return OMPI_SUCCESS;
}

static void services_make(mca_coll_optcast_module_t *m)
{
    mca_coll_optcast_decide_casts(m);
    mca_coll_optcast_decide_module(m);
    mca_coll_optcast_hints_read(m);
    mca_coll_optcast_report_module(m);
    if (ompi_comm_size(m->comm) > mca_coll_optcast_state.settings.max_ranks) {
        return;
    }
    for (int i = 0; i < OC_NUM_SERVICES; i++) {
        mca_coll_optcast_service_t *service = &m->services[i];

        if (!is_offered(i)) {
            continue;
        }
        service->bootstrap.module = m;
        service->bootstrap.service = (oc_service_t) i;
        while (NULL == (service->group = mca_coll_optcast_group_new(&service->bootstrap, NULL))) {
            mca_coll_optcast_need(m->comm, "a group");
        }
    }
}

/* From 6.0 on a module does this itself; before, the framework takes what comm_query filled in. */
static void module_install(mca_coll_optcast_module_t *m, struct ompi_communicator_t *comm)
{
#if !OC_FRAMEWORK_COPIES
#define X(fn) MCA_COLL_INSTALL_API(comm, fn, mca_coll_optcast_##fn, &m->super, "optcast");
    OC_FOREACH_REDUCED(X)
    if (is_offered(OC_SERVICE_MULTICAST)) {
        OC_FOREACH_CAST(X)
    }
#undef X
#else
    (void) m;
    (void) comm;
#endif
}

static int module_enable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    int rc = save_previous(m);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    mca_coll_optcast_memory_open();
    while (OMPI_SUCCESS != module_count_in()) {
        mca_coll_optcast_need(comm, "a client of the service");
    }
    m->enabled = true;
    services_make(m);
    module_install(m, comm);
    return OMPI_SUCCESS;
}

/* 4.1 and 5.0 call this once per function that the module holds, 6.0 exactly once. */
static int module_disable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;

    (void) m;
    (void) comm;
#if !OC_FRAMEWORK_COPIES
#define X(fn)                                                                            \
    if (comm->c_coll->coll_##fn##_module == &m->super) {                                 \
        MCA_COLL_INSTALL_API(comm, fn, m->prev_##fn, m->prev_##fn##_module, "optcast");  \
    }
    OC_FOREACH_SAVED(X)
#undef X
#endif
    return OMPI_SUCCESS;
}

static void module_construct(mca_coll_optcast_module_t *m)
{
    memset((char *) m + sizeof(m->super), 0, sizeof(*m) - sizeof(m->super));
    for (int i = 0; i < OC_NUM_SERVICES; i++) {
        m->services[i].module = m;
    }
}

static void module_destruct(mca_coll_optcast_module_t *m)
{
    for (int i = 0; i < OC_NUM_SERVICES; i++) {
        oc_group_destroy(m->services[i].group);
        mca_coll_optcast_bootstrap_release(&m->services[i].bootstrap);
    }
#define X(fn)                                \
    if (NULL != m->prev_##fn##_module) {     \
        OBJ_RELEASE(m->prev_##fn##_module);  \
    }
    OC_FOREACH_SAVED(X)
#undef X
    if (m->enabled) {
        module_count_out();
    }
}

OBJ_CLASS_INSTANCE(mca_coll_optcast_module_t, mca_coll_base_module_t, module_construct,
                   module_destruct);

/*
 * The framework's version does not tell everything: 5.0.10 made the module larger without a new
 * one. The class objects live in the library that runs us and know its sizes.
 */
static bool abi_matches(void)
{
#define SAME(type) (sizeof(type) == OBJ_CLASS(type)->cls_sizeof)
    return SAME(mca_coll_base_module_t) && SAME(ompi_coll_base_nbc_request_t)
           && SAME(ompi_communicator_t) && SAME(ompi_datatype_t) && SAME(ompi_op_t);
#undef SAME
}

/*
 * Revocation and the death of a rank have to end an operation with errors of their own, on time,
 * and what is left has to go on: the service does not know of them.
 */
static void leave_fault_tolerant(void)
{
    if (0 == OPAL_PROC_MY_NAME.vpid) {
        OC_VERBOSE(1, "optcast: this job is to survive failures (ULFM): nothing is offloaded");
    }
}

int mca_coll_optcast_init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;

    (void) enable_progress_threads;
    (void) enable_mpi_threads;
    if (!abi_matches()) {
        opal_output(0, "optcast: built for Open MPI %d.%d.%d, and this is another one with other "
                    "structures; coll/optcast is not used",
                    OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
        return OMPI_ERR_NOT_AVAILABLE;
    }
    active = mca_coll_optcast_job_adopt() && OC_MODE_NEVER != st->settings.mode
                 && st->settings.priority >= 0;
    if (active && OC_FAULT_TOLERANT) {
        active = false;
        leave_fault_tolerant();
    }
    return OMPI_SUCCESS;
}

/* Others have settings of their own, and decide by them. The same answer on all ranks. */
static bool is_of_this_job(ompi_communicator_t *comm)
{
    for (int i = 0; i < ompi_comm_size(comm); i++) {
        if (OPAL_PROC_MY_NAME.jobid
            != ompi_group_get_proc_name(comm->c_local_group, i).jobid) {
            return false;
        }
    }
    return true;
}

mca_coll_base_module_t *mca_coll_optcast_comm_query(ompi_communicator_t *comm, int *priority)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    mca_coll_optcast_module_t *m;

    if (!active || OC_MODE_NEVER == st->settings.mode || OMPI_COMM_IS_INTER(comm)
        || ompi_comm_size(comm) < MIN_RANKS) {
        return NULL;
    }
    if (!is_of_this_job(comm)) {
        OC_VERBOSE(1, "optcast: communicator \"%s\" has ranks of another MPI job: not used there",
                   mca_coll_optcast_name(comm));
        return NULL;
    }
    while (NULL == (m = OBJ_NEW(mca_coll_optcast_module_t))) {
        mca_coll_optcast_need(comm, "a module");
    }
    m->comm = comm;
    m->mode = st->settings.mode;
    m->super.coll_module_enable = module_enable;
    m->super.coll_module_disable = module_disable;
#if OC_FRAMEWORK_COPIES
#define X(fn) m->super.coll_##fn = mca_coll_optcast_##fn;
    OC_FOREACH_REDUCED(X)
    if (is_offered(OC_SERVICE_MULTICAST)) {
        OC_FOREACH_CAST(X)
    }
#undef X
#endif
    *priority = st->settings.priority;
    return &m->super;
}
