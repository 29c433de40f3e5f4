/* SPDX-License-Identifier: BSD-3-Clause */
/* The handles of datatypes and operations: made when they are wanted, freed in MPI_Finalize. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "optcast/operations.h"

#define NUM_FORMATS 2
#define NUM_OPS     4

static const char *const names[NUM_FORMATS] = {"optcast_float16", "optcast_bfloat16"};

static MPI_User_function *const functions[NUM_FORMATS][NUM_OPS] = {
    {optcast_mpi_float16_sum, optcast_mpi_float16_prod, optcast_mpi_float16_min,
     optcast_mpi_float16_max},
    {optcast_mpi_bfloat16_sum, optcast_mpi_bfloat16_prod, optcast_mpi_bfloat16_min,
     optcast_mpi_bfloat16_max},
};

/* Flags say which are made: null handles need not be constants, and zero may be a handle. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum { NEW, OPEN, CLOSED } state; /* under lock */
static MPI_Datatype types[NUM_FORMATS];  /* set before has_type, under lock */
static atomic_bool has_type[NUM_FORMATS];
static MPI_Op ops[NUM_FORMATS][NUM_OPS]; /* under lock */
static bool has_op[NUM_FORMATS][NUM_OPS];

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else. */
static int on_finalize(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    pthread_mutex_lock(&lock);
    for (int f = 0; f < NUM_FORMATS; f++) {
        if (atomic_exchange(&has_type[f], false)) {
            (void) MPI_Type_free(&types[f]);
        }
        for (int i = 0; i < NUM_OPS; i++) {
            if (has_op[f][i]) {
                (void) MPI_Op_free(&ops[f][i]);
                has_op[f][i] = false;
            }
        }
    }
    state = CLOSED;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

static int open_library(void)
{
    int keyval, rc;

    rc = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &keyval, NULL);
    if (MPI_SUCCESS != rc) {
        return rc;
    }
    rc = MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    if (MPI_SUCCESS == rc) {
        state = OPEN;
    }
    (void) MPI_Comm_free_keyval(&keyval); /* the attribute keeps it */
    return rc;
}

/* To be called under the lock, before any handle is made. */
static int be_open(void)
{
    int initialized = 0, finalized = 0;

    if (OPEN == state) {
        return MPI_SUCCESS;
    }
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (CLOSED == state || !initialized || finalized) {
        return MPI_ERR_OTHER;
    }
    return open_library();
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

static int make_op(int format, int index)
{
    int rc = MPI_Op_create(functions[format][index], 1, &ops[format][index]);

    has_op[format][index] = MPI_SUCCESS == rc;
    return rc;
}

/* Index of the format, or -1. */
static int format_index(optcast_format_t format)
{
    return OPTCAST_FLOAT16 == format ? 0 : OPTCAST_BFLOAT16 == format ? 1 : -1;
}

/* Index of the operation, or -1. */
static int op_index(MPI_Op like)
{
    const MPI_Op known[NUM_OPS] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};

    for (int i = 0; i < NUM_OPS; i++) {
        if (known[i] == like) {
            return i;
        }
    }
    return -1;
}

OPTCAST_EXPORT int optcast_mpi_type(optcast_format_t format, MPI_Datatype *type)
{
    int f = format_index(format), rc;

    *type = MPI_DATATYPE_NULL;
    if (f < 0) {
        return MPI_ERR_ARG;
    }
    pthread_mutex_lock(&lock);
    rc = be_open();
    if (MPI_SUCCESS == rc && !atomic_load(&has_type[f])) {
        rc = make_type(f);
    }
    if (MPI_SUCCESS == rc) {
        *type = types[f];
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

OPTCAST_EXPORT int optcast_mpi_op(optcast_format_t format, MPI_Op like, MPI_Op *op)
{
    int f = format_index(format), i = op_index(like), rc;

    *op = MPI_OP_NULL;
    if (f < 0 || i < 0) {
        return f < 0 ? MPI_ERR_ARG : MPI_ERR_OP;
    }
    pthread_mutex_lock(&lock);
    rc = be_open();
    if (MPI_SUCCESS == rc && !has_op[f][i]) {
        rc = make_op(f, i);
    }
    if (MPI_SUCCESS == rc) {
        *op = ops[f][i];
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

/* Without the lock: operations run inside of MPI, whose locks may be held. */
static bool is_other_format(optcast_format_t format, MPI_Datatype type)
{
    int other = 1 - format_index(format);

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
            names[format_index(format)], name, size, (long) extent);
    MPI_Abort(MPI_COMM_WORLD, MPI_ERR_TYPE);
}
