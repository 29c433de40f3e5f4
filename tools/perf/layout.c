/* SPDX-License-Identifier: BSD-3-Clause */
/* From sizes to counts, buffers and factors. */
#include "tools/perf/layout.h"

oc_perf_options_t oc_perf_options_of(const oc_perf_options_t *options, int index)
{
    oc_perf_options_t of = *options;

    if (options->pair && 1 == index) {
        of.collective = options->second;
        of.second = options->collective;
    }
    if (!oc_perf_has_counts(of.collective)) {
        of.first = -1;
    }
    if (!oc_perf_has_op(of.collective)) {
        of.op = OC_PERF_OP_END;
    }
    return of;
}

/* Before the block of a rank, if all are equal. */
static uint64_t equal_first(uint64_t total, unsigned rank, unsigned ranks)
{
    uint64_t rest = total % ranks;

    return total / ranks * rank + (rank < rest ? rank : rest);
}

uint64_t oc_perf_block_first(const oc_perf_options_t *options, uint64_t total, unsigned rank,
                             unsigned ranks)
{
    uint64_t own;

    if (options->first < 0 || 0 == rank || ranks < 2) {
        return rank < ranks ? equal_first(total, rank, ranks) : total;
    }
    own = total / 100 * (uint64_t) options->first + total % 100 * (uint64_t) options->first / 100;
    return own + equal_first(total - own, rank - 1, ranks - 1);
}

uint64_t oc_perf_block_count(const oc_perf_options_t *options, uint64_t total, unsigned rank,
                             unsigned ranks)
{
    return oc_perf_block_first(options, total, rank + 1, ranks)
           - oc_perf_block_first(options, total, rank, ranks);
}

static uint64_t largest_block(const oc_perf_options_t *options, uint64_t total, unsigned ranks)
{
    uint64_t zero = oc_perf_block_count(options, total, 0, ranks);
    uint64_t one = ranks > 1 ? oc_perf_block_count(options, total, 1, ranks) : 0;

    return zero > one ? zero : one;
}

static bool has_equal_blocks(oc_perf_collective_t collective)
{
    return OC_PERF_ALLGATHER == collective || OC_PERF_REDUCE_SCATTER_BLOCK == collective;
}

/* Of both operations of a pair. */
static uint64_t total_elements(const oc_perf_options_t *options, uint64_t size, unsigned ranks)
{
    uint64_t elements = size / oc_perf_type_size(options->type);
    bool equal = has_equal_blocks(options->collective)
                 || (options->pair && has_equal_blocks(options->second));
    uint64_t unit = equal ? ranks : 1;

    return elements < unit ? unit : elements / unit * unit;
}

/* Buffers of a rank that is not in place. */
static void set_buffers(oc_perf_layout_t *l, oc_perf_collective_t collective, bool is_root,
                        uint64_t block)
{
    switch (collective) {
    case OC_PERF_ALLREDUCE:
        l->send = l->receive = l->output = l->total;
        break;
    case OC_PERF_ALLGATHER:
    case OC_PERF_ALLGATHERV:
        l->send = block;
        l->receive = l->output = l->total;
        break;
    case OC_PERF_BCAST:
        l->send = is_root ? l->total : 0;
        l->receive = l->output = l->total;
        break;
    case OC_PERF_REDUCE:
        l->send = l->total;
        l->receive = l->output = is_root ? l->total : 0;
        break;
    default: /* reduce_scatter, reduce_scatter_block */
        l->send = l->total;
        l->receive = l->output = block;
    }
    l->input = l->send;
}

/* The contribution lies in the receive buffer then, which has to have room for it. */
static void move_input(oc_perf_layout_t *l, bool gathers)
{
    l->input_in_receive = true;
    l->input_at = gathers ? l->input_first : 0;
    l->send = 0;
    l->receive = l->receive < l->input ? l->input : l->receive;
}

oc_perf_layout_t oc_perf_layout(const oc_perf_options_t *options, uint64_t size, unsigned rank,
                                unsigned ranks)
{
    oc_perf_collective_t collective = options->collective;
    bool gathers = OC_PERF_ALLGATHER == collective || OC_PERF_ALLGATHERV == collective;
    bool scatters = OC_PERF_REDUCE_SCATTER == collective
                    || OC_PERF_REDUCE_SCATTER_BLOCK == collective;
    bool is_root = (unsigned) options->root == rank;
    oc_perf_layout_t l = {0};

    if (!oc_perf_has_data(collective)) {
        return l;
    }
    l.total = total_elements(options, size, ranks);
    l.count = gathers || scatters ? largest_block(options, l.total, ranks) : l.total;
    l.input_first = gathers ? oc_perf_block_first(options, l.total, rank, ranks) : 0;
    l.output_first = scatters ? oc_perf_block_first(options, l.total, rank, ranks) : 0;
    set_buffers(&l, collective, is_root, oc_perf_block_count(options, l.total, rank, ranks));
    if ((OC_PERF_BCAST == collective && is_root)
        || (options->in_place && (OC_PERF_REDUCE != collective || is_root))) {
        move_input(&l, gathers);
    }
    return l;
}

double oc_perf_bus_factor(oc_perf_collective_t collective, unsigned ranks)
{
    double others = (double) (ranks - 1) / ranks;

    switch (collective) {
    case OC_PERF_ALLREDUCE:
        return 2 * others;
    case OC_PERF_ALLGATHER:
    case OC_PERF_ALLGATHERV:
    case OC_PERF_REDUCE_SCATTER:
    case OC_PERF_REDUCE_SCATTER_BLOCK:
        return others;
    case OC_PERF_BARRIER:
        return 0;
    default:
        return 1;
    }
}
