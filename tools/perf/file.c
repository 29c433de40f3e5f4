/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing beside a file and renaming. */
#include "tools/perf/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fails(const oc_perf_file_t *file, char *error, size_t size)
{
    snprintf(error, size, "%s cannot be written: %s: name another file, or free space for it",
             file->path, strerror(errno));
    return false;
}

/* With the rights that a new file of this user gets. */
static int open_beside(oc_perf_file_t *file)
{
    mode_t mask = umask(0);
    int fd;

    (void) umask(mask);
    if (snprintf(file->temporary, sizeof(file->temporary), "%s.XXXXXX", file->path)
        >= (int) sizeof(file->temporary)) {
        file->temporary[0] = '\0';
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkstemp(file->temporary);
    if (fd < 0) {
        file->temporary[0] = '\0';
    } else {
        (void) fchmod(fd, 0666 & ~mask);
    }
    return fd;
}

bool oc_perf_file_open(oc_perf_file_t *file, const char *path, char *error, size_t size)
{
    struct stat info;
    int fd;

    *file = (oc_perf_file_t) {.path = path};
    if (NULL == path) {
        return true;
    }
    if (0 == stat(path, &info) && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return fails(file, error, size);
    }
    if (0 == stat(path, &info) && !S_ISREG(info.st_mode)) {
        file->out = fopen(path, "w");
    } else {
        fd = open_beside(file);
        file->out = fd < 0 ? NULL : fdopen(fd, "w");
    }
    return NULL != file->out || fails(file, error, size);
}

bool oc_perf_file_commit(oc_perf_file_t *file, char *error, size_t size)
{
    bool good;

    if (NULL == file->out) {
        return true;
    }
    good = !ferror(file->out);
    good = 0 == fclose(file->out) && good;
    file->out = NULL;
    if (good && '\0' != file->temporary[0]) {
        good = 0 == rename(file->temporary, file->path);
    }
    if (good) {
        return true;
    }
    fails(file, error, size);
    if ('\0' != file->temporary[0]) {
        (void) unlink(file->temporary);
    }
    return false;
}

void oc_perf_file_discard(oc_perf_file_t *file)
{
    if (NULL == file->out) {
        return;
    }
    (void) fclose(file->out);
    file->out = NULL;
    if ('\0' != file->temporary[0]) {
        (void) unlink(file->temporary);
    }
}
