/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of at least a huge page are mapped by themselves, beginning where one can. What is left of
 * them behind the last whole huge page has ordinary pages, so that none takes more than its size.
 */
#include "server/pages.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

/* 21 is the logarithm of OC_HUGE_PAGE. */
#define RESERVED (MAP_HUGETLB | 21 << MAP_HUGE_SHIFT)

static bool is_mapped(size_t size, int huge_pages)
{
    return size >= OC_HUGE_PAGE && OC_HUGE_PAGES_OFF != huge_pages;
}

static size_t page_size(void)
{
    return (size_t) sysconf(_SC_PAGESIZE);
}

static size_t whole_pages(size_t size)
{
    return (size + page_size() - 1) / page_size() * page_size();
}

static uint8_t *map(void *at, size_t size, int flags)
{
    void *memory = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
                        0);

    return MAP_FAILED == memory ? NULL : memory;
}

/* Begins at a multiple of a huge page. */
static uint8_t *map_aligned(size_t size)
{
    size_t more = size + OC_HUGE_PAGE - page_size();
    uint8_t *memory, *begin;

    if (more < size) {
        return NULL;
    }
    memory = map(NULL, more, 0);
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

/* Out of the pages that the administrator has reserved. */
static bool take_reserved(uint8_t *memory, size_t size)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;

    if (NULL != map(memory, size, MAP_FIXED | RESERVED)) {
        return true;
    }
    if (!atomic_flag_test_and_set(&warned)) {
        oc_warn("no reserved huge pages are left, so other memory is used: vm.nr_hugepages is "
                "their number");
    }
    /* what was there may be gone */
    return NULL != map(memory, size, MAP_FIXED);
}

void *oc_pages_get(size_t size, int huge_pages)
{
    size_t huge = size - size % OC_HUGE_PAGE;
    uint8_t *mapped;
    void *memory;

    if (!is_mapped(size, huge_pages)) {
        return 0 == posix_memalign(&memory, page_size(), size) ? memory : NULL;
    }
    mapped = map_aligned(whole_pages(size));
    if (NULL == mapped) {
        return NULL;
    }
    if (OC_HUGE_PAGES_RESERVED == huge_pages && !take_reserved(mapped, huge)) {
        (void) munmap(mapped, whole_pages(size));
        return NULL;
    }
    (void) madvise(mapped, huge, MADV_HUGEPAGE);
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
