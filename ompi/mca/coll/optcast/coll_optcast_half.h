/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognizes the operations of <optcast/mpi.h> on 16-bit floats. */
#ifndef MCA_COLL_OPTCAST_HALF_H
#define MCA_COLL_OPTCAST_HALF_H

#include "coll_optcast_compat.h"

#include "adapter/fallback.h"

/* As mca_coll_optcast_map, for operations that are not predefined. */
oc_fallback_t mca_coll_optcast_map_half(const struct ompi_op_t *op,
                                        const struct ompi_datatype_t *dtype, unsigned *oc_op,
                                        unsigned *oc_type);

#endif
