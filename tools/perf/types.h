/* SPDX-License-Identifier: BSD-3-Clause */
/* The datatypes, operations and collectives of optcast-perf by name, and what fits together. */
#ifndef OC_PERF_TYPES_H
#define OC_PERF_TYPES_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    OC_PERF_INT8,
    OC_PERF_INT16,
    OC_PERF_INT32,
    OC_PERF_INT64,
    OC_PERF_UINT8,
    OC_PERF_UINT16,
    OC_PERF_UINT32,
    OC_PERF_UINT64,
    OC_PERF_FLOAT,
    OC_PERF_DOUBLE,
    OC_PERF_BYTE,    /* no arithmetic: this and the next */
    OC_PERF_CHAR,
    OC_PERF_TYPE_END
} oc_perf_type_t;

typedef enum {
    OC_PERF_SUM,
    OC_PERF_PROD,
    OC_PERF_MIN,
    OC_PERF_MAX,
    OC_PERF_BAND,    /* integers only: from here on */
    OC_PERF_BOR,
    OC_PERF_BXOR,
    OC_PERF_LAND,
    OC_PERF_LOR,
    OC_PERF_LXOR,
    OC_PERF_OP_END
} oc_perf_op_t;

typedef enum {
    OC_PERF_ALLREDUCE,
    OC_PERF_ALLGATHER,
    OC_PERF_ALLGATHERV,
    OC_PERF_BCAST,
    OC_PERF_REDUCE,
    OC_PERF_REDUCE_SCATTER,
    OC_PERF_REDUCE_SCATTER_BLOCK,
    OC_PERF_BARRIER,
    OC_PERF_COLLECTIVE_END
} oc_perf_collective_t;

/* Names; the _find functions give the END value for a name that does not exist. */
const char *oc_perf_type_name(oc_perf_type_t type);
const char *oc_perf_op_name(oc_perf_op_t op);
const char *oc_perf_collective_name(oc_perf_collective_t collective);
/* Of the performance variable that counts it: this and "_offloaded". */
const char *oc_perf_collective_counter(oc_perf_collective_t collective);
oc_perf_type_t oc_perf_type_find(const char *name);
oc_perf_op_t oc_perf_op_find(const char *name);
oc_perf_collective_t oc_perf_collective_find(const char *name);

size_t oc_perf_type_size(oc_perf_type_t type);
bool oc_perf_type_is_float(oc_perf_type_t type);
bool oc_perf_type_is_signed(oc_perf_type_t type);

/* What a collective has: data at all, an operation, a root, a variant in place, unequal blocks. */
bool oc_perf_has_data(oc_perf_collective_t collective);
bool oc_perf_has_op(oc_perf_collective_t collective);
bool oc_perf_has_root(oc_perf_collective_t collective);
bool oc_perf_has_in_place(oc_perf_collective_t collective);
bool oc_perf_has_counts(oc_perf_collective_t collective);

#endif
