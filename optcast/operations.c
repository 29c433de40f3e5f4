/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of 16-bit floats, two vectors at a time: what MPI does without Optcast. */
#include "optcast/operations.h"

#include "base/arithmetic.h"
#include "optcast/convert.h"
#include "optcast/datatypes.h"
#include "optcast/signature.h"

/* What the function of that name jumps to. */
#define SIGNED(format, name)                                                                 \
    OPTCAST_SIGN("optcast_mpi_" #format "_" #name, "optcast_work_" #format "_" #name);       \
    static void work_##format##_##name(void *in, void *inout, int *count, MPI_Datatype *type) \
        __asm__("optcast_work_" #format "_" #name) __attribute__((used));                    \
    static void work_##format##_##name(void *in, void *inout, int *count, MPI_Datatype *type)

#define SUM(a, b)  ((a) + (b))
#define PROD(a, b) ((a) * (b))

/*
 * The function of MPI gets the vector of the lower ranks first, and is called by the program's
 * threads: 16-bit floats mean the same in whatever arithmetic they have, offloaded or not.
 */
#define DEFINE_ARITHMETIC(format, FORMAT, name, NAME)                                    \
    SIGNED(format, name)                                                                 \
    {                                                                                    \
        const uint16_t *a = in;                                                          \
        uint16_t *b = inout;                                                             \
        oc_arithmetic_t before;                                                          \
                                                                                         \
        optcast_check_datatype(OPTCAST_##FORMAT, *type);                                 \
        before = oc_arithmetic_begin();                                                  \
        for (int i = 0; i < *count; i++) {                                               \
            b[i] = format##_of_float(NAME(format##_to_float(a[i]), format##_to_float(b[i]))); \
        }                                                                                \
        oc_arithmetic_end(before);                                                       \
    }

#define DEFINE_CHOICE(format, FORMAT, name, relation)                                    \
    SIGNED(format, name)                                                                 \
    {                                                                                    \
        const uint16_t *a = in;                                                          \
        uint16_t *b = inout;                                                             \
        oc_arithmetic_t before;                                                          \
                                                                                         \
        optcast_check_datatype(OPTCAST_##FORMAT, *type);                                 \
        before = oc_arithmetic_begin();                                                  \
        for (int i = 0; i < *count; i++) {                                               \
            b[i] = format##_to_float(a[i]) relation format##_to_float(b[i]) ? a[i] : b[i]; \
        }                                                                                \
        oc_arithmetic_end(before);                                                       \
    }

DEFINE_ARITHMETIC(float16, FLOAT16, sum, SUM)
DEFINE_ARITHMETIC(float16, FLOAT16, prod, PROD)
DEFINE_CHOICE(float16, FLOAT16, min, <)
DEFINE_CHOICE(float16, FLOAT16, max, >)
DEFINE_ARITHMETIC(bfloat16, BFLOAT16, sum, SUM)
DEFINE_ARITHMETIC(bfloat16, BFLOAT16, prod, PROD)
DEFINE_CHOICE(bfloat16, BFLOAT16, min, <)
DEFINE_CHOICE(bfloat16, BFLOAT16, max, >)
