/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A component of Open MPI's coll framework that has a nonblocking Allreduce and no persistent one: it
 * passes calls on to the module before. So its numbers might be others than those of persistent
 * operations, as far as coll/optcast can see.
 */
#include "coll_optcast_compat.h"

typedef struct {
    mca_coll_base_module_t super;
    mca_coll_base_module_iallreduce_fn_t previous;
    mca_coll_base_module_t *previous_module;
} numbers_module_t;

static OBJ_CLASS_INSTANCE(numbers_module_t, mca_coll_base_module_t, NULL, NULL);

static int iallreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                      struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                      struct ompi_communicator_t *comm, ompi_request_t **request,
                      mca_coll_base_module_t *module)
{
    numbers_module_t *m = (numbers_module_t *) module;

    return m->previous(sbuf, rbuf, count, dtype, op, comm, request, m->previous_module);
}

static int enable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    numbers_module_t *m = (numbers_module_t *) module;

    m->previous = comm->c_coll->coll_iallreduce;
    m->previous_module = comm->c_coll->coll_iallreduce_module;
    if (NULL == m->previous) {
        return OMPI_ERR_NOT_FOUND;
    }
    OBJ_RETAIN(m->previous_module);
    return OMPI_SUCCESS;
}

static int init_query(bool progress_threads, bool mpi_threads)
{
    (void) progress_threads;
    (void) mpi_threads;
    return OMPI_SUCCESS;
}

/* After libnbc, before coll/optcast. */
static mca_coll_base_module_t *comm_query(ompi_communicator_t *comm, int *priority)
{
    numbers_module_t *m = OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2
                              ? NULL
                              : OBJ_NEW(numbers_module_t);

    if (NULL == m) {
        return NULL;
    }
    m->super.coll_module_enable = enable;
    m->super.coll_iallreduce = iallreduce;
    *priority = 50;
    return &m->super;
}

mca_coll_base_component_t mca_coll_numbers_component = {
    .collm_version = {OC_COLL_VERSION, .mca_component_name = "numbers",
                      MCA_BASE_MAKE_VERSION(component, 0, 1, 0)},
    .collm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .collm_init_query = init_query,
    .collm_comm_query = comm_query,
};
