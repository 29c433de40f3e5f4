/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of what the others multicast reaches this rank, over all operations of the group. It
 * tells losses from a network that does not carry multicast any more. Part of the protocol: one
 * thread at a time.
 */
#ifndef OC_MULTICAST_CORE_RECEPTION_H
#define OC_MULTICAST_CORE_RECEPTION_H

#include "multicast/core/cast_types.h"

oc_status_t oc_reception_begin(oc_cast_group_t *group);
void oc_reception_end(oc_cast_group_t *group);

/* A fragment that some rank has sent again has come by multicast. */
void oc_reception_again(oc_cast_group_t *group);
/* A look at a block that is not complete: what of it should be here by now, and what has come. */
void oc_reception_look(oc_cast_group_t *group, uint32_t owner);
/* One that came when the block was complete: messages were faster. */
void oc_reception_late(oc_cast_group_t *group, uint32_t owner);
/* An operation runs, and this rank has looked after so many ns; if that is long, not all counts. */
void oc_reception_watch(oc_cast_group_t *group, uint64_t step);
/* A block is complete. Most are before any look, which sees only those that lack something. */
void oc_reception_complete(oc_cast_group_t *group, uint32_t owner);

/*
 * What this rank misses of this operation tells nothing about the network: it has not looked for so
 * long that others sent more than there is room for.
 */
void oc_reception_excuse(oc_cast_group_t *group);
/* Nor does what it misses until this is false again: the network is about to join it again. */
void oc_reception_absent(oc_cast_group_t *group, bool absent);
bool oc_reception_is_excused(const oc_cast_group_t *group);

/* Others have said that more of a block was sent. */
void oc_reception_told(oc_block_t *block);
/*
 * These are about the active operation; there has to be one. Next to nothing of what the others multicast has come
 * when it was counted last, so that it may be the network. Never on a rank that has nothing to receive.
 */
bool oc_reception_is_silent(const oc_cast_group_t *group);
/*
 * Multicast is silent, or nothing of that rank comes (num_ranks: of all), as far as this one has counted or was
 * told, or it is absent: whatever it lacks, messages have to bring.
 */
bool oc_reception_is_dry(const oc_cast_group_t *group, uint32_t owner);

/*
 * Whether it has been so for so long that multicast does not work. *owner: from whom; num_ranks:
 * from nobody.
 */
bool oc_reception_is_lost(const oc_cast_group_t *group, uint32_t *owner);

#endif
