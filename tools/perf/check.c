/* SPDX-License-Identifier: BSD-3-Clause */
/* Filling buffers before an operation, and looking at every element after it. */
#include "tools/perf/check.h"

#include <inttypes.h>
#include <stdio.h>

/* A part of the receive buffer that one pattern describes. */
typedef struct {
    const oc_perf_pattern_t *pattern;
    unsigned char *data;
    uint64_t at, count;         /* elements of the receive buffer */
    uint64_t first;             /* index for the pattern */
} piece_t;

typedef void (*visit_t)(oc_perf_meter_t *m, const piece_t *piece, void *arg);

static void visit(oc_perf_meter_t *m, visit_t each, void *arg, uint64_t at, uint64_t count,
                  uint64_t first)
{
    piece_t piece = {&m->result, m->receive + at * m->result.element, at, count,
                     first + m->operations};

    each(m, &piece, arg);
}

/* Reductions have one pattern, made before; what is only moved has one for each rank it is of. */
static void visit_output(oc_perf_meter_t *m, visit_t each, void *arg)
{
    const oc_perf_options_t *options = m->options;
    unsigned ranks = (unsigned) m->job->ranks;
    uint64_t total = m->layout.total;

    if (OC_PERF_ALLGATHER != options->collective && OC_PERF_ALLGATHERV != options->collective) {
        visit(m, each, arg, 0, m->layout.output, m->layout.output_first);
        return;
    }
    for (unsigned rank = 0; rank < ranks; rank++) {
        uint64_t first = oc_perf_block_first(options, total, rank, ranks);

        oc_perf_pattern_input(&m->result, options->type, OC_PERF_OP_END, rank, ranks);
        visit(m, each, arg, first, oc_perf_block_count(options, total, rank, ranks), first);
    }
}

static void poison_piece(oc_perf_meter_t *m, const piece_t *piece, void *arg)
{
    (void) m;
    (void) arg;
    oc_perf_poison(piece->pattern, piece->data, piece->count, piece->first);
}

void oc_perf_meter_prepare(oc_perf_meter_t *m, bool poison)
{
    const oc_perf_layout_t *l = &m->layout;
    unsigned char *to = l->input_in_receive ? m->receive : m->send;

    m->operations++;
    if (poison) {
        visit_output(m, poison_piece, NULL);
    }
    oc_perf_fill(&m->input, to + l->input_at * m->input.element, l->input,
                 l->input_first + m->operations);
}

typedef struct {
    int side, iteration;
} place_t;

static void tell(oc_perf_meter_t *m, const piece_t *piece, size_t wrong, const place_t *place)
{
    size_t element = m->result.element;
    char *text = m->wrong[place->side], got[64], expected[64];

    if ('\0' != text[0]) {
        return;
    }
    oc_perf_value_text(m->options->type, piece->data + wrong * element, got, sizeof(got));
    oc_perf_value_text(m->options->type, oc_perf_expected(piece->pattern, piece->first + wrong),
                       expected, sizeof(expected));
    snprintf(text, OC_PERF_ERROR_SIZE,
             "wrong result of %s%s, %" PRIu64 " bytes, iteration %d: rank %d, element %" PRIu64
             ": got %s, expected %s", oc_perf_collective_name(m->options->collective),
             OC_PERF_PREVIOUS == place->side ? " without coll/optcast" : "", m->row->bytes,
             place->iteration, m->job->rank, piece->at + wrong, got, expected);
}

static void check_piece(oc_perf_meter_t *m, const piece_t *piece, void *arg)
{
    const place_t *place = arg;
    size_t wrong = 0, count;

    count = oc_perf_count_wrong(piece->pattern, piece->data, piece->count, piece->first, &wrong);
    if (0 != count) {
        m->row->sides[place->side].wrong += count;
        tell(m, piece, wrong, place);
    }
}

void oc_perf_meter_check(oc_perf_meter_t *m, int side, int iteration)
{
    place_t place = {side, iteration};

    visit_output(m, check_piece, &place);
}
