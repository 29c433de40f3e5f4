/* SPDX-License-Identifier: BSD-3-Clause */
/* From MPI's predefined datatypes and operations to those of reduction/. */
#include "coll_optcast.h"

#include "reduction/reduction.h"

static unsigned signed_type(size_t size)
{
    switch (size) {
    case 1:
        return OC_TYPE_INT8;
    case 2:
        return OC_TYPE_INT16;
    case 4:
        return OC_TYPE_INT32;
    case 8:
        return OC_TYPE_INT64;
    default:
        return 0;
    }
}

static unsigned unsigned_type(size_t size)
{
    unsigned type = signed_type(size);

    return 0 == type ? 0 : type + (OC_TYPE_UINT8 - OC_TYPE_INT8);
}

static unsigned float_type(size_t size)
{
    return sizeof(float) == size ? OC_TYPE_FLOAT : sizeof(double) == size ? OC_TYPE_DOUBLE : 0;
}

/* Sized Fortran types exist where the compiler that Open MPI was built with has them. */
#ifdef MPI_INTEGER1
#    define INTEGER1(X) X(MPI_INTEGER1)
#else
#    define INTEGER1(X)
#endif
#ifdef MPI_INTEGER2
#    define INTEGER2(X) X(MPI_INTEGER2)
#else
#    define INTEGER2(X)
#endif
#ifdef MPI_INTEGER4
#    define INTEGER4(X) X(MPI_INTEGER4)
#else
#    define INTEGER4(X)
#endif
#ifdef MPI_INTEGER8
#    define INTEGER8(X) X(MPI_INTEGER8)
#else
#    define INTEGER8(X)
#endif
#ifdef MPI_REAL4
#    define REAL4(X) X(MPI_REAL4)
#else
#    define REAL4(X)
#endif
#ifdef MPI_REAL8
#    define REAL8(X) X(MPI_REAL8)
#else
#    define REAL8(X)
#endif

#define SIGNED(X)                                                                            \
    X(MPI_SIGNED_CHAR) X(MPI_SHORT) X(MPI_INT) X(MPI_LONG) X(MPI_LONG_LONG) X(MPI_INT8_T)    \
    X(MPI_INT16_T) X(MPI_INT32_T) X(MPI_INT64_T) X(MPI_INTEGER)                              \
    INTEGER1(X) INTEGER2(X) INTEGER4(X) INTEGER8(X)
#define UNSIGNED(X)                                                                          \
    X(MPI_UNSIGNED_CHAR) X(MPI_UNSIGNED_SHORT) X(MPI_UNSIGNED) X(MPI_UNSIGNED_LONG)          \
    X(MPI_UNSIGNED_LONG_LONG) X(MPI_UINT8_T) X(MPI_UINT16_T) X(MPI_UINT32_T) X(MPI_UINT64_T)
#define FLOATING(X)                                                                          \
    X(MPI_FLOAT) X(MPI_DOUBLE) X(MPI_REAL) X(MPI_DOUBLE_PRECISION) REAL4(X) REAL8(X)

/* By handle and not by size alone: MPI_BYTE has a size too, but no SUM. */
unsigned mca_coll_optcast_type(const struct ompi_datatype_t *dtype)
{
    size_t size = dtype->super.size;

#define X(handle)              \
    if (handle == dtype) {     \
        return float_type(size); \
    }
    FLOATING(X)
#undef X
#define X(handle)               \
    if (handle == dtype) {      \
        return signed_type(size); \
    }
    SIGNED(X)
#undef X
#define X(handle)                 \
    if (handle == dtype) {        \
        return unsigned_type(size); \
    }
    UNSIGNED(X)
#undef X
    return 0;
}

unsigned mca_coll_optcast_op(const struct ompi_op_t *op)
{
    static const struct {
        MPI_Op mpi;
        unsigned op;
    } ops[] = {
        {MPI_SUM, OC_OP_SUM},   {MPI_PROD, OC_OP_PROD}, {MPI_MIN, OC_OP_MIN},
        {MPI_MAX, OC_OP_MAX},   {MPI_BAND, OC_OP_BAND}, {MPI_BOR, OC_OP_BOR},
        {MPI_BXOR, OC_OP_BXOR}, {MPI_LAND, OC_OP_LAND}, {MPI_LOR, OC_OP_LOR},
        {MPI_LXOR, OC_OP_LXOR},
    };

    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        if (ops[i].mpi == op) {
            return ops[i].op;
        }
    }
    return 0;
}
