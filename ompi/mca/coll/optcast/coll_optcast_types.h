/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps operations and datatypes of MPI to those of the engine. Any thread. */
#ifndef MCA_COLL_OPTCAST_TYPES_H
#define MCA_COLL_OPTCAST_TYPES_H

#include "coll_optcast_compat.h"

#include "adapter/fallback.h"

/*
 * Operation and type of reduction/ for those of MPI, or why there are none
 * (OC_FALLBACK_OP, OC_FALLBACK_TYPE). Depends on the operation and the type signature only.
 * Elements of reduction/ have no padding; those of MPI_SHORT_INT and the like have.
 */
oc_fallback_t mca_coll_optcast_map(struct ompi_op_t *op, struct ompi_datatype_t *dtype,
                                   unsigned *oc_op, unsigned *oc_type);

#endif
