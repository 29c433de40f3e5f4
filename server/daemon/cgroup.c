/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cgroup that has children with controllers may have no processes of its own, so the supervisor
 * has to leave it before the memory controller can be switched on for its children.
 *
 * Whether it is delegated shows by the right to write there; root has that everywhere, so for root
 * the mark that systemd sets on delegated cgroups counts.
 */
#include "server/daemon/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "server/daemon/cgroup_text.h"

#define SUPERVISOR "supervisor"
#define PROCESSES  "cgroup.procs"

/* Of a child: nobody makes as many. */
#define LAST_NUMBER (1ull << 60)

/* What a reason is written to. */
typedef struct {
    char *text;
    size_t size;
} reason_t;

static bool because(const reason_t *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool because(const reason_t *reason, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(reason->text, reason->size, format, args);
    va_end(args);
    return false;
}

bool oc_cgroup_read(int folder, const char *name, char *text, size_t size)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got = 1;

    while (fd >= 0 && got > 0 && length < size - 1) {
        got = read(fd, text + length, size - 1 - length);
        length += got > 0 ? (size_t) got : 0;
    }
    if (fd >= 0) {
        int error = errno;

        close(fd);
        errno = error;
    }
    text[length] = '\0';
    return fd >= 0 && got >= 0;
}

bool oc_cgroup_write(int folder, const char *name, const char *text)
{
    /* kernels that can do so leave it to the cgroup then to take memory back */
    int fd = openat(folder, name, O_WRONLY | O_NONBLOCK | O_CLOEXEC), error;
    ssize_t written;

    if (fd < 0) {
        return false;
    }
    written = write(fd, text, strlen(text));
    error = errno;
    close(fd);
    errno = error;
    return written == (ssize_t) strlen(text);
}

/* Where this process is. */
static bool find_folder(char *folder, size_t size, const reason_t *reason)
{
    FILE *own = fopen("/proc/self/cgroup", "re"), *mounts = fopen("/proc/self/mountinfo", "re");
    char path[PATH_MAX];
    bool found = NULL != own && oc_cgroup_read_path(own, path, sizeof(path));

    if (!found) {
        (void) because(reason, "this process is in no cgroup of version 2");
    } else if (NULL == mounts || !oc_cgroup_read_folder(mounts, path, folder, size)) {
        found = because(reason, "no cgroup of version 2 is mounted that has %s", path);
    }
    if (NULL != own) {
        fclose(own);
    }
    if (NULL != mounts) {
        fclose(mounts);
    }
    return found;
}

static bool is_marked(const char *path)
{
    static const char *const marks[] = {"user.delegate", "trusted.delegate"};
    char value[4];

    for (unsigned i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (1 == getxattr(path, marks[i], value, sizeof(value)) && '1' == value[0]) {
            return true;
        }
    }
    return false;
}

/* cgroup: what would be it. */
static bool is_delegated(const oc_cgroup_t *cgroup, const reason_t *reason)
{
    char controllers[1024];

    if (!oc_cgroup_read(cgroup->folder, "cgroup.controllers", controllers, sizeof(controllers))) {
        return because(reason, "%s/cgroup.controllers cannot be read: %s", cgroup->path,
                       strerror(errno));
    }
    if (!oc_cgroup_has_word(controllers, "memory")) {
        return because(reason, "%s/cgroup.controllers does not name memory: it is not delegated, "
                       "or belongs to cgroups of version 1", cgroup->path);
    }
    if (0 != faccessat(cgroup->folder, PROCESSES, W_OK, AT_EACCESS)) {
        return because(reason, "%s is not delegated to the server: " PROCESSES " cannot be "
                       "written: %s", cgroup->path, strerror(errno));
    }
    if (0 == geteuid() && !is_marked(cgroup->path)) {
        return because(reason, "%s has no attribute user.delegate or trusted.delegate, which says "
                       "that it may be used: it is needed since this is root", cgroup->path);
    }
    return true;
}

static bool is_alone(const oc_cgroup_t *cgroup, const char *list, const reason_t *reason)
{
    char processes[64], own[32];

    if (!oc_cgroup_read(cgroup->folder, list, processes, sizeof(processes))) {
        return because(reason, "%s/%s cannot be read: %s", cgroup->path, list, strerror(errno));
    }
    snprintf(own, sizeof(own), "%d\n", (int) getpid());
    return 0 == strcmp(own, processes)
           || because(reason, "there are other processes in %s/%s", cgroup->path, list);
}

