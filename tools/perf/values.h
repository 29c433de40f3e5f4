/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks contribute and what has to come out, without MPI. The value of an element depends on
 * its index in the whole vector modulo a prime, so that a vector of any length is a short table,
 * repeated: no chunk size, block or number of ranks has a period in common with it.
 *
 * Every order of evaluation gives the same bits: floats are small integers (sum, min, max) or
 * signed powers of two of which few differ from one (prod), and no integer overflows, in whole or
 * in part: some MPIs saturate where others wrap.
 */
#ifndef OC_PERF_VALUES_H
#define OC_PERF_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "tools/perf/types.h"

#define OC_PERF_PERIOD 1021

/* Up to this number of ranks sums of float are exact. */
#define OC_PERF_MAX_CHECKED_RANKS 65536

typedef struct {
    size_t element;                               /* its size in bytes */
    unsigned char data[OC_PERF_PERIOD * 8];
} oc_perf_pattern_t;

/* Input of a rank for an operation, or for no operation with op OC_PERF_OP_END. */
void oc_perf_pattern_input(oc_perf_pattern_t *pattern, oc_perf_type_t type, oc_perf_op_t op,
                           unsigned rank, unsigned ranks);

/* The operation over the inputs of all ranks. */
void oc_perf_pattern_result(oc_perf_pattern_t *pattern, oc_perf_type_t type, oc_perf_op_t op,
                            unsigned ranks);

/* count elements, the first of which has index first in the whole vector. */
void oc_perf_fill(const oc_perf_pattern_t *pattern, void *to, size_t count, uint64_t first);

/* As fill, with values of which each one is wrong. */
void oc_perf_poison(const oc_perf_pattern_t *pattern, void *to, size_t count, uint64_t first);

/* The number of elements that differ; *wrong is the place in data of the first one. */
size_t oc_perf_count_wrong(const oc_perf_pattern_t *pattern, const void *data, size_t count,
                           uint64_t first, size_t *wrong);

/* The element that belongs at an index. */
const void *oc_perf_expected(const oc_perf_pattern_t *pattern, uint64_t index);

/* One element for people. */
void oc_perf_value_text(oc_perf_type_t type, const void *value, char *text, size_t size);

#endif
