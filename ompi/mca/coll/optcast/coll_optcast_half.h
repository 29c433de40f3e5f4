/* SPDX-License-Identifier: BSD-3-Clause */
/* What operations that are not predefined are for the engine, as those of <optcast/mpi.h>. */
#ifndef MCA_COLL_OPTCAST_HALF_H
#define MCA_COLL_OPTCAST_HALF_H

#include "coll_optcast_compat.h"
#include "coll_optcast_fallback.h"

/* As mca_coll_optcast_map. */
oc_fallback_t mca_coll_optcast_map_half(const struct ompi_op_t *op,
                                        const struct ompi_datatype_t *dtype, unsigned *oc_op,
                                        unsigned *oc_type);

#endif
