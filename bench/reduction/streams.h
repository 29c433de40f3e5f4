/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the contract of the loops that say how fast n streams can be read and one written. */
#ifndef OPTCAST_BENCH_REDUCTION_STREAMS_H
#define OPTCAST_BENCH_REDUCTION_STREAMS_H

#include <stddef.h>

/* Lengths and block sizes are multiples of this. */
#define OC_STREAM_STRIP 512u

/*
 * One order in which the inputs of a chunk are read. They come in groups of up to `group` streams,
 * and all groups of a block before the next block. By lines, each stream in turn gives 64 bytes;
 * else eight vectors.
 */
typedef struct {
    const char *name;
    size_t group;   /* no less than 2; by lines no more than 8 */
    size_t block;   /* bytes of each input */
    int by_lines;
} oc_stream_shape_t;

/* What is tried; the fastest of them is the limit. */
extern const oc_stream_shape_t oc_stream_shapes[];
extern const size_t oc_num_stream_shapes;

/*
 * dst = the bitwise OR of n >= 2 inputs of `length` bytes, with the widest vectors that this
 * processor has. dst is src[0].
 */
void oc_streams_run(const oc_stream_shape_t *shape, void *dst, const void *const *src, size_t n,
                    size_t length);

/* Bytes of those vectors. */
size_t oc_streams_vector(void);

#endif
