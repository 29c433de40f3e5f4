/* SPDX-License-Identifier: BSD-3-Clause */
/* Contributions and results as tables, filling vectors from them, and comparing with them. */
#include "tools/perf/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How many ranks at most give something else than the neutral element, where that matters. */
#define FEW  4
#define MANY 64

/* Any 64 bits that look random (the finalizer of a multiplicative hash). */
static uint64_t mix(uint64_t rank, uint64_t index)
{
    uint64_t x = (rank + 1) * 0x9e3779b97f4a7c15ull + (index + 1) * 0xd1342543de82ef95ull;

    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 32)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* From -limit to limit. */
static int64_t small(uint64_t bits, int64_t limit)
{
    return (int64_t) (bits % (uint64_t) (2 * limit + 1)) - limit;
}

/* At most few of all ranks, other ones at each index. */
static bool is_chosen(unsigned rank, unsigned ranks, uint64_t index, unsigned few)
{
    return 0 == (rank + index) % ((ranks + few - 1) / few);
}

/* The low bits of value as the type has them, with its sign. */
static uint64_t narrow(oc_perf_type_t type, uint64_t value)
{
    unsigned unused = 64 - 8 * (unsigned) oc_perf_type_size(type);

    value <<= unused;
    return oc_perf_type_is_signed(type) ? (uint64_t) ((int64_t) value >> unused) : value >> unused;
}

/* Largest number of an integer type, but at most one that is safe to multiply by 2. */
static uint64_t largest(oc_perf_type_t type)
{
    unsigned bits = 8 * (unsigned) oc_perf_type_size(type);

    bits -= oc_perf_type_is_signed(type) || 64 == bits;
    return (bits > 62 ? 1ull << 62 : 1ull << bits) - 1;
}

/* At most MANY ranks share what the type has room for. */
static uint64_t addend(oc_perf_type_t type, unsigned ranks, uint64_t bits)
{
    int64_t limit = (int64_t) (largest(type) / (ranks < MANY ? ranks : MANY));

    return oc_perf_type_is_signed(type) ? (uint64_t) small(bits, limit)
                                        : bits % ((uint64_t) limit + 1);
}

static uint64_t integer_input(oc_perf_type_t type, oc_perf_op_t op, unsigned rank, unsigned ranks,
                              uint64_t index)
{
    bool chosen = is_chosen(rank, ranks, index, OC_PERF_SUM == op ? MANY : FEW);
    uint64_t bits = mix(rank, index), more = mix(rank, index + OC_PERF_PERIOD);
    uint64_t sign = oc_perf_type_is_signed(type) && (more & 1) ? UINT64_MAX : 1;

    switch (op) {
    case OC_PERF_SUM:
        return chosen ? addend(type, ranks, bits) : 0;
    case OC_PERF_PROD:
        return sign * (chosen ? 2 + (bits & 1) : 1);
    case OC_PERF_BAND:
        return chosen ? bits | more : UINT64_MAX;
    case OC_PERF_BOR:
        return chosen ? bits & more : 0;
    case OC_PERF_LAND:
        return chosen && 0 == bits % 4 ? 0 : 1 + more % 100;
    case OC_PERF_LOR:
        return chosen && 0 == bits % 4 ? 1 + more % 100 : 0;
    case OC_PERF_LXOR:
        return bits & 1 ? 1 + more % 100 : 0;
    default: /* bxor, min, max, and no operation: anything */
        return bits;
    }
}

static double float_input(oc_perf_op_t op, unsigned rank, unsigned ranks, uint64_t index)
{
    uint64_t bits = mix(rank, index);
    double sign = bits & 1 ? -1.0 : 1.0;

    switch (op) {
    case OC_PERF_SUM:
        return (double) small(bits, 100);
    case OC_PERF_PROD:
        return is_chosen(rank, ranks, index, MANY) ? sign * (bits & 2 ? 2.0 : 0.5) : sign;
    default:
        return (double) small(bits, 1 << 20);
    }
}

static uint64_t integer_apply(oc_perf_type_t type, oc_perf_op_t op, uint64_t a, uint64_t b)
{
    bool less = oc_perf_type_is_signed(type) ? (int64_t) a < (int64_t) b : a < b;

    switch (op) {
    case OC_PERF_SUM:
        return a + b;
    case OC_PERF_PROD:
        return a * b;
    case OC_PERF_MIN:
        return less ? a : b;
    case OC_PERF_MAX:
        return less ? b : a;
    case OC_PERF_BAND:
        return a & b;
    case OC_PERF_BOR:
        return a | b;
    case OC_PERF_BXOR:
        return a ^ b;
    case OC_PERF_LAND:
        return a && b;
    case OC_PERF_LOR:
        return a || b;
    default:
        return !a != !b;
    }
}

static double float_apply(oc_perf_op_t op, double a, double b)
{
    switch (op) {
    case OC_PERF_SUM:
        return a + b;
    case OC_PERF_PROD:
        return a * b;
    case OC_PERF_MIN:
        return a < b ? a : b;
    default:
        return a < b ? b : a;
    }
}

