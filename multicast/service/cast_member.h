/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members: a group of the protocol, with the peers and the slot that it reaches the others by. They
 * are made by oc_multicast_join.
 */
#ifndef OC_MULTICAST_SERVICE_CAST_MEMBER_H
#define OC_MULTICAST_SERVICE_CAST_MEMBER_H

#include "multicast/service/service.h"

/*
 * Joins a group, as oc_multicast_join does; second: beside another member of the same ranks, in which all are heard.
 * It is freed by oc_cast_member_leave.
 */
oc_status_t oc_cast_member_join(oc_multicast_t *multicast, const oc_multicast_params_t *params,
                                const oc_multicast_terms_t *terms, oc_cast_slot_t *own, bool second,
                                uint64_t now, oc_cast_member_t **member, char *error, size_t error_size);
void oc_cast_member_leave(oc_cast_member_t *member);
/* One that has not joined, or has left. NULL is allowed. */
void oc_cast_member_free(oc_cast_member_t *member);
void oc_cast_member_message(oc_cast_member_t *member, const uint8_t *bytes, size_t length);
/* A datagram of its group came, by any address of the job. */
void oc_cast_member_datagram(oc_cast_member_t *member, const oc_datagram_t *header,
                             const uint8_t *bytes);
/* Its address cannot be joined: the group ends, unless it has already. */
void oc_cast_member_refused(oc_cast_member_t *member, const char *why);
/* A peer is gone; if it is one of the group's, the group ends. */
void oc_cast_member_lost(oc_cast_member_t *member, const oc_cast_peer_t *peer);

#endif
