/* SPDX-License-Identifier: BSD-3-Clause */
/* What the map of operations and datatypes asks of Open MPI. */
#include "coll_optcast_types.h"

#include "adapter/mpi_map.h"

#include "coll_optcast_half.h"

static size_t type_size(MPI_Datatype type)
{
    return type->super.size;
}

static bool true_is_one(void)
{
    return 1 == OMPI_FORTRAN_VALUE_TRUE;
}

static const oc_mpi_map_basis_t basis = {.type_size = type_size, .true_is_one = true_is_one};

oc_fallback_t mca_coll_optcast_map(struct ompi_op_t *op, struct ompi_datatype_t *dtype,
                                   unsigned *oc_op, unsigned *oc_type)
{
    bool own;
    oc_fallback_t reason = oc_mpi_map(&basis, op, dtype, oc_op, oc_type, &own);

    return own ? mca_coll_optcast_map_half(op, dtype, oc_op, oc_type) : reason;
}
