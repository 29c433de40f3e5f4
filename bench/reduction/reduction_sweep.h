/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the contract of one timed run over a working set, by a kernel or by plain streams. */
#ifndef OPTCAST_BENCH_REDUCTION_REDUCTION_SWEEP_H
#define OPTCAST_BENCH_REDUCTION_REDUCTION_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/reduction/streams.h"
#include "reduction/reduction.h"

#define OC_MAX_INPUTS 64u

/*
 * Chunks as a server has them: n buffers in a row, of which the first one is also the output.
 * They are passed `repeat` times.
 */
typedef struct {
    char *memory;
    size_t inputs, chunk_bytes, chunks, repeat;
} oc_sweep_place_t;

/* Who is measured: a kernel, or a shape of streams if it has none. */
typedef struct {
    oc_reduce_fn_t kernel;
    size_t element;
    const oc_stream_shape_t *shape;
} oc_runner_t;

/* All bytes of all inputs: a normal number in every type. Subnormal ones may cost time. */
#define OC_SWEEP_BYTE 0x3c

/*
 * Chunks from number `first` up to but not including `end`. Seconds of the processor, in which
 * those do not count that other programs had it. What the run before has left is removed first.
 */
double oc_sweep(const oc_runner_t *runner, const oc_sweep_place_t *place, size_t first, size_t end);

#endif
