/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second member of a communicator whose operations may overlap: of the same ranks, by the same address, with a
 * token that follows from that of the first one. Under the lock of the multicast's user; nothing here blocks.
 */
#ifndef OC_MULTICAST_SERVICE_COMPANION_H
#define OC_MULTICAST_SERVICE_COMPANION_H

#include "multicast/service/service.h"

/* member has joined with these, and gets one. An error: this rank has none, and member is as before. */
oc_status_t oc_companion_join(oc_cast_member_t *member, const oc_multicast_params_t *params,
                              const oc_multicast_terms_t *terms, uint64_t now, char *error,
                              size_t error_size);
/* Frees that of a first one, if it has one. */
void oc_companion_leave(oc_cast_member_t *member);

/* As oc_cast_start, for the first of two; *member becomes the one that has the operation. */
oc_status_t oc_companion_start(oc_cast_member_t **member, const oc_cast_args_t *args, uint64_t now);
/* Something was done with its group: what follows for both. Nothing, if it is alone. */
void oc_companion_settle(oc_cast_member_t *member);

#endif
