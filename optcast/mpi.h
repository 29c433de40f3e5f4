/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 16-bit floats for MPI programs, which MPI has no datatypes for. Plain MPI: works with and without
 * Optcast, which offloads these operations when it is there. See optcast_mpi_type(3).
 */
#ifndef OPTCAST_MPI_H
#define OPTCAST_MPI_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    OPTCAST_FLOAT16 = 1,  /* IEEE 754 binary16: _Float16, __fp16, numpy.float16 */
    OPTCAST_BFLOAT16 = 2  /* the upper half of a binary32 */
} optcast_format_t;

/*
 * The datatype of the format: 2 bytes, extent 2, aligned as uint16_t, committed, and named
 * "optcast_float16" or "optcast_bfloat16". *type is always the same handle. It belongs to the
 * library, which frees it in MPI_Finalize: do not free it, and do not use it afterwards.
 *
 * Returns MPI_SUCCESS or an error class, and then *type is MPI_DATATYPE_NULL:
 *     MPI_ERR_ARG     there is no such format
 *     MPI_ERR_OTHER   MPI_Init was not called yet, or MPI_Finalize was
 * and what MPI itself returns, where its error handler lets it (MPI_ERRORS_RETURN).
 *
 * Local. May be called by any thread that may call MPI, also by several at a time under
 * MPI_THREAD_MULTIPLE; not from the function of an operation.
 */
int optcast_mpi_type(optcast_format_t format, MPI_Datatype *type);

/*
 * The same operation as `like`, one of MPI_SUM, MPI_PROD, MPI_MIN and MPI_MAX, for elements of the
 * format. For all collective operations that reduce.
 * Each step of MPI's reduces is computed in binary32 and rounded to the format, to nearest even;
 * Optcast rounds once, after the last.
 *
 * It takes the datatype of the format, or another one of 2 bytes without gaps that is not the
 * other format's. With anything else it ends the program, as an operation can return no error.
 *
 * Ownership, errors and threads are as above, with MPI_OP_NULL, and one more error class:
 *     MPI_ERR_OP      `like` is none of the four
 */
int optcast_mpi_op(optcast_format_t format, MPI_Op like, MPI_Op *op);

#ifdef __cplusplus
}
#endif

#endif
