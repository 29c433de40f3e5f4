/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of at least a huge page are mapped by themselves, beginning where one can. What is left of
 * them behind the last whole huge page has ordinary pages, so that none takes more than its size.
 */
#include "server/host/pages.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* 21 is the logarithm of OC_HUGE_PAGE. */
#define RESERVED (MAP_HUGETLB | 21 << MAP_HUGE_SHIFT)

/* Of what the heap gives. A multiple of larger pages would be waste in front of each block. */
#define ALIGNMENT 4096

static bool is_mapped(size_t size, int huge_pages)
{
    return size >= OC_HUGE_PAGE && OC_HUGE_PAGES_OFF != huge_pages;
}

static size_t pages_page_size(void)
{
    return (size_t) sysconf(_SC_PAGESIZE);
}

static size_t whole_pages(size_t size)
{
    return (size + pages_page_size() - 1) / pages_page_size() * pages_page_size();
}

static uint8_t *pages_map(void *at, size_t size, int flags)
{
    void *memory = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
                        0);

    return MAP_FAILED == memory ? NULL : memory;
}

/* Begins at a multiple of a huge page. */
static uint8_t *map_aligned(size_t size)
{
    size_t more = size + OC_HUGE_PAGE - pages_page_size();
    uint8_t *memory, *begin;

    if (more < size) {
        return NULL;
    }
    memory = pages_map(NULL, more, 0);
    if (NULL == memory) {
        return NULL;
    }
    begin = memory + (OC_HUGE_PAGE - (uintptr_t) memory % OC_HUGE_PAGE) % OC_HUGE_PAGE;
    if (begin > memory) {
        (void) munmap(memory, (size_t) (begin - memory));
    }
    if (memory + more > begin + size) {
        (void) munmap(begin + size, (size_t) (memory + more - (begin + size)));
    }
    return begin;
}

/*
 * A control group may allow fewer pages than are reserved, and who touches one more is killed: so
 * they are touched here, where that is an error. Before Linux 5.14 nothing can find out.
 */
static bool populate(uint8_t *memory, size_t size)
{
    return 0 == madvise(memory, size, MADV_POPULATE_WRITE) || EINVAL == errno;
}

/*
 * Out of the pages that the administrator has reserved, beginning at a multiple of one. Where they
 * go there is nothing: to replace something may leave a hole when it fails, and nobody could tell
 * it from what another thread has got there meanwhile.
 */
static uint8_t *map_reserved(size_t size)
{
    size_t huge = size - size % OC_HUGE_PAGE;
    uint8_t *begin = map_aligned(size), *memory;
    int reason;

    if (NULL == begin) {
        return NULL;
    }
    (void) munmap(begin, huge);
    memory = pages_map(begin, huge, MAP_FIXED_NOREPLACE | RESERVED);
    if (memory == begin && populate(begin, huge)) {
        return begin;
    }
    reason = errno;
    if (NULL != memory) {
        (void) munmap(memory, huge);
    }
    if (size > huge) {
        (void) munmap(begin + huge, size - huge);
    }
    errno = reason;
    return NULL;
}

static void warn_of_reserved(void)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&warned)) {
        oc_warn("no reserved huge pages can be had (%s), so other memory is used: vm.nr_hugepages "
                "is their number, and control groups may allow fewer", strerror(errno));
    }
}

void *oc_pages_get(size_t size, int huge_pages)
{
    uint8_t *mapped;
    void *memory;

    if (!is_mapped(size, huge_pages)) {
        return 0 == posix_memalign(&memory, ALIGNMENT, size) ? memory : NULL;
    }
    if (OC_HUGE_PAGES_RESERVED == huge_pages) {
        mapped = map_reserved(whole_pages(size));
        if (NULL != mapped) {
            return mapped;
        }
        warn_of_reserved();
    }
    mapped = map_aligned(whole_pages(size));
    if (NULL != mapped) {
        (void) madvise(mapped, size - size % OC_HUGE_PAGE, MADV_HUGEPAGE);
    }
    return mapped;
}

void oc_pages_put(void *memory, size_t size, int huge_pages)
{
    if (is_mapped(size, huge_pages)) {
        (void) munmap(memory, whole_pages(size));
    } else {
        free(memory);
    }
}