static bool cannot_write(const oc_cgroup_t *cgroup, const char *name, const reason_t *reason)
{
    return because(reason, "%s/%s cannot be written: %s", cgroup->path, name, strerror(errno));
}

static bool cgroup_move(const oc_cgroup_t *cgroup, const reason_t *reason)
{
    if (0 != mkdirat(cgroup->folder, SUPERVISOR, 0755) && EEXIST != errno) {
        return because(reason, "%s is not delegated to the server: %s", cgroup->path,
                       strerror(errno));
    }
    if (!oc_cgroup_write(cgroup->folder, SUPERVISOR "/" PROCESSES, "0")) {
        (void) cannot_write(cgroup, SUPERVISOR "/" PROCESSES, reason);
        (void) unlinkat(cgroup->folder, SUPERVISOR, AT_REMOVEDIR);
        return false;
    }
    return true;
}

static void move_back(const oc_cgroup_t *cgroup)
{
    if (oc_cgroup_write(cgroup->folder, PROCESSES, "0")) {
        (void) unlinkat(cgroup->folder, SUPERVISOR, AT_REMOVEDIR);
    }
}

/* systemd may have put this process into the child already (DelegateSubgroup=): the path above. */
static bool leave_supervisor(char *path)
{
    char *last = strrchr(path, '/');

    if (NULL == last || last == path || 0 != strcmp(last + 1, SUPERVISOR)) {
        return false;
    }
    *last = '\0';
    return true;
}

/* 0: it is no child for a data process. */
static unsigned long long cgroup_number_of(const char *name)
{
    char *end;
    unsigned long long number;

    if (0 != strncmp(name, OC_CGROUP_JOB, strlen(OC_CGROUP_JOB))) {
        return 0;
    }
    name += strlen(OC_CGROUP_JOB);
    number = strtoull(name, &end, 10);
    return name[0] >= '0' && name[0] <= '9' && '\0' == *end ? number : 0;
}

/* Of those up to this number: the last one that cannot be removed; 0: there is none. */
static unsigned long long remove_until(const oc_cgroup_t *cgroup, unsigned long long last)
{
    unsigned long long left = 0, number;
    DIR *folder = opendir(cgroup->path);
    struct dirent *entry;

    while (NULL != folder && NULL != (entry = readdir(folder))) {
        number = cgroup_number_of(entry->d_name);
        if (0 != number && number <= last
            && 0 != unlinkat(cgroup->folder, entry->d_name, AT_REMOVEDIR)) {
            left = number > left ? number : left;
        }
    }
    if (NULL != folder) {
        closedir(folder);
    }
    return left;
}

void oc_cgroup_sweep(oc_cgroup_t *cgroup)
{
    if (0 != cgroup->left) {
        cgroup->left = remove_until(cgroup, cgroup->left);
    }
}

static bool open_folder(oc_cgroup_t *cgroup, const reason_t *reason)
{
    cgroup->folder = open(cgroup->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return cgroup->folder >= 0
           || because(reason, "%s cannot be opened: %s", cgroup->path, strerror(errno));
}

static bool cgroup_take(oc_cgroup_t *cgroup, const reason_t *reason)
{
    bool is_there;

    if (!find_folder(cgroup->path, sizeof(cgroup->path), reason)) {
        return false;
    }
    is_there = leave_supervisor(cgroup->path);
    if (!open_folder(cgroup, reason) || !is_delegated(cgroup, reason)
        || !is_alone(cgroup, is_there ? SUPERVISOR "/" PROCESSES : PROCESSES, reason)
        || !(is_there || cgroup_move(cgroup, reason))) {
        return false;
    }
    if (!oc_cgroup_write(cgroup->folder, "cgroup.subtree_control", "+memory")) {
        (void) cannot_write(cgroup, "cgroup.subtree_control", reason);
        if (!is_there) {
            move_back(cgroup);
        }
        return false;
    }
    cgroup->number = cgroup->left = remove_until(cgroup, LAST_NUMBER);
    return true;
}

bool oc_cgroup_open(oc_cgroup_t *cgroup, char *reason, size_t reason_size)
{
    *cgroup = (oc_cgroup_t) {.folder = -1};
    if (cgroup_take(cgroup, &(reason_t) {reason, reason_size})) {
        return true;
    }
    oc_cgroup_close(cgroup);
    return false;
}

void oc_cgroup_close(oc_cgroup_t *cgroup)
{
    if (cgroup->folder >= 0) {
        close(cgroup->folder);
        cgroup->folder = -1;
    }
}
