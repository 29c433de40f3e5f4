/* SPDX-License-Identifier: BSD-3-Clause */
/* How the ranks of a group introduce themselves, before they know any server. */
#ifndef OC_CLIENT_SETUP_INTRODUCTION_H
#define OC_CLIENT_SETUP_INTRODUCTION_H

#include <stdbool.h>
#include <stddef.h>

#include "client/client.h"

/*
 * Makes this rank's record, for whatever serves the group; starts the embedded server if this rank
 * offers one. A rank that cannot take part gives up, and has a record that says so.
 */
void oc_introduction_make(oc_group_t *group);

/*
 * When all records are there, of a group that servers serve: whether they fit together, and the
 * group's id. false, on all ranks: why not; the one that is to blame tells it.
 */
bool oc_introduction_agree(oc_group_t *group, char *reason, size_t size);

#endif
