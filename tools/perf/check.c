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

typedef void (*visit_t)(oc_perf_part_t *part, const piece_t *piece, void *arg);

static void visit(oc_perf_part_t *part, visit_t each, void *arg, uint64_t at, uint64_t count,
                  uint64_t first)
{
    piece_t piece = {&part->result, part->receive + at * part->result.element, at, count,
                     first + part->operation};

    each(part, &piece, arg);
}

/* Reductions have one pattern, made before; what is only moved has one for each rank it is of. */
static void visit_output(oc_perf_part_t *part, visit_t each, void *arg)
{
    const oc_perf_options_t *options = &part->options;
    uint64_t total = part->layout.total;

    if (OC_PERF_ALLGATHER != options->collective && OC_PERF_ALLGATHERV != options->collective) {
        visit(part, each, arg, 0, part->layout.output, part->layout.output_first);
        return;
    }
    for (unsigned rank = 0; rank < part->ranks; rank++) {
        uint64_t first = oc_perf_block_first(options, total, rank, part->ranks);

        oc_perf_pattern_input(&part->result, options->type, OC_PERF_OP_END, rank, part->ranks);
        visit(part, each, arg, first, oc_perf_block_count(options, total, rank, part->ranks),
              first);
    }
}

static void poison_piece(oc_perf_part_t *part, const piece_t *piece, void *arg)
{
    (void) part;
    (void) arg;
    oc_perf_poison(piece->pattern, piece->data, piece->count, piece->first);
}

static void prepare_part(oc_perf_part_t *part, bool poison)
{
    const oc_perf_layout_t *l = &part->layout;
    unsigned char *to = l->input_in_receive ? part->receive : part->send;

    if (poison) {
        visit_output(part, poison_piece, NULL);
    }
    oc_perf_fill(&part->input, to + l->input_at * part->input.element, l->input,
                 l->input_first + part->operation);
}

void oc_perf_meter_prepare(oc_perf_meter_t *m, bool poison)
{
    for (int i = 0; i < m->num_parts; i++) {
        m->parts[i].operation = ++m->operations;
        prepare_part(&m->parts[i], poison);
    }
}

typedef struct {
    oc_perf_meter_t *meter;
    int side, iteration;
} place_t;

static void tell(const oc_perf_part_t *part, const piece_t *piece, size_t wrong,
                 const place_t *place)
{
    const oc_perf_meter_t *m = place->meter;
    oc_perf_type_t type = part->options.type;
    size_t element = part->result.element;
    char *text = place->meter->wrong[place->side], got[64], expected[64], which[48] = "";

    if ('\0' != text[0]) {
        return;
    }
    if (m->options->stream > 1) {
        snprintf(which, sizeof(which), ", operation %d of %d", (int) (part - m->parts) + 1,
                 m->options->stream);
    }
    oc_perf_value_text(type, piece->data + wrong * element, got, sizeof(got));
    oc_perf_value_text(type, oc_perf_expected(piece->pattern, piece->first + wrong), expected,
                       sizeof(expected));
    snprintf(text, OC_PERF_ERROR_SIZE,
             "wrong result of %s%s, %" PRIu64 " bytes, iteration %d%s: rank %d, element %"
             PRIu64 ": got %s, expected %s", oc_perf_collective_name(part->options.collective),
             OC_PERF_PREVIOUS == place->side ? " without coll/optcast" : "", m->row->bytes,
             place->iteration, which, m->job->rank, piece->at + wrong, got, expected);
}

static void check_piece(oc_perf_part_t *part, const piece_t *piece, void *arg)
{
    const place_t *place = arg;
    size_t wrong = 0, count;

    count = oc_perf_count_wrong(piece->pattern, piece->data, piece->count, piece->first, &wrong);
    if (0 != count) {
        place->meter->row->sides[place->side].wrong += count;
        tell(part, piece, wrong, place);
    }
}

void oc_perf_meter_check(oc_perf_meter_t *m, int side, int iteration)
{
    place_t place = {m, side, iteration};

    for (int i = 0; i < m->num_parts; i++) {
        visit_output(&m->parts[i], check_piece, &place);
    }
}
