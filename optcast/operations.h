/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the operations. The component of Optcast recognizes them by their signatures;
 * programs have no business with them.
 */
#ifndef OPTCAST_OPERATIONS_H
#define OPTCAST_OPERATIONS_H

#include "optcast/mpi.h"

#define OPTCAST_EXPORT __attribute__((visibility("default")))

/* inout[i] = in[i] OP inout[i], as MPI wants them */
#define OPTCAST_FOREACH_OPERATION(X) \
    X(float16, sum)                  \
    X(float16, prod)                 \
    X(float16, min)                  \
    X(float16, max)                  \
    X(bfloat16, sum)                 \
    X(bfloat16, prod)                \
    X(bfloat16, min)                 \
    X(bfloat16, max)

#define X(format, name)                                                             \
    OPTCAST_EXPORT void optcast_mpi_##format##_##name(void *in, void *inout, int *count, \
                                                      MPI_Datatype *type);
OPTCAST_FOREACH_OPERATION(X)
#undef X

#endif
