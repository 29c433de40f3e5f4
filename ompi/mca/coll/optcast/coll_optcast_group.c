/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of the engine for communicators: who their ranks are. */
#include "coll_optcast_group.h"

#include "ompi/proc/proc.h"
#include "opal/util/proc.h"

#include "coll_optcast_bootstrap.h"
#include "coll_optcast_module.h"
#include "coll_optcast_operation.h"
#include "coll_optcast_report.h"
#include "coll_optcast_state.h"

static bool is_here(ompi_communicator_t *comm, int rank)
{
    const ompi_proc_t *proc = ompi_group_peer_lookup_existing(comm->c_local_group, rank);

    /* Open MPI knows all processes of its own host from the beginning */
    return NULL != proc && OPAL_PROC_ON_LOCAL_NODE(proc->super.proc_flags);
}

/* Where this rank is among those of its host. */
static void place(ompi_communicator_t *comm, oc_group_params_t *params)
{
    uint32_t job_hosts = mca_coll_optcast_state.max_hosts;
    int size = ompi_comm_size(comm), here = 0;

    params->lowest_on_host = true;
    for (int rank = 0; rank < size; rank++) {
        if (is_here(comm, rank)) {
            params->lowest_on_host = params->lowest_on_host && rank >= ompi_comm_rank(comm);
            here++;
        }
    }
    params->shares_host = here > 1;
    params->max_hosts = (uint32_t) (size - here + 1);
    params->max_hosts = job_hosts < params->max_hosts ? job_hosts : params->max_hosts;
}

oc_group_t *mca_coll_optcast_group_new(mca_coll_optcast_bootstrap_t *bootstrap,
                                       const mca_coll_optcast_call_t *only)
{
    const mca_coll_optcast_module_t *m = bootstrap->module;
    oc_group_params_t params = {
        .service = bootstrap->service,
        .patient = NULL != only,
        .num_ranks = (uint32_t) ompi_comm_size(m->comm),
        .rank = (uint32_t) ompi_comm_rank(m->comm),
        .name = mca_coll_optcast_name(m->comm),
        .mode = m->mode,
        .rules = OC_MODE_AUTO == m->mode ? &mca_coll_optcast_state.terms.rules : NULL,
        .only_ruled = NULL == only ? OC_RULED_ALLREDUCE : only->operation->ruled,
        .only_type = NULL == only ? 0 : only->oc_type,
        .only_bytes = NULL == only ? 0 : only->bytes,
        .bootstrap = &mca_coll_optcast_bootstrap,
        .context = bootstrap,
    };

    oc_group_t *group = NULL;

    memcpy(params.least, m->least, sizeof(params.least));
    place(m->comm, &params);
    (void) oc_group_create(mca_coll_optcast_state.client, &params, &group);
    return group;
}
