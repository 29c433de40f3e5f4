/* SPDX-License-Identifier: BSD-3-Clause */
/* optcast-timeline: what happened to the chunks of reductions, from the files that ranks and
 * servers have written. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "tools/timeline/drawing.h"
#include "tools/timeline/timeline_records.h"
#include "tools/timeline/timeline_report.h"

typedef struct {
    const char *svg;
    bool chosen;               /* a sequence was */
    uint64_t sequence;
} options_t;

static const struct option known[] = {{"sequence", required_argument, NULL, 's'},
                                      {"svg", required_argument, NULL, 'o'},
                                      {"help", no_argument, NULL, 'h'},
                                      {"version", no_argument, NULL, 'v'},
                                      {0}};

static void usage(FILE *out)
{
    fprintf(out,
            "Usage: optcast-timeline [OPTION]... FILE...\n"
            "Says where the time of offloaded reductions goes, from the files that ranks\n"
            "(coll_optcast_timeline) and servers (--timeline) have written.\n\n"
            "  --sequence N   Also each chunk of the collectives with that sequence number.\n"
            "  --svg FILE     Draws a collective: that one, or the one of median duration.\n"
            "  --help, --version\n");
}

/* 0, or the exit status for people who only asked, or went wrong (3). */
static int parse(int argc, char **argv, options_t *options)
{
    char *end = NULL;
    int letter;

    while (-1 != (letter = getopt_long(argc, argv, "", known, NULL))) {
        switch (letter) {
        case 's':
            options->chosen = true;
            options->sequence = strtoull(optarg, &end, 10);
            if ('\0' == optarg[0] || '\0' != *end) {
                fprintf(stderr, "optcast-timeline: --sequence %s: a number is needed\n", optarg);
                return 3;
            }
            break;
        case 'o':
            options->svg = optarg;
            break;
        case 'h':
            usage(stdout);
            return 1;
        case 'v':
            printf("optcast-timeline %s\n", PACKAGE_VERSION);
            return 1;
        default:
            usage(stderr);
            return 3;
        }
    }
    if (optind == argc) {
        usage(stderr);
        return 3;
    }
    return 0;
}

static bool draw(const oc_collective_view_t *collective, const char *path)
{
    FILE *file = fopen(path, "w");
    bool written = false;

    if (NULL != file) {
        oc_drawing_write(collective, file);
        written = !ferror(file);
        written = 0 == fclose(file) && written;
    }
    if (!written) {
        fprintf(stderr, "optcast-timeline: cannot write %s: %s\n", path, strerror(errno));
    }
    return written;
}

static bool show(const oc_timelines_t *timelines, const options_t *options)
{
    const oc_collective_view_t *drawn = NULL;

    if (!oc_report_collectives(timelines, stdout)) {
        fprintf(stderr, "optcast-timeline: out of memory\n");
        return false;
    }
    for (unsigned i = 0; i < timelines->num_collectives && options->chosen; i++) {
        const oc_collective_view_t *collective = &timelines->collectives[i];

        if (collective->sequence == options->sequence) {
            drawn = NULL == drawn ? collective : drawn;
            printf("\nCollective %" PRIu64 " of group %" PRIu32 ":\n", collective->sequence,
                   collective->handle);
            oc_report_chunks(collective, stdout);
        }
    }
    drawn = options->chosen ? drawn : oc_report_typical(timelines);
    if (NULL == drawn && (options->chosen || NULL != options->svg)) {
        fprintf(stderr, "optcast-timeline: the files have no such collective\n");
        return false;
    }
    return NULL == options->svg || draw(drawn, options->svg);
}

int main(int argc, char **argv)
{
    options_t options = {NULL};
    oc_timelines_t timelines = {NULL};
    char error[512] = "out of memory";
    int status = parse(argc, argv, &options);
    bool good = true;

    if (0 != status) {
        return status - 1;
    }
    for (int i = optind; i < argc && good; i++) {
        good = oc_timelines_read(&timelines, argv[i], error, sizeof(error));
    }
    good = good && oc_timelines_arrange(&timelines);
    if (!good) {
        fprintf(stderr, "optcast-timeline: %s\n", error);
    }
    good = good && show(&timelines, &options);
    oc_timelines_free(&timelines);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
