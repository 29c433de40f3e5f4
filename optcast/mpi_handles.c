/* SPDX-License-Identifier: BSD-3-Clause */
/* The handles that programs get: made when they are wanted, freed in MPI_Finalize. */
#include <pthread.h>
#include <stdbool.h>

#include "optcast/datatypes.h"
#include "optcast/operations.h"

#define NUM_OPS     4

static MPI_User_function *const functions[OPTCAST_NUM_FORMATS][NUM_OPS] = {
    {optcast_mpi_float16_sum, optcast_mpi_float16_prod, optcast_mpi_float16_min,
     optcast_mpi_float16_max},
    {optcast_mpi_bfloat16_sum, optcast_mpi_bfloat16_prod, optcast_mpi_bfloat16_min,
     optcast_mpi_bfloat16_max},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum { NEW, OPEN, CLOSED } state; /* under lock */
/* A flag says which are made: null handles need not be constants, and zero may be a handle. */
static MPI_Op ops[OPTCAST_NUM_FORMATS][NUM_OPS]; /* under lock */
static bool has_op[OPTCAST_NUM_FORMATS][NUM_OPS];

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else. */
static int on_finalize(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    pthread_mutex_lock(&lock);
    optcast_types_free();
    for (int f = 0; f < OPTCAST_NUM_FORMATS; f++) {
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

static int make_op(int format, int index)
{
    int rc = MPI_Op_create(functions[format][index], 1, &ops[format][index]);

    has_op[format][index] = MPI_SUCCESS == rc;
    return rc;
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
    int f = optcast_format_index(format), rc;

    *type = MPI_DATATYPE_NULL;
    if (f < 0) {
        return MPI_ERR_ARG;
    }
    pthread_mutex_lock(&lock);
    rc = be_open();
    if (MPI_SUCCESS == rc) {
        rc = optcast_type_get(f, type);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

OPTCAST_EXPORT int optcast_mpi_op(optcast_format_t format, MPI_Op like, MPI_Op *op)
{
    int f = optcast_format_index(format), i = op_index(like), rc;

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
