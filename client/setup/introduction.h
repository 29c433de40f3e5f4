/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records that the ranks of a group exchange before they know any server. Callers hold the
 * lock of the client.
 */
#ifndef OC_CLIENT_SETUP_INTRODUCTION_H
#define OC_CLIENT_SETUP_INTRODUCTION_H

#include <stdbool.h>
#include <stddef.h>

#include "client/client.h"

/*
 * Makes this rank's record, and starts its embedded server if it offers one. If the rank cannot
 * take part, its set-up gives up, and the record says so.
 */
void oc_introduction_make(oc_group_t *group);

/*
 * Checks the records of a group that uses servers, when all of them have arrived, and sets the
 * group's id. false, on all ranks: reason says why they do not match; the rank at fault prints it.
 */
bool oc_introduction_agree(oc_group_t *group, char *reason, size_t size);

#endif
