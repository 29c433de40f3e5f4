/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a digest of what each kernel makes of the same inputs, to be compared between machines. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reduction/reduction.h"
#include "tests/unit/reduction_reference.h"

#define MAX_SRC   8
#define MAX_COUNT 1027

/* At odd addresses. */
static unsigned char inputs[MAX_SRC][1 + MAX_COUNT * MAX_ELEM];
static unsigned char output[1 + MAX_COUNT * MAX_ELEM];

/* Ordinary and special values, and now and then any bits whatever. */
static void fill(unsigned type)
{
    const size_t size = oc_type_size(type);

    for (size_t k = 0; k < MAX_SRC; k++) {
        for (size_t i = 0; i < MAX_COUNT; i++) {
            const uint64_t r = next_random();
            const uint64_t bits[2] = { next_random(), next_random() };
            unsigned char *to = inputs[k] + 1 + i * size;

            if (r % 16 == 0)
                memcpy(to, bits, size);
            else
                store_value(type, to, r % 16 == 1 ? (int)(r / 16 % NUM_SPECIALS) : -1);
        }
    }
}

/* FNV-1a */
static uint64_t digest(const unsigned char *bytes, size_t n)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static void print_result(unsigned op, unsigned type, size_t num_src, size_t count)
{
    const size_t size = oc_type_size(type);
    const void *src[MAX_SRC];

    for (size_t k = 0; k < num_src; k++)
        src[k] = inputs[k] + 1;
    oc_reduce_kernel(op, type)(output + 1, src, num_src, count);
    for (size_t i = 0; i < count; i++)
        unify_nan(type, output + 1 + i * size);
    printf("%s %s, %zu inputs of %zu: %016" PRIx64 "\n", oc_op_name(op), oc_type_name(type),
           num_src, count, digest(output + 1, count * size));
}

int main(void)
{
    static const size_t counts[] = { 5, 64, MAX_COUNT };

    fprintf(stderr, "instruction set %s\n", oc_isa_name(oc_reduce_isa()));
    for (unsigned type = OC_TYPE_INT8; type < OC_TYPE_END; type++) {
        for (unsigned op = OC_OP_SUM; op < OC_OP_END; op++) {
            if (!is_offered(op, type))
                continue;
            fill(type);
            for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
                print_result(op, type, 2, counts[n]);
                print_result(op, type, MAX_SRC, counts[n]);
            }
        }
    }
    return 0;
}
