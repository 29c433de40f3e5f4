/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A segment is a memfd, which others open through /proc: the kernel lets only those do so who may
 * look into the process anyway. A page before the memory holds a random token, because process
 * and descriptor numbers are used again.
 */
#include "node/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/wire.h"

#define TOKEN_SIZE 16
#define SEALS      (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

typedef struct {
    uint32_t process, descriptor;
    uint64_t size;               /* without the page in front */
    uint8_t token[TOKEN_SIZE];
} segment_name_t;

struct oc_segment {
    segment_name_t name;
    int fd;                      /* of the maker; -1 else */
    uint8_t *pages;
};

static size_t segment_page_size(void)
{
    return (size_t) sysconf(_SC_PAGESIZE);
}

static oc_status_t failed(oc_status_t status, const char *what, char *error, size_t error_size)
{
    snprintf(error, error_size, "%s: %s", what, strerror(errno));
    return status;
}

static oc_status_t segment_map(oc_segment_t *segment, int fd)
{
    segment->pages = mmap(NULL, segment_page_size() + segment->name.size, PROT_READ | PROT_WRITE,
                          MAP_SHARED, fd, 0);
    if (MAP_FAILED == segment->pages) {
        segment->pages = NULL;
        return OC_ERR_NO_MEMORY;
    }
    return OC_OK;
}

static oc_status_t segment_make(oc_segment_t *segment, char *error, size_t error_size)
{
    segment_name_t *name = &segment->name;
    size_t most = (size_t) INT64_MAX - segment_page_size();

    segment->fd = oc_fd_make(memfd_create("optcast", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (segment->fd < 0) {
        return failed(OC_ERR_SYSTEM, "no memory can be shared, memfd_create", error, error_size);
    }
    if (name->size > most || 0 != ftruncate(segment->fd, (off_t) (segment_page_size() + name->size))
        || OC_OK != segment_map(segment, segment->fd)) {
        snprintf(error, error_size, "no %llu bytes can be shared: %s",
                 (unsigned long long) name->size, strerror(name->size > most ? EFBIG : errno));
        return OC_ERR_NO_MEMORY;
    }
    if (0 != fcntl(segment->fd, F_ADD_SEALS, SEALS)) {
        return failed(OC_ERR_SYSTEM, "shared memory cannot be sealed", error, error_size);
    }
    name->process = (uint32_t) getpid();
    name->descriptor = (uint32_t) segment->fd;
    if (TOKEN_SIZE != getrandom(name->token, TOKEN_SIZE, 0)) {
        return failed(OC_ERR_SYSTEM, "no random numbers", error, error_size);
    }
    memcpy(segment->pages, name->token, TOKEN_SIZE);
    return OC_OK;
}

static oc_segment_t *segment_new(void)
{
    oc_segment_t *segment = calloc(1, sizeof(*segment));

    if (NULL != segment) {
        segment->fd = -1;
    }
    return segment;
}

oc_status_t oc_segment_create(size_t size, oc_segment_t **result, char *error, size_t error_size)
{
    oc_segment_t *segment = segment_new();
    oc_status_t status;

    if (NULL == segment) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    segment->name.size = size;
    status = segment_make(segment, error, error_size);
    if (OC_OK != status) {
        oc_segment_close(segment);
        return status;
    }
    *result = segment;
    return OC_OK;
}

static bool name_decode(const uint8_t bytes[OC_SEGMENT_NAME_SIZE], segment_name_t *name)
{
    oc_reader_t r = {.at = bytes, .end = bytes + OC_SEGMENT_NAME_SIZE};

    name->process = (uint32_t) oc_get(&r, 4);
    name->descriptor = (uint32_t) oc_get(&r, 4);
    name->size = oc_get(&r, 8);
    memcpy(name->token, oc_get_bytes(&r, TOKEN_SIZE), TOKEN_SIZE);
    return name->size > 0 && name->size <= (uint64_t) INT64_MAX - segment_page_size();
}

/* Only what can neither be taken away nor do anything when it is opened. */
static bool is_segment(int fd, uint64_t size)
{
    struct stat status;

    return 0 == fstat(fd, &status) && S_ISREG(status.st_mode)
           && (uint64_t) status.st_size == segment_page_size() + size;
}

/* The number may be that of any file by now: it is looked at before it is opened. */
static int open_name(const segment_name_t *name)
{
    char path[64];
    int place, fd = -1, seals;

    snprintf(path, sizeof(path), "/proc/%u/fd/%u", name->process, name->descriptor);
    place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0) {
        return -1;
    }
    if (is_segment(place, name->size)) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
        fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    }
    close(place);
    if (fd < 0) {
        return -1;
    }
    seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || SEALS != (seals & SEALS)) {
        close(fd);
        return -1;
    }
    return fd;
}

static oc_status_t segment_find(oc_segment_t *segment)
{
    int fd = open_name(&segment->name);
    oc_status_t status;

    if (fd < 0) {
        return OC_ERR_UNREACHABLE;
    }
    status = segment_map(segment, fd);
    close(fd);
    if (OC_OK == status && 0 != memcmp(segment->pages, segment->name.token, TOKEN_SIZE)) {
        return OC_ERR_UNREACHABLE;
    }
    return status;
}

oc_status_t oc_segment_attach(const uint8_t name[OC_SEGMENT_NAME_SIZE], oc_segment_t **result,
                              char *error, size_t error_size)
{
    oc_segment_t *segment = segment_new();
    oc_status_t status = OC_ERR_UNREACHABLE;

    if (NULL == segment) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    if (name_decode(name, &segment->name)) {
        status = segment_find(segment);
    }
    if (OC_OK != status) {
        snprintf(error, error_size, "shared memory of process %u cannot be %s",
                 segment->name.process, OC_ERR_NO_MEMORY == status ? "mapped" : "found");
        oc_segment_close(segment);
        return status;
    }
    *result = segment;
    return OC_OK;
}

void oc_segment_hide(oc_segment_t *segment)
{
    if (segment->fd >= 0) {
        oc_fd_close(segment->fd);
        segment->fd = -1;
    }
}

void oc_segment_close(oc_segment_t *segment)
{
    if (NULL == segment) {
        return;
    }
    if (NULL != segment->pages) {
        munmap(segment->pages, segment_page_size() + segment->name.size);
    }
    oc_segment_hide(segment);
    free(segment);
}

/* A process that has ended keeps its number until its parent has looked: a descriptor tells before. */
bool oc_segment_maker_lives(const oc_segment_t *segment)
{
    struct pollfd fd = {.events = POLLIN};
    bool lives;

    fd.fd = (int) syscall(SYS_pidfd_open, (pid_t) segment->name.process, 0u);
    if (fd.fd < 0) {
        return ESRCH != errno;
    }
    lives = 0 == poll(&fd, 1, 0);
    close(fd.fd);
    return lives;
}

void oc_segment_name(const oc_segment_t *segment, uint8_t bytes[OC_SEGMENT_NAME_SIZE])
{
    oc_writer_t w = {.at = bytes, .end = bytes + OC_SEGMENT_NAME_SIZE};

    oc_put(&w, segment->name.process, 4);
    oc_put(&w, segment->name.descriptor, 4);
    oc_put(&w, segment->name.size, 8);
    oc_put_bytes(&w, segment->name.token, TOKEN_SIZE);
}

void *oc_segment_memory(const oc_segment_t *segment)
{
    return segment->pages + segment_page_size();
}

size_t oc_segment_size(const oc_segment_t *segment)
{
    return (size_t) segment->name.size;
}
