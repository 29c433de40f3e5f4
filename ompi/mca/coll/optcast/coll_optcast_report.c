/* SPDX-License-Identifier: BSD-3-Clause */
/* What people are told, and how a failure becomes an MPI error. */
#include "coll_optcast.h"

#include "ompi/errhandler/errcode.h"
#include "ompi/proc/proc.h"
#include "opal/util/output.h"

/* Open MPI leaves some of those that it makes without a name, in 5.0 even without a string. */
const char *mca_coll_optcast_name(const ompi_communicator_t *comm)
{
    const char *name = comm->c_name;

    return NULL == name || '\0' == name[0] ? "unnamed" : name;
}

/*
 * Once per communicator and outcome, when one is known: persistent operations have their own. A declined one is a warning, from the rank
 * that knows the reason: it is the one whose number is in everybody else's.
 */
void mca_coll_optcast_report_setup(mca_coll_optcast_module_t *m, oc_group_t *group)
{
    oc_group_state_t state = oc_group_state(group);
    atomic_bool *announced = &m->announced[OC_GROUP_LIVE == state];
    char text[128];

    if (OC_GROUP_NEW == state || OC_GROUP_SETTING_UP == state || atomic_load(announced)
        || atomic_exchange(announced, true)) {
        return;
    }
    if (OC_GROUP_DECLINED == state && oc_group_tells(group)) {
        opal_output(0, "optcast: communicator \"%s\": %s; Open MPI's own collectives are used",
                    mca_coll_optcast_name(m->comm), oc_group_reason(group));
    } else if (OC_GROUP_LIVE == state && 0 == ompi_comm_rank(m->comm)) {
        oc_group_describe(group, text, sizeof(text));
        OC_VERBOSE(1, "optcast: communicator \"%s\": %d ranks, %s", mca_coll_optcast_name(m->comm),
                   ompi_comm_size(m->comm), text);
    }
}

/*
 * MPI_Error_string of the code gives the reason, and with it the server's name. One code for each
 * communicator: they fail once, and MPI cannot take codes back.
 */
static int error_code(mca_coll_optcast_module_t *m, const char *reason)
{
    mca_coll_optcast_component_t *cm = &mca_coll_optcast_component;
    char text[MPI_MAX_ERROR_STRING];

    OPAL_THREAD_LOCK(&cm->lock);
    if (0 == m->error_code) {
        int code = ompi_mpi_errcode_add(MPI_ERR_OTHER);

        m->error_code = code < 0 ? MPI_ERR_OTHER : code;
        if (code >= 0) {
            snprintf(text, sizeof(text), "MPI_ERR_OTHER: optcast: %.200s", reason);
            (void) ompi_mpi_errnum_add_string(code, text, (int) strlen(text) + 1);
        }
    }
    OPAL_THREAD_UNLOCK(&cm->lock);
    return m->error_code;
}

int mca_coll_optcast_report_failure(mca_coll_optcast_module_t *m, const oc_group_t *group,
                                    oc_status_t status)
{
    const char *reason = oc_group_reason(group);

    if ('\0' == reason[0]) {
        reason = oc_status_string(status);
    }
    if (!atomic_exchange(&m->failure_told, true)) {
        opal_output(0, "optcast: communicator \"%s\", rank %d: %s", mca_coll_optcast_name(m->comm),
                    ompi_comm_rank(m->comm), reason);
    }
    return error_code(m, reason);
}

void mca_coll_optcast_report_summary(void)
{
    mca_coll_optcast_component_t *cm = &mca_coll_optcast_component;
    const unsigned long long *reasons = cm->fallback_reasons;

    if (NULL == cm->client || 0 != OPAL_PROC_MY_NAME.vpid) {
        return;
    }
    OC_VERBOSE(1,
               "optcast: rank 0: %llu collectives offloaded, %llu bytes sent, %llu bytes received, "
               "%llu fell back (op %llu, type %llu, ranks %llu, size %llu, setup %llu, order %llu)",
               cm->counters.allreduce_offloaded, cm->counters.bytes_sent,
               cm->counters.bytes_received, cm->fallbacks, reasons[OC_FALLBACK_OP],
               reasons[OC_FALLBACK_TYPE], reasons[OC_FALLBACK_RANKS],
               reasons[OC_FALLBACK_SIZE], reasons[OC_FALLBACK_SETUP], reasons[OC_FALLBACK_ORDER]);
}
