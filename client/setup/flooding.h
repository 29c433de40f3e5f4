/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flood test in the set-up of a group of multicast: this rank's vote, and what follows from
 * that of all. Callers hold the lock of the client.
 */
#ifndef OC_CLIENT_SETUP_FLOODING_H
#define OC_CLIENT_SETUP_FLOODING_H

#include "client/state/types.h"

/* All has been sent: looks what this host has seen. This rank may have given up then. */
void oc_flooding_look(oc_group_t *group);

/* Of a rank that has not given up, and has looked. */
int64_t oc_flooding_vote(const oc_group_t *group);

/*
 * All ranks that have looked can take part, and this is the outcome: notes it for groups to come.
 * false: nobody has seen that there is no flood, and reason says so.
 */
bool oc_flooding_is_excluded(oc_group_t *group, int64_t outcome, char *reason, size_t size);

#endif
