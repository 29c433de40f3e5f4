/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of multicast in a group: it does not reach all ranks any more, so from then on blocks go
 * from host to host by messages. Any rank may find that out; all follow. Part of the protocol: one
 * thread at a time.
 */
#ifndef OC_MULTICAST_CORE_UNICAST_H
#define OC_MULTICAST_CORE_UNICAST_H

#include "multicast/core/cast_types.h"

/* Looks whether this rank has found that multicast does not work, and tells the others; true: just now. */
bool oc_unicast_look(oc_cast_group_t *group);
/* Another rank says so. */
void oc_unicast_message(oc_cast_group_t *group, const oc_cast_message_t *message);

/* … or another group of these ranks has found so. */
void oc_unicast_adopt(oc_cast_group_t *group, uint32_t owner, uint32_t receiver);

/*
 * From now on all blocks may be asked for at once, whether their owners have said that they are
 * sent or not.
 */
void oc_unicast_expect_all(oc_cast_group_t *group, uint64_t now);
/* Own fragments are there for those who ask. Returns whether there are more of them. */
bool oc_unicast_offer(oc_cast_group_t *group, uint64_t now);

/*
 * Which rank this one gets a block from, of which it is the fetcher: large ones from the host
 * before, so that no link carries them twice, others along the tree, which is shorter.
 */
uint32_t oc_unicast_source(const oc_cast_group_t *group, uint32_t owner);

#endif
