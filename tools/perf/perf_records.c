/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing JSON and CSV. What is not known is null, or empty. */
#include "tools/perf/perf_records.h"

#include <inttypes.h>

/* ---- JSON ---- */

static void put_string(FILE *out, const char *text)
{
    if (NULL == text) {
        fputs("null", out);
        return;
    }
    putc('"', out);
    for (; '\0' != *text; text++) {
        if ('"' == *text || '\\' == *text) {
            fprintf(out, "\\%c", *text);
        } else if ((unsigned char) *text < ' ') {
            fprintf(out, "\\u%04x", (unsigned) *text);
        } else {
            putc(*text, out);
        }
    }
    putc('"', out);
}

/* "null": there is none. */
static void put_number(FILE *out, bool known, int number)
{
    if (known) {
        fprintf(out, "%d", number);
    } else {
        fputs("null", out);
    }
}

static void put_settings(FILE *out, const oc_perf_component_t *component)
{
    fputs("{", out);
    for (int i = 0; i < component->num_settings; i++) {
        const oc_perf_setting_t *setting = &component->settings[i];

        fprintf(out, "%s\n    ", 0 == i ? "" : ",");
        put_string(out, setting->name);
        fputs(": ", out);
        if (setting->is_number) {
            fputs(setting->value, out);
        } else {
            put_string(out, setting->value);
        }
    }
    fputs("}", out);
}

static void put_seconds(FILE *out, const char *name, const double *seconds, int iterations)
{
    fprintf(out, "\"%s\": [", name);
    for (int i = 0; i < iterations; i++) {
        fprintf(out, "%s%.9g", 0 == i ? "" : ", ", seconds[i]);
    }
    fputs("]", out);
}

static void put_computed(FILE *out, const oc_perf_facts_t *facts, const oc_perf_side_t *side,
                         int iterations)
{
    if (!facts->options->compute) {
        fputs(",\n     \"alone\": null, \"beside\": null, \"alone_median_s\": null, "
              "\"beside_median_s\": null, \"slowdown\": null", out);
        return;
    }
    fputs(",\n     ", out);
    put_seconds(out, "alone", side->alone, iterations);
    fputs(",\n     ", out);
    put_seconds(out, "beside", side->beside, iterations);
    fprintf(out, ",\n     \"alone_median_s\": %.9g, \"beside_median_s\": %.9g, \"slowdown\": %.9g",
            side->alone_median, side->beside_median, side->slowdown);
}

static void put_overlap(FILE *out, const oc_perf_facts_t *facts, const oc_perf_side_t *side,
                        int iterations)
{
    if (0 == facts->options->overlap) {
        fputs("\"own\": null, \"own_median_s\": null, \"hidden\": null", out);
    } else {
        put_seconds(out, "own", side->own, iterations);
        fprintf(out, ", \"own_median_s\": %.9g, \"hidden\": %.9g", side->own_median, side->hidden);
    }
    put_computed(out, facts, side, iterations);
}

static void put_times(FILE *out, const oc_perf_side_t *side, int iterations)
{
    put_seconds(out, "seconds", side->seconds, iterations);
    fprintf(out, ",\n     \"median_s\": %.9g, \"min_s\": %.9g, \"max_s\": %.9g, \"processor_s\": %.9g, "
            "\"threads_s\": %.9g", side->median, side->min, side->max, side->processor,
            side->threads);
}

static void put_wrong(FILE *out, const oc_perf_facts_t *facts, const oc_perf_side_t *side)
{
    if (facts->options->check) {
        fprintf(out, "\"wrong\": %" PRIu64, side->wrong);
    } else {
        fputs("\"wrong\": null", out);
    }
}

