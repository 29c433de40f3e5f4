/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The datatypes of 16-bit floats. Formats are counted from 0 here. Making and freeing is done under
 * a lock of the caller; the check, which runs inside of MPI, whose locks may be held, needs none.
 */
#ifndef OPTCAST_DATATYPES_H
#define OPTCAST_DATATYPES_H

#include "optcast/mpi.h"

#define OPTCAST_NUM_FORMATS 2

/* Index of the format, or -1. */
int optcast_format_index(optcast_format_t format);

/* Makes the datatype if there is none. It stays this file's. A code of MPI. */
int optcast_type_get(int format, MPI_Datatype *type);

/* Frees all; MPI still runs. */
void optcast_types_free(void);

/* Ends the program if the datatype cannot be one of this format. */
void optcast_check_datatype(optcast_format_t format, MPI_Datatype type);

#endif
