/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of <optcast/mpi.h> on 16-bit floats. For MPI they are operations of the
 * application; they are recognized by the signature with which their function begins.
 */
#include "coll_optcast_half.h"

#include "optcast/signature.h"
#include "reduction/reduction.h"

static const struct {
    const char *name;
    unsigned op, type;
    const char *not_with; /* the datatype of the other format */
} functions[] = {
#define X(format, FORMAT, name, NAME, other) \
    {"optcast_mpi_" #format "_" #name, OC_OP_##NAME, OC_TYPE_##FORMAT, "optcast_" #other},
    X(float16, FLOAT16, sum, SUM, bfloat16)
    X(float16, FLOAT16, prod, PROD, bfloat16)
    X(float16, FLOAT16, min, MIN, bfloat16)
    X(float16, FLOAT16, max, MAX, bfloat16)
    X(bfloat16, BFLOAT16, sum, SUM, float16)
    X(bfloat16, BFLOAT16, prod, PROD, float16)
    X(bfloat16, BFLOAT16, min, MIN, float16)
    X(bfloat16, BFLOAT16, max, MAX, float16)
#undef X
};
#define NUM_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* Index of the function, or NUM_FUNCTIONS. */
static size_t half_find(uintptr_t address)
{
    size_t i = 0;

    while (i < NUM_FUNCTIONS && !optcast_is_signed(address, functions[i].name)) {
        i++;
    }
    return i;
}

oc_fallback_t mca_coll_optcast_map_half(const struct ompi_op_t *op,
                                        const struct ompi_datatype_t *dtype, unsigned *oc_op,
                                        unsigned *oc_type)
{
    size_t index;

    /* what the functions refuse is left to them, so that they say so */
    if (0 != (op->o_flags & OC_OP_FLAGS_NOT_C) || 2 != dtype->super.size || 0 != dtype->super.lb
        || 2 != dtype->super.ub) {
        return OC_FALLBACK_OP;
    }
    index = half_find((uintptr_t) op->o_func.c_fn);
    if (NUM_FUNCTIONS == index || 0 == strcmp(functions[index].not_with, dtype->name)) {
        return OC_FALLBACK_OP;
    }
    *oc_op = functions[index].op;
    *oc_type = functions[index].type;
    return NULL == oc_reduce_kernel(*oc_op, *oc_type) ? OC_FALLBACK_OP : OC_FALLBACK_NONE;
}
