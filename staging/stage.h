/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory that is read and written in small parts, in any order: by way of pieces of a arena.
 * What is read in order was fetched before; what is written in order goes to the device piece by
 * piece, while more is written. A stage reads what was written to it before.
 *
 * Not thread-safe: callers lock.
 */
#ifndef OC_STAGING_STAGE_H
#define OC_STAGING_STAGE_H

#include "staging/arena.h"
#include "staging/device.h"

typedef struct oc_stage oc_stage_t;

/*
 * Of size bytes from memory on. Takes as many pieces as it has use for, as far as the arena has
 * them, and keeps them; few, which it always needs, at once. NULL: out of memory. The arena
 * outlives it, and counts in *copied the bytes that went to and from the device.
 */
oc_stage_t *oc_stage_open(oc_arena_t *arena, oc_device_t *device, void *memory, size_t size,
                          unsigned long long *copied);

/* What was not flushed may not be there. NULL is allowed. */
void oc_stage_close(oc_stage_t *stage);

/*
 * Offset and length are bytes within the memory. An error is the device's; once there was one, it
 * is the answer to all calls, and reads return anything.
 */
oc_status_t oc_stage_read(oc_stage_t *stage, size_t offset, size_t length, void *to);
oc_status_t oc_stage_write(oc_stage_t *stage, size_t offset, size_t length, const void *from);

/* Waits until all that was written is in the device's memory. */
oc_status_t oc_stage_flush(oc_stage_t *stage);

/* OC_OK, or the first error. */
oc_status_t oc_stage_status(const oc_stage_t *stage);

/* For people: why there was one. */
const char *oc_stage_reason(const oc_stage_t *stage);

#endif
