/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A step is a chunk of an Allreduce in the node shape, or a small vector; node.c goes through them.
 * Here are where a step's bytes are and who owns it, and what collectives tell their host about
 * steps. step counts those of the collective from 0. Under the lock of the client.
 */
#ifndef OC_CLIENT_COLLECTIVE_STEP_H
#define OC_CLIENT_COLLECTIVE_STEP_H

#include "client/collective/allreduce.h"
#include "client/plan/chunk_map.h"

/* Where a step's elements are in the caller's vectors. */
typedef struct {
    size_t count;
    size_t offset;             /* bytes, in the caller's type, in that which is sent */
    bool wanted;               /* this rank gets the result … */
    size_t to;                 /* … which is there in recv: bytes, as above */
} oc_step_piece_t;

oc_step_piece_t oc_step_piece(const oc_allreduce_t *allreduce, uint32_t step);
/* Of a piece, as it travels. */
size_t oc_step_bytes(const oc_allreduce_t *allreduce, const oc_step_piece_t *piece);
/* Which member of the host sends it. */
uint32_t oc_step_owner(const oc_allreduce_t *allreduce, uint32_t step);
/* Whether steps go from and into the caller's memory: a rank that is alone on its host. */
bool oc_step_is_direct(const oc_allreduce_t *allreduce);
/* A member's place for it in the memory of the host. */
void *oc_step_place(const oc_allreduce_t *allreduce, uint32_t member, uint32_t step);
/* What the owner sends, where its result goes, and that it is there. */
const void *oc_step_contribution(const oc_allreduce_t *allreduce, uint32_t step);
void *oc_step_result(const oc_allreduce_t *allreduce, uint32_t step);
void oc_step_publish(oc_allreduce_t *allreduce, uint32_t step);
/*
 * A collective begins: its steps, of so many bytes each, or of blocks by a map that outlives them,
 * are the next ones of the stream. They are those chunks that its cut lists, if it does.
 */
void oc_steps_join(oc_allreduce_t *allreduce, const oc_chunk_map_t *map, uint32_t count,
                   size_t bytes);
/* The result of a step is where it belongs: that is noted, where account is kept. */
void oc_step_account(oc_allreduce_t *allreduce, uint32_t step);
/* Waits for no COMMITs any more: it tells the host. */
void oc_steps_commit(oc_allreduce_t *allreduce);

#endif
