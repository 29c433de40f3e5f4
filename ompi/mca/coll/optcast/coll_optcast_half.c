/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of <optcast/mpi.h> on 16-bit floats. For MPI they are operations of the
 * application; they are recognized by the name under which the library exports their function.
 */
#include "coll_optcast.h"

#include <dlfcn.h>

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

/*
 * Where the functions are. Only they: an address of the application's may belong to another
 * function after a dlclose, but their library is never unloaded.
 */
static _Atomic(uintptr_t) addresses[NUM_FUNCTIONS];

/* Index of the function, or NUM_FUNCTIONS. Asks the linker, so it costs microseconds. */
static size_t look_up(uintptr_t address)
{
    Dl_info info;

    if (0 == dladdr((void *) address, &info) || NULL == info.dli_sname
        || (uintptr_t) info.dli_saddr != address) {
        return NUM_FUNCTIONS;
    }
    for (size_t i = 0; i < NUM_FUNCTIONS; i++) {
        if (0 == strcmp(functions[i].name, info.dli_sname)) {
            atomic_store_explicit(&addresses[i], address, memory_order_relaxed);
            return i;
        }
    }
    return NUM_FUNCTIONS;
}

static size_t find(uintptr_t address)
{
    for (size_t i = 0; i < NUM_FUNCTIONS; i++) {
        if (address == atomic_load_explicit(&addresses[i], memory_order_relaxed)) {
            return i;
        }
    }
    return look_up(address);
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
    index = find((uintptr_t) op->o_func.c_fn);
    if (NUM_FUNCTIONS == index || 0 == strcmp(functions[index].not_with, dtype->name)) {
        return OC_FALLBACK_OP;
    }
    *oc_op = functions[index].op;
    *oc_type = functions[index].type;
    return NULL == oc_reduce_kernel(*oc_op, *oc_type) ? OC_FALLBACK_OP : OC_FALLBACK_NONE;
}
