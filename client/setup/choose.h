/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses what is offloaded in a group in mode auto. Callers hold the lock of the client. */
#ifndef OC_CLIENT_SETUP_CHOOSE_H
#define OC_CLIENT_SETUP_CHOOSE_H

#include "client/state/types.h"

/*
 * To be called when the shape of the group is known, and again when its servers prove to be
 * leaves. All ranks get the same result. false: nothing will be offloaded in this group.
 */
bool oc_group_choose(oc_group_t *group);

#endif
