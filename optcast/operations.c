/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of 16-bit floats, two vectors at a time: what MPI does without Optcast. */
#include "optcast/operations.h"

#include "optcast/convert.h"

#define SUM(a, b)  ((a) + (b))
#define PROD(a, b) ((a) * (b))

/* The function of MPI gets the vector of the lower ranks first. */
#define DEFINE_ARITHMETIC(format, FORMAT, name, NAME)                                    \
    void optcast_mpi_##format##_##name(void *in, void *inout, int *count, MPI_Datatype *type) \
    {                                                                                    \
        const uint16_t *a = in;                                                          \
        uint16_t *b = inout;                                                             \
                                                                                         \
        optcast_check_datatype(OPTCAST_##FORMAT, *type);                                 \
        for (int i = 0; i < *count; i++) {                                               \
            b[i] = format##_of_float(NAME(format##_to_float(a[i]), format##_to_float(b[i]))); \
        }                                                                                \
    }

#define DEFINE_CHOICE(format, FORMAT, name, relation)                                    \
    void optcast_mpi_##format##_##name(void *in, void *inout, int *count, MPI_Datatype *type) \
    {                                                                                    \
        const uint16_t *a = in;                                                          \
        uint16_t *b = inout;                                                             \
                                                                                         \
        optcast_check_datatype(OPTCAST_##FORMAT, *type);                                 \
        for (int i = 0; i < *count; i++) {                                               \
            b[i] = format##_to_float(a[i]) relation format##_to_float(b[i]) ? a[i] : b[i]; \
        }                                                                                \
    }

DEFINE_ARITHMETIC(float16, FLOAT16, sum, SUM)
DEFINE_ARITHMETIC(float16, FLOAT16, prod, PROD)
DEFINE_CHOICE(float16, FLOAT16, min, <)
DEFINE_CHOICE(float16, FLOAT16, max, >)
DEFINE_ARITHMETIC(bfloat16, BFLOAT16, sum, SUM)
DEFINE_ARITHMETIC(bfloat16, BFLOAT16, prod, PROD)
DEFINE_CHOICE(bfloat16, BFLOAT16, min, <)
DEFINE_CHOICE(bfloat16, BFLOAT16, max, >)
