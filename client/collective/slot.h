/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks under way: on each lane the receive of a chunk's result is posted before its contribution
 * is sent. In place both are the same memory, which is right because a result only exists once the
 * whole contribution has been received. Under the lock of the client.
 */
#ifndef OC_CLIENT_COLLECTIVE_SLOT_H
#define OC_CLIENT_COLLECTIVE_SLOT_H

#include "client/collective/large.h"

/* As many as the window allows. false: out of memory. */
bool oc_slots_make(oc_part_t *part);
void oc_slots_free(oc_part_t *part);
/* Whether the part's next chunk finds a slot and the window of its lane has room for it. */
bool oc_slot_is_there(const oc_part_t *part);
/*
 * Sends the part's next chunk from contribution, and has its result come to result; of what it does
 * not give or get, nothing. If it is for the owner to add its own part, that is the contribution,
 * which may lie where the result belongs. piece is of device memory, or NULL: chunk_done of the
 * collective finds it given back.
 */
void oc_slot_send(oc_part_t *part, const void *contribution, void *result, oc_piece_t *piece);

#endif
