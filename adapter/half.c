/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of 16-bit floats, by name. */
#include "adapter/half.h"

#include <stddef.h>

#include "optcast/signature.h"
#include "reduction/reduction.h"

static const struct {
    const char *name;
    oc_half_t half;
} functions[] = {
#define X(format, FORMAT, name, NAME, other) \
    {"optcast_mpi_" #format "_" #name, {OC_OP_##NAME, OC_TYPE_##FORMAT, "optcast_" #other}},
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

const oc_half_t *oc_half_find(uintptr_t function)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (optcast_is_signed(function, functions[i].name)) {
            return &functions[i].half;
        }
    }
    return NULL;
}