static void put_counters(FILE *out, const oc_perf_facts_t *facts, const oc_perf_side_t *side)
{
    const oc_perf_counters_t *c = &side->counters;

    if (facts->component->present) {
        fprintf(out, "\"offloaded\": %" PRIu64 ", \"fallbacks\": %" PRIu64 ", \"bytes_sent\": %"
                PRIu64 ", \"bytes_received\": %" PRIu64 ", \"helper_wakes\": %" PRIu64,
                c->offloaded, c->fallbacks, c->bytes_sent, c->bytes_received, c->helper_wakes);
    } else {
        fputs("\"offloaded\": null, \"fallbacks\": null, \"bytes_sent\": null, "
              "\"bytes_received\": null, \"helper_wakes\": null", out);
    }
}

static void put_wire(FILE *out, const oc_perf_side_t *side)
{
    const oc_perf_wire_use_t *use = &side->wire;

    if (use->known) {
        fprintf(out, "\"wire\": {\"tx_max\": %.1f, \"rx_max\": %.1f, \"tx_sum\": %.1f, "
                "\"rx_sum\": %.1f, \"hosts\": %d}", use->sent_max, use->received_max,
                use->sent_sum, use->received_sum, use->hosts);
    } else {
        fputs("\"wire\": null", out);
    }
}

static void put_side(FILE *out, const oc_perf_facts_t *facts, const oc_perf_side_t *side,
                     int iterations)
{
    put_times(out, side, iterations);
    fputs(",\n     ", out);
    put_overlap(out, facts, side, iterations);
    fputs(",\n     ", out);
    put_wrong(out, facts, side);
    fputs(", ", out);
    put_counters(out, facts, side);
    fputs(",\n     ", out);
    put_wire(out, side);
}

static void put_row(FILE *out, const oc_perf_facts_t *facts, const oc_perf_row_t *row)
{
    fprintf(out, "\n    {\"bytes\": %" PRIu64 ", \"count\": %" PRIu64 ", \"type\": ", row->bytes,
            row->count);
    put_string(out, oc_perf_facts_type(facts));
    fputs(", \"op\": ", out);
    put_string(out, oc_perf_facts_op(facts));
    fprintf(out, ", \"iterations\": %d", row->iterations);
    fprintf(out, ",\n     \"algbw_GBps\": %.9g, \"busbw_GBps\": %.9g,\n     ",
            oc_perf_algbw(facts, row), oc_perf_busbw(facts, row));
    put_side(out, facts, &row->sides[OC_PERF_OURS], row->iterations);
    if (facts->options->compare) {
        fprintf(out, ",\n     \"previous\": {\"ratio\": %.9g,\n     ", oc_perf_ratio(row));
        put_side(out, facts, &row->sides[OC_PERF_PREVIOUS], row->iterations);
        fputs("}}", out);
    } else {
        fputs(",\n     \"previous\": null}", out);
    }
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

void oc_perf_write_json(FILE *out, const oc_perf_facts_t *facts, const oc_perf_row_t *rows,
                        size_t count)
{
    const oc_perf_options_t *o = facts->options;
    bool has_root = oc_perf_has_root(o->collective) || (o->pair && oc_perf_has_root(o->second));
    char name[64];

    oc_perf_options_name(o, name, sizeof(name));
    fputs("{\n  \"version\": ", out);
    put_string(out, facts->version);
    fputs(",\n  \"mpi\": ", out);
    put_string(out, facts->mpi);
    fprintf(out, ",\n  \"ranks\": %d, \"hosts\": %d, \"ranks_per_host\": %d,\n  \"collective\": ",
            facts->job->ranks, facts->job->hosts, facts->job->ranks_per_host);
    put_string(out, name);
    fprintf(out, ",\n  \"same_communicator\": %s, \"stream\": %d, \"nonblocking\": %s, \"in_place\": %s, "
            "\"root\": ", truth(o->same_communicator), o->stream, truth(o->nonblocking),
            truth(o->in_place));
    put_number(out, has_root, o->root);
    fputs(", \"first\": ", out);
    put_number(out, o->first >= 0, o->first);
    fputs(", \"overlap_ms\": ", out);
    put_number(out, o->overlap > 0, o->overlap);
    fprintf(out, ", \"compute\": %s, \"test_us\": ", truth(o->compute));
    put_number(out, o->test_every > 0, o->test_every);
    fprintf(out, ",\n  \"iterations\": %d, \"warmup\": %d,\n  \"settings\": ", o->iterations,
            o->warmup);
    put_settings(out, facts->component);
    fputs(",\n  \"rows\": [", out);
    for (size_t i = 0; i < count; i++) {
        fputs(0 == i ? "" : ",", out);
        put_row(out, facts, &rows[i]);
    }
    fputs("]\n}\n", out);
}

/* ---- CSV ---- */

static void csv_overlap(FILE *out, const oc_perf_options_t *o, const oc_perf_side_t *side)
{
    if (o->overlap > 0) {
        fprintf(out, "%.9g,%.9g,", side->own_median, side->hidden);
    } else {
        fputs(",,", out);
    }
    if (o->compute) {
        fprintf(out, "%.9g,%.9g,", side->alone_median, side->slowdown);
    } else {
        fputs(",,", out);
    }
    fprintf(out, "%.9g,", side->threads);
}

static void csv_side(FILE *out, const oc_perf_facts_t *facts, const oc_perf_side_t *side)
{
    const oc_perf_counters_t *c = &side->counters;

    fprintf(out, ",%.9g,%.9g,%.9g,", side->median, side->min, side->max);
    csv_overlap(out, facts->options, side);
    if (facts->options->check) {
        fprintf(out, "%" PRIu64, side->wrong);
    }
    if (facts->component->present) {
        fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, c->offloaded,
                c->fallbacks, c->bytes_sent, c->bytes_received, c->helper_wakes);
    } else {
        fputs(",,,,,", out);
    }
    if (side->wire.known) {
        fprintf(out, ",%.1f,%.1f,%.1f,%.1f", side->wire.sent_max, side->wire.received_max,
                side->wire.sent_sum, side->wire.received_sum);
    } else {
        fputs(",,,,", out);
    }
}

