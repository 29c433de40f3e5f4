/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the chunks of a part are: pure functions of a vector's layout (parts.h). number counts the
 * part's own chunks from 0.
 */
#ifndef OC_CLIENT_COLLECTIVE_PART_H
#define OC_CLIENT_COLLECTIVE_PART_H

#include "client/state/types.h"

/* The first chunk of a vector that belongs to a team; teams begin with another one each time. */
uint32_t oc_team_first_chunk(const oc_collective_t *collective, uint32_t team);
/* Which chunk of its team it is; in the flat shape, of the vector. */
uint64_t oc_part_chunk(const oc_part_t *part, uint32_t number);
/* In the vector as it travels, bytes. */
size_t oc_part_offset(const oc_part_t *part, uint32_t number);
size_t oc_part_length(const oc_part_t *part, uint32_t number);

#endif
