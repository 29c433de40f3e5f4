/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The caller's vectors of an Allreduce, where they are memory of a device: copied piece by piece,
 * ahead of what is sent, and behind what was received. On host memory these functions copy, or
 * have nothing to do.
 *
 * A device's error ends the Allreduce, for all ranks if it is one of reading: they count on it.
 */
#ifndef OC_CLIENT_COLLECTIVE_VECTOR_H
#define OC_CLIENT_COLLECTIVE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "client/collective/large.h"

/* Finds the devices of the arguments something to copy by way of. false: out of memory. */
bool oc_vector_open(oc_allreduce_t *allreduce);

/* Whether one of the vectors is not the host's. */
bool oc_vector_is_staged(const oc_allreduce_t *allreduce);

/* From now on it is host memory that goes on the wire, and is received in. */
void oc_vector_unstage(oc_allreduce_t *allreduce);

/*
 * Ends all copies, and gives back what they took. When all went well the results are in the
 * caller's vector afterwards. To be called once, when the algorithm has ended.
 */
oc_status_t oc_vector_close(oc_allreduce_t *allreduce);

/* ---- in order, and whole steps at a time; offset and length are bytes ---- */

/* false: a device's error. */
bool oc_vector_read(oc_allreduce_t *allreduce, size_t offset, size_t length, void *to);
void oc_vector_write(oc_allreduce_t *allreduce, size_t offset, size_t length, const void *from);
/* What will be read soon. */
void oc_vector_read_ahead(oc_allreduce_t *allreduce, size_t offset, size_t length);

/* ---- elements that are not what goes on the wire ---- */

/* Some elements, which are in host memory there. */
typedef void oc_vector_move_fn_t(oc_allreduce_t *allreduce, size_t first, size_t count,
                                 void *elements);

/*
 * Has all elements of the caller's contribution, or all that it gets of the result, looked at or
 * made; first counts them. stride: bytes from
 * one to the next. keep: they are there before, and not all of their bytes are made.
 */
oc_status_t oc_vector_look_at_all(oc_allreduce_t *allreduce, size_t stride,
                                  oc_vector_move_fn_t *look);
oc_status_t oc_vector_make_all(oc_allreduce_t *allreduce, size_t stride, bool keep,
                               oc_vector_move_fn_t *make);

/* ---- chunks of the flat shape ---- */

/* Each part can always have one chunk under way. false: out of memory. */
bool oc_vector_reserve(oc_part_t *part);
/* Whether the part's next chunk can be taken. */
bool oc_vector_has_room(const oc_part_t *part);
/*
 * Where the part's next chunk is sent from, and where its result belongs; NULL: this rank gets none
 * of it. *piece is for give; NULL: it takes none.
 */
const void *oc_vector_take(oc_part_t *part, oc_piece_t **piece, void **result);
/* The result is there. piece may be NULL. */
void oc_vector_give(oc_part_t *part, oc_piece_t *piece);
/* Takes back what the part has reserved, and what slots of a group that has failed still have. */
void oc_vector_drop(oc_part_t *part);

/* Made when it is first needed. NULL: out of memory. */
oc_arena_t *oc_client_arena(oc_client_t *client);

#endif
