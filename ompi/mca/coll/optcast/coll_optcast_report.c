/* SPDX-License-Identifier: BSD-3-Clause */
/* What people are told, and how a failure becomes an MPI error. */
#include "coll_optcast_report.h"

#include "ompi/errhandler/errcode.h"
#include "ompi/group/group.h"
#include "ompi/proc/proc.h"
#include "opal/util/output.h"

#include "adapter/summary.h"

#include "coll_optcast_operation.h"
#include "coll_optcast_state.h"

/* Open MPI leaves some of those that it makes without a name, in 5.0 even without a string. */
const char *mca_coll_optcast_name(const ompi_communicator_t *comm)
{
    const char *name = comm->c_name;

    return NULL == name || '\0' == name[0] ? "unnamed" : name;
}

#define OC_CHOICE_SIZE 512

static const char *const ruled_names[OC_NUM_RULED] = {
    [OC_RULED_ALLREDUCE] = "Allreduce",
    [OC_RULED_REDUCE] = "Reduce",
    [OC_RULED_REDUCE_SCATTER] = "Reduce_scatter",
    [OC_RULED_REDUCE_SCATTER_BLOCK] = "Reduce_scatter_block",
    [OC_RULED_BARRIER] = "Barrier",
};

/* Before the ranks of a communicator have met. */
static void explain_least(const mca_coll_optcast_module_t *m, oc_ruled_t ruled,
                          char text[OC_CHOICE_SIZE])
{
    uint64_t least = m->least[ruled];
    oc_sizes_t sizes = {.count = UINT64_MAX != least, .ranges[0] = {least, UINT64_MAX}};
    char printed[128];

    oc_sizes_print(&sizes, printed, sizeof(printed));
    if (!ompi_group_have_remote_peers(m->comm->c_local_group)) {
        snprintf(text, OC_CHOICE_SIZE, "at best offloads %s (all ranks are on one host)", printed);
    } else {
        snprintf(text, OC_CHOICE_SIZE, "at best offloads %s (rules and model, wherever its ranks "
                 "are)", printed);
    }
}

static bool offloads_nothing(const mca_coll_optcast_module_t *m)
{
    for (int ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        if (UINT64_MAX != m->least[ruled]) {
            return false;
        }
    }
    return true;
}

void mca_coll_optcast_report_module(const mca_coll_optcast_module_t *m)
{
    const char *servers = mca_coll_optcast_state.settings.servers;
    char text[OC_CHOICE_SIZE];

    if (OC_MODE_AUTO != m->mode || !offloads_nothing(m) || MPI_COMM_WORLD != m->comm
        || 0 != ompi_comm_rank(m->comm) || NULL == servers
        || 0 == strncmp(servers, "embedded", strlen("embedded"))) {
        return;
    }
    explain_least(m, OC_RULED_ALLREDUCE, text);
    OC_VERBOSE(1, "optcast: MPI_COMM_WORLD %s, so servers are not asked; coll_optcast_rules can tell "
               "how fast the network is, and coll_optcast_mode always offloads all", text);
}

/* What a group offloads in mode auto, and why; "" if there is nothing to choose. */
static void report_explain(const mca_coll_optcast_module_t *m, oc_service_t service,
                           const oc_group_t *group, oc_ruled_t ruled, char text[OC_CHOICE_SIZE])
{
    text[0] = '\0';
    if (OC_SERVICE_AGGREGATION == service && OC_MODE_AUTO == m->mode
        && (NULL == group || !oc_group_explain(group, ruled, text, OC_CHOICE_SIZE))) {
        explain_least(m, ruled, text);
    }
}

/* A line for each kind of reduction that is offloaded, and for Allreduce. */
static void report_choices(const mca_coll_optcast_module_t *m, oc_service_t service,
                           const oc_group_t *group)
{
    char choice[OC_CHOICE_SIZE];

    for (oc_ruled_t ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        report_explain(m, service, group, ruled, choice);
        if ('\0' != choice[0]
            && (OC_RULED_ALLREDUCE == ruled || oc_group_offloads(group, ruled))) {
            OC_VERBOSE(1, "optcast: communicator \"%s\": %s %s", mca_coll_optcast_name(m->comm),
                       ruled_names[ruled], choice);
        }
    }
}

static void print_call(const mca_coll_optcast_module_t *m, const char *name,
                       const mca_coll_optcast_call_t *call, oc_fallback_t reason)
{
    const char *op = NULL == call->op ? "" : call->op->o_name;
    oc_service_t service = call->operation->service;
    char count[32] = "different numbers of", choice[OC_CHOICE_SIZE] = "";

    if (!call->unequal) {
        snprintf(count, sizeof(count), "%zu x", (size_t) call->count);
    }
    if (call->operation->by_size
        && (OC_FALLBACK_NONE == reason || OC_FALLBACK_SIZE == reason
            || OC_FALLBACK_PLACE == reason)) {
        report_explain(m, service, m->services[service].group, call->operation->ruled, choice);
    }
    OC_VERBOSE(2, "optcast: %s on \"%s\": %s %s%s%s: %s%s%s", name,
               mca_coll_optcast_name(m->comm), count, call->dtype->name,
               '\0' == op[0] ? "" : ", ", op, oc_fallback_text(reason), '\0' == choice[0] ? "" : "; ",
               choice);
}

