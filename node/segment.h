/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that processes of one user on one host share. One process makes a segment and tells the
 * others its name, by whatever way they have; they attach. It has no name in any file system, so
 * that nothing is left behind, however its processes end. It can neither grow nor shrink, so
 * that nobody can take memory away under somebody else. Pages cost memory once they are touched.
 *
 * Threads: any, different segments at a time.
 */
#ifndef OC_NODE_SEGMENT_H
#define OC_NODE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Bytes of a name; it may be kept and sent as it is, and be anything when it comes from outside. */
#define OC_SEGMENT_NAME_SIZE 32

typedef struct oc_segment oc_segment_t;

/* Memory of size > 0 bytes, all zero. An error is one sentence. */
oc_status_t oc_segment_create(size_t size, oc_segment_t **segment, char *error,
                              size_t error_size);

/*
 * As long as its maker has not closed or hidden it. OC_ERR_UNREACHABLE: it has, its maker is on
 * another host, in another PID namespace or of another user, or it never had this name.
 */
oc_status_t oc_segment_attach(const uint8_t name[OC_SEGMENT_NAME_SIZE], oc_segment_t **segment,
                              char *error, size_t error_size);

/*
 * Nobody can attach it any more; all that have it keep it. Its maker has one descriptor less then.
 */
void oc_segment_hide(oc_segment_t *segment);

/* Others keep what they have attached. NULL is allowed. */
void oc_segment_close(oc_segment_t *segment);

/* Whether its maker has not ended yet; true if this system does not tell. */
bool oc_segment_maker_lives(const oc_segment_t *segment);

void oc_segment_name(const oc_segment_t *segment, uint8_t name[OC_SEGMENT_NAME_SIZE]);

/* Page-aligned; what others have written there is not to be trusted. */
void *oc_segment_memory(const oc_segment_t *segment);
size_t oc_segment_size(const oc_segment_t *segment);

#endif
