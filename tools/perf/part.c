/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers, patterns and arguments of one operation. */
#include "tools/perf/part.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 4096

static oc_perf_layout_t layout_of(const oc_perf_part_t *part, uint64_t size)
{
    return oc_perf_layout(&part->options, size, part->rank, part->ranks);
}

/* Also for no elements. */
static unsigned char *buffer(uint64_t elements, size_t element)
{
    void *memory = NULL;

    return 0 == posix_memalign(&memory, ALIGNMENT, elements * element + ALIGNMENT) ? memory : NULL;
}

static void make_patterns(oc_perf_part_t *part)
{
    const oc_perf_options_t *o = &part->options;

    oc_perf_pattern_input(&part->input, o->type, o->op, part->rank, part->ranks);
    if (oc_perf_has_op(o->collective)) {
        oc_perf_pattern_result(&part->result, o->type, o->op, part->ranks);
    } else {
        oc_perf_pattern_input(&part->result, o->type, o->op, (unsigned) o->root, part->ranks);
    }
}

static void say_no_memory(const oc_perf_options_t *o, int rank, uint64_t to_send, uint64_t to_receive,
                          char *error, size_t size)
{
    char stream[32] = "";

    if (o->stream > 1) {
        snprintf(stream, sizeof(stream), " with --stream %d", o->stream);
    }
    snprintf(error, size, "rank %d has no memory for --max %" PRIu64 "%s (%" PRIu64 " bytes to send and %"
             PRIu64 " to receive%s): give a smaller size%s, or run fewer ranks on a host", rank, o->max,
             stream, to_send, to_receive, o->stream > 1 ? " by each operation" : "",
             o->stream > 1 ? " or a shorter stream" : "");
}

bool oc_perf_part_open(oc_perf_part_t *part, const oc_perf_options_t *options, int index,
                       const oc_perf_job_t *job, char *error, size_t size)
{
    size_t element = oc_perf_type_size(options->type);
    oc_perf_layout_t l;

    *part = (oc_perf_part_t) {.options = oc_perf_options_of(options, index),
                              .rank = (unsigned) job->rank, .ranks = (unsigned) job->ranks};
    l = layout_of(part, options->max);
    part->send = buffer(l.send, element);
    part->receive = buffer(l.receive, element);
    part->counts = calloc(part->ranks, sizeof(*part->counts));
    part->first = calloc(part->ranks, sizeof(*part->first));
    if (NULL == part->send || NULL == part->receive || NULL == part->counts || NULL == part->first) {
        say_no_memory(options, job->rank, l.send * element, l.receive * element, error, size);
        return false;
    }
    if (oc_perf_has_data(part->options.collective)) {
        make_patterns(part);
    }
    return true;
}

void oc_perf_part_close(oc_perf_part_t *part)
{
    free(part->send);
    free(part->receive);
    free(part->counts);
    free(part->first);
}

void oc_perf_part_touch(oc_perf_part_t *part)
{
    size_t element = oc_perf_type_size(part->options.type);
    oc_perf_layout_t l = layout_of(part, part->options.max);

    memset(part->send, 0, l.send * element);
    memset(part->receive, 0, l.receive * element);
}

void oc_perf_part_resize(oc_perf_part_t *part, uint64_t size)
{
    const oc_perf_options_t *o = &part->options;

    part->layout = layout_of(part, size);
    part->call = (oc_perf_call_t) {
        .collective = o->collective, .nonblocking = o->nonblocking,
        .send = part->layout.input_in_receive ? MPI_IN_PLACE : part->send,
        .receive = part->receive, .count = (int) part->layout.count, .root = o->root,
        .counts = part->counts, .first = part->first,
        .type = oc_perf_mpi_type(o->type), .op = oc_perf_mpi_op(o->op)};
    for (unsigned rank = 0; rank < part->ranks; rank++) {
        part->counts[rank] = (int) oc_perf_block_count(o, part->layout.total, rank, part->ranks);
        part->first[rank] = (int) oc_perf_block_first(o, part->layout.total, rank, part->ranks);
    }
}
