/* SPDX-License-Identifier: BSD-3-Clause */
/* The datatypes of 16-bit floats, and what operations may be applied to. */
#include "optcast/datatypes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

static const char *const names[OPTCAST_NUM_FORMATS] = {"optcast_float16", "optcast_bfloat16"};

/* A flag says which are made: null handles need not be constants, and zero may be a handle. */
static MPI_Datatype types[OPTCAST_NUM_FORMATS]; /* set before has_type */
static atomic_bool has_type[OPTCAST_NUM_FORMATS];

int optcast_format_index(optcast_format_t format)
{
    return OPTCAST_FLOAT16 == format ? 0 : OPTCAST_BFLOAT16 == format ? 1 : -1;
}

static int make_type(int format)
{
    MPI_Datatype type;
    int rc = MPI_Type_contiguous(1, MPI_UINT16_T, &type);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    rc = MPI_Type_set_name(type, names[format]);
    if (MPI_SUCCESS == rc) {
        rc = MPI_Type_commit(&type);
    }
    if (MPI_SUCCESS != rc) {
        (void) MPI_Type_free(&type);
        return rc;
    }
    types[format] = type;
    atomic_store(&has_type[format], true);
    return MPI_SUCCESS;
}

int optcast_type_get(int format, MPI_Datatype *type)
{
    int rc = atomic_load(&has_type[format]) ? MPI_SUCCESS : make_type(format);

    if (MPI_SUCCESS == rc) {
        *type = types[format];
    }
    return rc;
}

void optcast_types_free(void)
{
    for (int f = 0; f < OPTCAST_NUM_FORMATS; f++) {
        if (atomic_exchange(&has_type[f], false)) {
            (void) MPI_Type_free(&types[f]);
        }
    }
}

/* Without the lock: operations run inside of MPI, whose locks may be held. */
static bool is_other_format(optcast_format_t format, MPI_Datatype type)
{
    int other = 1 - optcast_format_index(format);

    return atomic_load(&has_type[other]) && type == types[other];
}

void optcast_check_datatype(optcast_format_t format, MPI_Datatype type)
{
    MPI_Aint lower, extent;
    char name[MPI_MAX_OBJECT_NAME] = "";
    int size, length;

    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &lower, &extent);
    if (2 == size && 0 == lower && 2 == extent && !is_other_format(format, type)) {
        return;
    }
    MPI_Type_get_name(type, name, &length);
    fprintf(stderr, "optcast: an operation of %s on datatype \"%s\" (size %d, extent %ld)\n",
            names[optcast_format_index(format)], name, size, (long) extent);
    MPI_Abort(MPI_COMM_WORLD, MPI_ERR_TYPE);
}
