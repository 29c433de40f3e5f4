/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages for other processes of this host, laid out in memory that they share. Who lays out
 * puts each in a slot, for one reader, and tells the reader the place; the reader copies it
 * out, which frees the slot. A shelf is one process's, and a view is another one's access to it.
 *
 * Neither side trusts what the other one has written. Not thread-safe: callers lock.
 */
#ifndef OC_MULTICAST_PEERS_SHELF_H
#define OC_MULTICAST_PEERS_SHELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "node/segment.h"

/* Messages on a shelf, and those of them that one reader may leave there. */
#define OC_SHELF_SLOTS 128u
#define OC_SHELF_SHARE 32u

typedef struct oc_shelf oc_shelf_t;
typedef struct oc_shelf_view oc_shelf_view_t;

typedef struct {
    uint32_t slot, generation, length;
} oc_cast_place_t;

/* For messages of up to max_message bytes. An error is one sentence. */
oc_status_t oc_shelf_open(size_t max_message, oc_shelf_t **shelf, char *error, size_t error_size);

/* Views stay good. NULL is allowed. */
void oc_shelf_close(oc_shelf_t *shelf);

void oc_shelf_name(const oc_shelf_t *shelf, uint8_t name[OC_SEGMENT_NAME_SIZE]);

/*
 * Copies a message of two parts to a free slot; reader is whatever stands for who is to take it.
 * false: there is no room for it.
 */
bool oc_shelf_lay(oc_shelf_t *shelf, const void *reader, const void *head, size_t head_length,
                  const void *data, size_t data_length, oc_cast_place_t *place);

/*
 * Frees the slots of a reader that takes nothing any more: it is gone, or has said so. Each
 * message that it has not taken is shown before (each may be NULL; it must not lay anything out).
 */
void oc_shelf_clear(oc_shelf_t *shelf, const void *reader,
                    void (*each)(void *arg, const uint8_t *bytes, size_t length), void *arg);

/*
 * A shelf of this name for messages of the same size. OC_ERR_UNREACHABLE: there is none that this
 * process can get at.
 */
oc_status_t oc_shelf_view_open(const uint8_t name[OC_SEGMENT_NAME_SIZE], size_t max_message,
                               oc_shelf_view_t **view, char *error, size_t error_size);

/* NULL is allowed. */
void oc_shelf_view_close(oc_shelf_view_t *view);

/* Whether it is of the shelf of this name. */
bool oc_shelf_view_is(const oc_shelf_view_t *view, const uint8_t name[OC_SEGMENT_NAME_SIZE]);

/*
 * Copies the message of a place to bytes, which have room for max_message, and frees its slot.
 * false: no such message is there, or no longer; bytes may hold anything then.
 */
bool oc_shelf_take(oc_shelf_view_t *view, const oc_cast_place_t *place, uint8_t *bytes);

#endif