void mca_coll_optcast_report_call(const mca_coll_optcast_module_t *m, const char *name,
                                  const mca_coll_optcast_call_t *call, oc_fallback_t reason)
{
    if (mca_coll_optcast_state.settings.verbose > 1) {
        print_call(m, name, call, reason);
    }
}

/*
 * Once per communicator, service and outcome, when one is known: persistent operations have their
 * own. A declined one is a warning, from the rank that knows the reason: it is the one whose
 * number is in everybody else's.
 */
void mca_coll_optcast_report_setup(mca_coll_optcast_service_t *service, oc_group_t *group)
{
    ompi_communicator_t *comm = service->module->comm;
    oc_group_state_t state = oc_group_state(group);
    atomic_bool *announced = &service->announced[OC_GROUP_LIVE == state];
    char text[128];

    if (OC_GROUP_NEW == state || OC_GROUP_SETTING_UP == state || atomic_load(announced)
        || atomic_exchange(announced, true)) {
        return;
    }
    if (OC_GROUP_DECLINED == state && oc_group_tells(group)) {
        opal_output(0, "optcast: communicator \"%s\": %s; Open MPI's own %s used",
                    mca_coll_optcast_name(comm), oc_group_reason(group),
                    OC_SERVICE_MULTICAST == service->bootstrap.service ? "Allgather and Bcast are"
                                                                       : "collectives are");
    } else if (0 == ompi_comm_rank(comm)
               && (OC_GROUP_LIVE == state || oc_group_leaves_all(group))) {
        oc_group_describe(group, text, sizeof(text));
        OC_VERBOSE(1, "optcast: communicator \"%s\": %d ranks%s%s", mca_coll_optcast_name(comm),
                   ompi_comm_size(comm), '\0' == text[0] ? "" : ", ", text);
        report_choices(service->module, service->bootstrap.service, group);
    }
}

/*
 * MPI's own functions keep MPI_LASTUSEDCODE, but there must be an MPI_COMM_WORLD to have it:
 * programs of sessions have none. 0: there are no more codes.
 */
static int new_error_code(void)
{
    int initialized = 0, finalized = 0, code = 0;

    (void) PMPI_Initialized(&initialized);
    (void) PMPI_Finalized(&finalized);
    if (!initialized || finalized) {
        code = ompi_mpi_errcode_add(MPI_ERR_OTHER);
        return code < 0 ? 0 : code;
    }
    return MPI_SUCCESS == PMPI_Add_error_code(MPI_ERR_OTHER, &code) ? code : 0;
}

/*
 * One for the whole process: a program fails seldom, but may make communicators for ever, and MPI
 * cannot take codes back. MPI_Error_string of it gives the latest reason, and with it the server's
 * name.
 */
static int error_code(const char *reason)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    char text[MPI_MAX_ERROR_STRING];
    int code;

    if (!atomic_exchange(&st->error_code_asked, true)) {
        /* without a lock: MPI has its own for attributes */
        atomic_store(&st->error_code, new_error_code());
    }
    code = atomic_load(&st->error_code);
    if (0 == code) {
        return MPI_ERR_OTHER;
    }
    snprintf(text, sizeof(text), "MPI_ERR_OTHER: optcast: %.200s", reason);
    OPAL_THREAD_LOCK(&st->lock);
    (void) ompi_mpi_errnum_add_string(code, text, (int) strlen(text) + 1);
    OPAL_THREAD_UNLOCK(&st->lock);
    return code;
}

int mca_coll_optcast_report_failure(mca_coll_optcast_service_t *service, const oc_group_t *group,
                                    oc_status_t status)
{
    ompi_communicator_t *comm = service->module->comm;
    const char *reason = oc_group_reason(group);

    if ('\0' == reason[0]) {
        reason = oc_status_string(status);
    }
    if (!atomic_exchange(&service->failure_told, true)) {
        opal_output(0, "optcast: communicator \"%s\", rank %d: %s", mca_coll_optcast_name(comm),
                    ompi_comm_rank(comm), reason);
    }
    /* the program's own error, which has a class of its own */
    return OC_ERR_TRUNCATED == status ? MPI_ERR_TRUNCATE : error_code(reason);
}

void mca_coll_optcast_report_summary(void)
{
    const mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    char text[512];

    if (NULL == st->client || 0 != OPAL_PROC_MY_NAME.vpid) {
        return;
    }
    for (unsigned next = 0; oc_summary_line(&st->counters, &next, text, sizeof(text));) {
        OC_VERBOSE(1, "optcast: rank 0: %s", text);
    }
}
