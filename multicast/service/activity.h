/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which groups are busy, so that their datagrams are received, and which of them are progressed.
 * Under the lock of the multicast's user, as all of this folder; nothing here blocks.
 */
#ifndef OC_MULTICAST_SERVICE_ACTIVITY_H
#define OC_MULTICAST_SERVICE_ACTIVITY_H

#include "multicast/service/service.h"

/* Something was done to its group, which has to be progressed soon. */
void oc_cast_member_wake(oc_cast_member_t *member);
/* Finds out whether it is busy. */
void oc_cast_member_look(oc_cast_member_t *member);
/* It is not progressed before it is woken. */
void oc_cast_member_rest(oc_cast_member_t *member);
/* It is about to be freed: neither busy nor progressed any more. */
void oc_cast_member_retire(oc_cast_member_t *member);
/* The first one finds the most room in the network: another one is the first from now on. */
void oc_members_take_turns(oc_multicast_t *multicast);

#endif
