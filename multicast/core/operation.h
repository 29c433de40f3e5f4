/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One operation of a group, from the queue to its end. Part of the protocol: one thread at a time.
 */
#ifndef OC_MULTICAST_CORE_OPERATION_H
#define OC_MULTICAST_CORE_OPERATION_H

#include "multicast/core/cast_types.h"

oc_cast_operation_t *oc_operation_new(oc_cast_group_t *group, const oc_cast_args_t *args);
/* With what it owns, its requests and services included. It is in no list any more. */
void oc_operation_free(oc_cast_operation_t *operation);
/* Frees it and calls back, the last thing that is done with it. It is in no list any more. */
void oc_operation_finish(oc_cast_group_t *group, oc_cast_operation_t *operation,
                         oc_status_t status);
/* Gets what it needs to be active. */
oc_status_t oc_operation_prepare(oc_cast_group_t *group, oc_cast_operation_t *operation,
                                 uint64_t now);
/* All ranks have entered. */
void oc_operation_begin(oc_cast_group_t *group, uint64_t now);
/* Whether this rank has all blocks, and has sent its own. */
bool oc_operation_done(const oc_cast_group_t *group);

#endif
