/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From MPI's predefined operations and datatypes to those of reduction/. Each adapter compiles it
 * with its MPI library's header. Any thread.
 */
#ifndef OC_ADAPTER_MPI_MAP_H
#define OC_ADAPTER_MPI_MAP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "adapter/fallback.h"

/* What the map has to know of the library; asked for once. */
typedef struct {
    size_t (*type_size)(MPI_Datatype type); /* bytes of an element of a predefined type */
    bool (*true_is_one)(void);  /* Fortran's .TRUE. is 1, as the results of reduction/ are */
} oc_mpi_map_basis_t;

/*
 * OC_FALLBACK_OP, OC_FALLBACK_TYPE, or what the pair is. own: the operation is none of those that are
 * predefined for reductions, but the program's (OC_FALLBACK_OP).
 */
oc_fallback_t oc_mpi_map(const oc_mpi_map_basis_t *basis, MPI_Op op, MPI_Datatype type,
                         unsigned *oc_op, unsigned *oc_type, bool *own);

#endif
