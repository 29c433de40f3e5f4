/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded: allocations of the component, or of the library for MPICH, fail, as the program says. Those of the
 * MPI library and of the program do not.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uintptr_t first, end;   /* of the component's code; 0: not known */
static long until_failure = -1; /* allocations that still succeed; negative: all do */
static long failures;          /* that are to come; negative: all from then on */
static unsigned long failed;

/* Programs may set it: smaller ones, in bytes, succeed and do not count. */
size_t shim_least;

static int look_at(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void) size;
    (void) argument;
    if (NULL == strstr(info->dlpi_name, "mca_coll_optcast.so")
        && NULL == strstr(info->dlpi_name, "liboptcast-mpich.so")) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];

        if (PT_LOAD == header->p_type && 0 != (header->p_flags & PF_X)) {
            first = info->dlpi_addr + header->p_vaddr;
            end = first + header->p_memsz;
        }
    }
    return 1;
}

/* Of this thread's next allocations, so many succeed and then so many fail. */
void shim_fail(long after, long count)
{
    (void) dl_iterate_phdr(look_at, NULL);
    failed = 0;
    failures = count;
    until_failure = after;
}

/* How many have failed since; all succeed again. */
unsigned long shim_end(void)
{
    until_failure = -1;
    return failed;
}

static int fails(const void *caller, size_t size)
{
    uintptr_t address = (uintptr_t) caller;

    if (until_failure < 0 || size < shim_least || address < first || address >= end) {
        return 0;
    }
    if (until_failure > 0) {
        until_failure--;
        return 0;
    }
    if (0 == failures) {
        return 0;
    }
    failures -= failures > 0;
    failed++;
    errno = ENOMEM;
    return 1;
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0), size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0), count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails(__builtin_return_address(0), size) ? NULL : __libc_realloc(memory, size);
}
