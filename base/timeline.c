/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of records, and the file: text, so that people can look into it, too. */
#include "base/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/log.h"

struct oc_timeline {
    char *path, *name;
    oc_timeline_kind_t kind;
    uint64_t added;
    oc_timeline_record_t records[OC_TIMELINE_RECORDS];
};

static void timeline_free(oc_timeline_t *timeline)
{
    free(timeline->path);
    free(timeline->name);
    free(timeline);
}

oc_timeline_t *oc_timeline_open(const char *prefix, const char *name, oc_timeline_kind_t kind)
{
    oc_timeline_t *timeline;

    if (NULL == prefix || '\0' == prefix[0]) {
        return NULL;
    }
    timeline = calloc(1, sizeof(*timeline));
    if (NULL != timeline) {
        timeline->kind = kind;
        timeline->name = strdup(name);
        if (NULL != timeline->name
            && asprintf(&timeline->path, "%s-%s.timeline", prefix, name) > 0) {
            return timeline;
        }
        timeline->path = NULL;
        timeline_free(timeline);
    }
    oc_warn("there will be no timeline of %s: out of memory", name);
    return NULL;
}

void oc_timeline_add(oc_timeline_t *timeline, const oc_timeline_record_t *record)
{
    if (NULL != timeline) {
        timeline->records[timeline->added++ % OC_TIMELINE_RECORDS] = *record;
    }
}

static void print_record(FILE *file, const oc_timeline_record_t *record, bool client)
{
    unsigned times = client ? 1 + OC_CLIENT_RESULT : 1 + OC_SERVER_SENT;

    fprintf(file, "%" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32
            " %" PRIu32, record->handle, record->aggregator, record->sequence, record->number,
            record->bytes, record->first, record->last);
    for (unsigned i = 0; i < times; i++) {
        fprintf(file, " %" PRIu64, record->times[i]);
    }
    fprintf(file, "%s%s\n", client ? " " : "", client ? oc_ruled_name(record->collective) : "");
}

/* Of processes with the same word, clocks show the same time. */
static void read_clock(char word[64])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (NULL == file || 1 != fscanf(file, "%63s", word)) {
        strcpy(word, "unknown");
    }
    if (NULL != file) {
        fclose(file);
    }
}

static void print(FILE *file, const oc_timeline_t *timeline)
{
    bool client = OC_TIMELINE_CLIENT == timeline->kind;
    char clock[64];
    uint64_t kept = timeline->added < OC_TIMELINE_RECORDS ? timeline->added : OC_TIMELINE_RECORDS;

    read_clock(clock);
    fprintf(file, "optcast-timeline 2 %s %s %s\n", client ? "client" : "server", timeline->name,
            clock);
    fprintf(file, "# %" PRIu64 " older records were dropped\n", timeline->added - kept);
    fprintf(file, "# handle aggregator sequence chunk bytes first-rank last-rank %s\n",
            client ? "posted sent result collective" : "admitted first last reduced sent");
    for (uint64_t i = timeline->added - kept; i < timeline->added; i++) {
        print_record(file, &timeline->records[i % OC_TIMELINE_RECORDS], client);
    }
}

/*
 * A new file under a name that nobody knows: the folder may be everybody's, such as /tmp, where a
 * link of another user would lead to a file of this one's.
 */
static FILE *open_new(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644), saved;
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

    if (fd >= 0 && NULL == file) {
        saved = errno;
        close(fd);
        (void) unlink(name);
        errno = saved;
    }
    return file;
}

/* It gets its name when it is whole, in place of that of an earlier run or whatever is there. */
static bool write_and_rename(const oc_timeline_t *timeline, const char *name)
{
    FILE *file = open_new(name);
    bool written;
    int saved;

    if (NULL == file) {
        return false;
    }
    print(file, timeline);
    written = !ferror(file);
    written = 0 == fclose(file) && written && 0 == rename(name, timeline->path);
    if (!written) {
        saved = errno;
        (void) unlink(name);
        errno = saved;
    }
    return written;
}

static void write_file(const oc_timeline_t *timeline)
{
    char *name = malloc(strlen(timeline->path) + sizeof(".0123456789abcdef"));
    uint64_t random;
    bool written = false;

    if (NULL != name && sizeof(random) == getrandom(&random, sizeof(random), 0)) {
        sprintf(name, "%s.%016" PRIx64, timeline->path, random);
        written = write_and_rename(timeline, name);
    }
    if (!written) {
        oc_warn("cannot write the timeline %s: %s; it is a new file, which takes the place of what "
                "is there, so the folder has to be there and to allow that", timeline->path,
                strerror(errno));
    }
    free(name);
}

void oc_timeline_close(oc_timeline_t *timeline)
{
    if (NULL != timeline) {
        if (timeline->added > 0) {
            write_file(timeline);
        }
        timeline_free(timeline);
    }
}
