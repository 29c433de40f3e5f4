/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an aggregator's blocks of memory come from: the heap, or huge pages. */
#ifndef OC_SERVER_HOST_PAGES_H
#define OC_SERVER_HOST_PAGES_H

#include <stddef.h>

/* What takes at least so much may have huge pages, in whole multiples of it. */
#define OC_HUGE_PAGE ((size_t) 2 << 20)

/*
 * Aligned to 4096 bytes, or NULL. huge_pages is an oc_huge_pages_t, and the same when it is given
 * back. Where the system has no huge pages there are others instead; if reserved ones were asked
 * for, a warning says so once.
 */
void *oc_pages_get(size_t size, int huge_pages);
void oc_pages_put(void *memory, size_t size, int huge_pages);

#endif