static void csv_row(FILE *out, const oc_perf_facts_t *facts, const oc_perf_row_t *row)
{
    const oc_perf_options_t *o = facts->options;
    const char *type = oc_perf_facts_type(facts), *op = oc_perf_facts_op(facts);
    char name[64];

    oc_perf_options_name(o, name, sizeof(name));
    fprintf(out, "%s,%d,%d,%d,%d,%" PRIu64 ",%" PRIu64 ",%s,%s,%.9g,%.9g",
            name, o->nonblocking, o->in_place, facts->job->ranks,
            facts->job->hosts, row->bytes, row->count, NULL != type ? type : "",
            NULL != op ? op : "", oc_perf_algbw(facts, row), oc_perf_busbw(facts, row));
    csv_side(out, facts, &row->sides[OC_PERF_OURS]);
    if (o->compare) {
        fprintf(out, ",%.9g", oc_perf_ratio(row));
        csv_side(out, facts, &row->sides[OC_PERF_PREVIOUS]);
    } else {
        fputs(",,,,,,,,,,,,,,,,,,,", out);
    }
    fprintf(out, ",%d\n", o->stream);
}

static void csv_names(FILE *out, const char *prefix)
{
    static const char *const names[] = {
        "median_s", "min_s", "max_s", "own_median_s", "hidden", "alone_median_s",
        "slowdown", "threads_s", "wrong", "offloaded", "fallbacks", "bytes_sent",
        "bytes_received", "helper_wakes", "tx_max", "rx_max", "tx_sum", "rx_sum"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        fprintf(out, ",%s%s", prefix, names[i]);
    }
}

void oc_perf_write_csv(FILE *out, const oc_perf_facts_t *facts, const oc_perf_row_t *rows,
                       size_t count)
{
    fputs("collective,nonblocking,in_place,ranks,hosts,bytes,count,type,op,algbw_GBps,busbw_GBps",
          out);
    csv_names(out, "");
    fputs(",ratio", out);
    csv_names(out, "previous_");
    fputs(",stream\n", out);
    for (size_t i = 0; i < count; i++) {
        csv_row(out, facts, &rows[i]);
    }
}