static void store_integer(oc_perf_pattern_t *pattern, unsigned index, uint64_t value)
{
    unsigned char *at = pattern->data + index * pattern->element;

    switch (pattern->element) {
    case 1:
        *at = (unsigned char) value;
        break;
    case 2:
        memcpy(at, &(uint16_t) {(uint16_t) value}, 2);
        break;
    case 4:
        memcpy(at, &(uint32_t) {(uint32_t) value}, 4);
        break;
    default:
        memcpy(at, &value, 8);
    }
}

static void store_float(oc_perf_pattern_t *pattern, unsigned index, double value)
{
    unsigned char *at = pattern->data + index * pattern->element;

    if (sizeof(float) == pattern->element) {
        memcpy(at, &(float) {(float) value}, sizeof(float));
    } else {
        memcpy(at, &value, sizeof(double));
    }
}

/* The operation over the ranks from first to last, at one index. */
static void make_element(oc_perf_pattern_t *pattern, oc_perf_type_t type, oc_perf_op_t op,
                         unsigned first, unsigned last, unsigned ranks, unsigned index)
{
    if (oc_perf_type_is_float(type)) {
        double value = float_input(op, first, ranks, index);

        for (unsigned rank = first + 1; rank <= last; rank++) {
            value = float_apply(op, value, float_input(op, rank, ranks, index));
        }
        store_float(pattern, index, value);
    } else {
        uint64_t value = narrow(type, integer_input(type, op, first, ranks, index));

        for (unsigned rank = first + 1; rank <= last; rank++) {
            value = integer_apply(type, op, value,
                                  narrow(type, integer_input(type, op, rank, ranks, index)));
        }
        store_integer(pattern, index, value);
    }
}

void oc_perf_pattern_input(oc_perf_pattern_t *pattern, oc_perf_type_t type, oc_perf_op_t op,
                           unsigned rank, unsigned ranks)
{
    pattern->element = oc_perf_type_size(type);
    for (unsigned index = 0; index < OC_PERF_PERIOD; index++) {
        make_element(pattern, type, op, rank, rank, ranks, index);
    }
}

void oc_perf_pattern_result(oc_perf_pattern_t *pattern, oc_perf_type_t type, oc_perf_op_t op,
                            unsigned ranks)
{
    pattern->element = oc_perf_type_size(type);
    for (unsigned index = 0; index < OC_PERF_PERIOD; index++) {
        make_element(pattern, type, op, 0, ranks - 1, ranks, index);
    }
}

void oc_perf_fill(const oc_perf_pattern_t *pattern, void *to, size_t count, uint64_t first)
{
    size_t element = pattern->element, at = first % OC_PERF_PERIOD;
    unsigned char *out = to;

    while (0 != count) {
        size_t run = OC_PERF_PERIOD - at < count ? OC_PERF_PERIOD - at : count;

        memcpy(out, pattern->data + at * element, run * element);
        out += run * element;
        count -= run;
        at = 0;
    }
}

void oc_perf_poison(const oc_perf_pattern_t *pattern, void *to, size_t count, uint64_t first)
{
    oc_perf_pattern_t inverse = {.element = pattern->element};

    for (size_t i = 0; i < OC_PERF_PERIOD * pattern->element; i++) {
        inverse.data[i] = (unsigned char) ~pattern->data[i];
    }
    oc_perf_fill(&inverse, to, count, first);
}

size_t oc_perf_count_wrong(const oc_perf_pattern_t *pattern, const void *data, size_t count,
                           uint64_t first, size_t *wrong)
{
    size_t element = pattern->element, total = 0;
    const unsigned char *in = data;

    for (size_t done = 0, run; done < count; done += run) {
        size_t at = (first + done) % OC_PERF_PERIOD;

        run = OC_PERF_PERIOD - at < count - done ? OC_PERF_PERIOD - at : count - done;
        if (0 == memcmp(in + done * element, pattern->data + at * element, run * element)) {
            continue;
        }
        for (size_t i = 0; i < run; i++) {
            if (0 != memcmp(in + (done + i) * element, pattern->data + (at + i) * element,
                            element)) {
                *wrong = 0 == total++ ? done + i : *wrong;
            }
        }
    }
    return total;
}

const void *oc_perf_expected(const oc_perf_pattern_t *pattern, uint64_t index)
{
    return pattern->data + index % OC_PERF_PERIOD * pattern->element;
}

void oc_perf_value_text(oc_perf_type_t type, const void *value, char *text, size_t size)
{
    uint64_t number = 0;
    float single;
    double full;

    if (OC_PERF_FLOAT == type) {
        memcpy(&single, value, sizeof(single));
        snprintf(text, size, "%.9g", (double) single);
    } else if (OC_PERF_DOUBLE == type) {
        memcpy(&full, value, sizeof(full));
        snprintf(text, size, "%.17g", full);
    } else {
        /* little-endian like all hosts of this project; the upper bytes are zero */
        memcpy(&number, value, oc_perf_type_size(type));
        number = narrow(type, number);
        if (oc_perf_type_is_signed(type)) {
            snprintf(text, size, "%" PRId64, (int64_t) number);
        } else {
            snprintf(text, size, "%" PRIu64, number);
        }
    }
}
