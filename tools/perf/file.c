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

static mode_t new_rights(void)
{
    mode_t mask = umask(0);

    (void) umask(mask);
    return 0666 & ~mask;
}

/* With the rights that the file has, or that a new one of this user gets. */
static int open_beside(oc_perf_file_t *file, const struct stat *info)
{
    int fd;

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
        (void) fchmod(fd, NULL != info ? info->st_mode & 0777 : new_rights());
    }
    return fd;
}

bool oc_perf_file_open(oc_perf_file_t *file, const char *path, char *error, size_t size)
{
    struct stat info;
    bool exists;
    int fd;

    *file = (oc_perf_file_t) {.path = path};
    if (NULL == path) {
        return true;
    }
    exists = 0 == stat(path, &info);
    if (exists && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return fails(file, error, size);
    }
    if (exists && !S_ISREG(info.st_mode)) {
        file->out = fopen(path, "w");
    } else {
        fd = open_beside(file, exists ? &info : NULL);
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
