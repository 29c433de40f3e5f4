/* SPDX-License-Identifier: BSD-3-Clause */
/* What is offloaded in a group, for mode auto. Under the lock of the client. */
#ifndef OC_CLIENT_SETUP_CHOOSE_H
#define OC_CLIENT_SETUP_CHOOSE_H

#include "client/state/types.h"

/*
 * When the shape of the group is known, and again when servers turn out to be a tree. All ranks
 * come to the same result. false: nothing ever is offloaded in this group.
 */
bool oc_group_choose(oc_group_t *group);

#endif
