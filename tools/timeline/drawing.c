/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank and each aggregator has a band, in which each chunk has a line; those of a rank are in
 * the order of aggregators. Colors change with what happens to the chunk.
 */
#include "tools/timeline/drawing.h"

#include <inttypes.h>

#define LEFT   90.0    /* pixels: names */
#define WIDTH  1000.0  /* the time of the collective */
#define BAND   110.0
#define GAP    14.0
#define TOP    70.0
#define RIGHT  20.0

typedef struct {
    const char *color, *text;
} phase_t;

static const phase_t of_ranks[] = {
    {"#f0b35a", "rank: posted, not sent"},
    {"#4a7ebb", "rank: sent, no result yet"},
};

static const phase_t of_aggregators[] = {
    {"#e4e4e4", "aggregator: admitted"},
    {"#b9a0d0", "some contributions"},
    {"#c00000", "reducing"},
    {"#5aa469", "sending results"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct {
    const oc_collective_view_t *collective;
    FILE *out;
    double scale;              /* pixels of a nanosecond */
} drawing_t;

static double x_of(const drawing_t *drawing, uint64_t time)
{
    return LEFT + (double) (int64_t) (time - drawing->collective->begin) * drawing->scale;
}

static void bar(const drawing_t *drawing, double y, double height, uint64_t from, uint64_t to,
                const char *color)
{
    double x = x_of(drawing, from), width = x_of(drawing, to) - x;

    fprintf(drawing->out, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='%s'/>\n", x, y,
            width > 0.2 ? width : 0.2, height, color);
}

static void bars(const drawing_t *drawing, double y, double height, const uint64_t *times,
                 const phase_t *phases, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        bar(drawing, y, height, times[i], times[i + 1], phases[i].color);
    }
}

static void name_band(const drawing_t *drawing, double y, const char *kind, unsigned number)
{
    fprintf(drawing->out, "<text x='%.0f' y='%.1f' text-anchor='end'>%s %u</text>\n", LEFT - 8,
            y + BAND / 2, kind, number);
    fprintf(drawing->out, "<rect x='%.0f' y='%.1f' width='%.0f' height='%.0f' fill='none' "
            "stroke='#cccccc'/>\n", LEFT, y, WIDTH, BAND);
}

static double band_of_rank(uint32_t rank)
{
    return TOP + rank * (BAND + GAP);
}

static double band_of_aggregator(const oc_collective_view_t *collective, uint32_t aggregator)
{
    return TOP + (collective->num_ranks + aggregator) * (BAND + GAP);
}

static void draw_chunks(const drawing_t *drawing)
{
    const oc_collective_view_t *collective = drawing->collective;
    unsigned most = (collective->num_chunks + collective->num_aggregators - 1)
                    / collective->num_aggregators;
    double line = BAND / collective->num_chunks, wide = BAND / most;

    for (unsigned c = 0; c < collective->num_chunks; c++) {
        const oc_chunk_view_t *chunk = &collective->chunks[c];
        const oc_timeline_record_t *key = &chunk->clients[0].record;

        for (unsigned i = 0; i < chunk->num_clients; i++) {
            const oc_timeline_record_t *r = &chunk->clients[i].record;

            bars(drawing, band_of_rank(r->first) + c * line, 0.9 * line, r->times, of_ranks,
                 COUNT(of_ranks));
        }
        if (NULL != chunk->server) {
            bars(drawing, band_of_aggregator(collective, key->aggregator)
                              + key->number % most * wide, 0.9 * wide,
                 chunk->server->record.times, of_aggregators, COUNT(of_aggregators));
        }
    }
}

static void draw_frame(const drawing_t *drawing)
{
    const oc_collective_view_t *collective = drawing->collective;

    for (unsigned rank = 0; rank < collective->num_ranks; rank++) {
        name_band(drawing, band_of_rank(rank), "rank", rank);
    }
    for (unsigned i = 0; i < collective->num_aggregators; i++) {
        name_band(drawing, band_of_aggregator(collective, i), "aggregator", i);
    }
}

/* Ten marks of a round number of nanoseconds. */
static void draw_axis(const drawing_t *drawing, double bottom)
{
    double total = WIDTH / drawing->scale, step = 1;

    while (step * 20 <= total) {
        step *= 10;
    }
    while (step * 10 < total) {
        step *= 2;
    }
    for (double t = 0; t <= total; t += step) {
        double x = LEFT + t * drawing->scale;

        fprintf(drawing->out, "<line x1='%.1f' y1='%.0f' x2='%.1f' y2='%.0f' stroke='#888888' "
                "stroke-width='0.4'/>\n<text x='%.1f' y='%.0f' text-anchor='middle'>%g ms</text>\n",
                x, TOP - 5, x, bottom, x, TOP - 9, t / 1e6);
    }
}

static void draw_legend(const drawing_t *drawing)
{
    double x = LEFT;

    for (unsigned i = 0; i < COUNT(of_ranks) + COUNT(of_aggregators); i++) {
        const phase_t *phase = i < COUNT(of_ranks) ? &of_ranks[i]
                                                   : &of_aggregators[i - COUNT(of_ranks)];

        fprintf(drawing->out, "<rect x='%.0f' y='30' width='12' height='12' fill='%s'/>"
                "<text x='%.0f' y='40'>%s</text>\n", x, phase->color, x + 16, phase->text);
        x += 170;
    }
}

void oc_drawing_write(const oc_collective_view_t *collective, FILE *out)
{
    double bottom = band_of_aggregator(collective, collective->num_aggregators) - GAP;
    uint64_t time = collective->end - collective->begin;
    drawing_t drawing = {collective, out, WIDTH / (double) (time > 0 ? time : 1)};

    fprintf(out, "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
            "font-family='sans-serif' font-size='11'>\n<rect width='100%%' height='100%%' "
            "fill='#ffffff'/>\n", LEFT + WIDTH + RIGHT, bottom + GAP);
    fprintf(out, "<text x='%.0f' y='18' font-size='13'>%s %" PRIu64 " of group %" PRIu32
            ": %u chunks of up to %u bytes, %.2f ms</text>\n", LEFT, collective->name,
            collective->sequence, collective->handle, collective->num_chunks, collective->largest,
            (double) time / 1e6);
    draw_legend(&drawing);
    draw_axis(&drawing, bottom);
    draw_chunks(&drawing);
    draw_frame(&drawing);
    fprintf(out, "</svg>\n");
}
