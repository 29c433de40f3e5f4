/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of datatypes, operations and collectives. */
#include "tools/perf/types.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size;
    bool is_signed;
} types[OC_PERF_TYPE_END] = {
    [OC_PERF_INT8] = {"int8", 1, true},     [OC_PERF_INT16] = {"int16", 2, true},
    [OC_PERF_INT32] = {"int32", 4, true},   [OC_PERF_INT64] = {"int64", 8, true},
    [OC_PERF_UINT8] = {"uint8", 1, false},  [OC_PERF_UINT16] = {"uint16", 2, false},
    [OC_PERF_UINT32] = {"uint32", 4, false}, [OC_PERF_UINT64] = {"uint64", 8, false},
    [OC_PERF_FLOAT] = {"float", 4, true},   [OC_PERF_DOUBLE] = {"double", 8, true},
    [OC_PERF_BYTE] = {"byte", 1, false},    [OC_PERF_CHAR] = {"char", 1, false},
};

static const char *const ops[OC_PERF_OP_END] = {
    [OC_PERF_SUM] = "sum",   [OC_PERF_PROD] = "prod", [OC_PERF_MIN] = "min",
    [OC_PERF_MAX] = "max",   [OC_PERF_BAND] = "band", [OC_PERF_BOR] = "bor",
    [OC_PERF_BXOR] = "bxor", [OC_PERF_LAND] = "land", [OC_PERF_LOR] = "lor",
    [OC_PERF_LXOR] = "lxor",
};

enum { DATA = 1, OP = 2, ROOT = 4, IN_PLACE = 8, COUNTS = 16 };

/* Equal and unequal blocks share a counter. */
static const struct {
    const char *name, *counter;
    unsigned has;
} collectives[OC_PERF_COLLECTIVE_END] = {
    [OC_PERF_ALLREDUCE] = {"allreduce", "allreduce", DATA | OP | IN_PLACE},
    [OC_PERF_ALLGATHER] = {"allgather", "allgather", DATA | IN_PLACE},
    [OC_PERF_ALLGATHERV] = {"allgatherv", "allgather", DATA | IN_PLACE | COUNTS},
    [OC_PERF_BCAST] = {"bcast", "bcast", DATA | ROOT},
    [OC_PERF_REDUCE] = {"reduce", "reduce", DATA | OP | ROOT | IN_PLACE},
    [OC_PERF_REDUCE_SCATTER] = {"reduce_scatter", "reduce_scatter",
                                DATA | OP | IN_PLACE | COUNTS},
    [OC_PERF_REDUCE_SCATTER_BLOCK] = {"reduce_scatter_block", "reduce_scatter",
                                      DATA | OP | IN_PLACE},
    [OC_PERF_BARRIER] = {"barrier", "barrier", 0},
};

const char *oc_perf_type_name(oc_perf_type_t type)
{
    return types[type].name;
}

const char *oc_perf_op_name(oc_perf_op_t op)
{
    return ops[op];
}

const char *oc_perf_collective_name(oc_perf_collective_t collective)
{
    return collectives[collective].name;
}

const char *oc_perf_collective_counter(oc_perf_collective_t collective)
{
    return collectives[collective].counter;
}

oc_perf_type_t oc_perf_type_find(const char *name)
{
    int type = 0;

    while (type < OC_PERF_TYPE_END && 0 != strcmp(name, types[type].name)) {
        type++;
    }
    return (oc_perf_type_t) type;
}

oc_perf_op_t oc_perf_op_find(const char *name)
{
    int op = 0;

    while (op < OC_PERF_OP_END && 0 != strcmp(name, ops[op])) {
        op++;
    }
    return (oc_perf_op_t) op;
}

oc_perf_collective_t oc_perf_collective_find(const char *name)
{
    int collective = 0;

    while (collective < OC_PERF_COLLECTIVE_END && 0 != strcmp(name, collectives[collective].name)) {
        collective++;
    }
    return (oc_perf_collective_t) collective;
}

size_t oc_perf_type_size(oc_perf_type_t type)
{
    return types[type].size;
}

bool oc_perf_type_is_float(oc_perf_type_t type)
{
    return OC_PERF_FLOAT == type || OC_PERF_DOUBLE == type;
}

bool oc_perf_type_is_signed(oc_perf_type_t type)
{
    return types[type].is_signed;
}

bool oc_perf_has_data(oc_perf_collective_t collective)
{
    return 0 != (collectives[collective].has & DATA);
}

bool oc_perf_has_op(oc_perf_collective_t collective)
{
    return 0 != (collectives[collective].has & OP);
}

bool oc_perf_has_root(oc_perf_collective_t collective)
{
    return 0 != (collectives[collective].has & ROOT);
}

bool oc_perf_has_in_place(oc_perf_collective_t collective)
{
    return 0 != (collectives[collective].has & IN_PLACE);
}

bool oc_perf_has_counts(oc_perf_collective_t collective)
{
    return 0 != (collectives[collective].has & COUNTS);
}
