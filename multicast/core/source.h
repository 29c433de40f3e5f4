/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the rank that is asked for missing fragments. Part of the protocol: one thread at a
 * time.
 */
#ifndef OC_MULTICAST_CORE_SOURCE_H
#define OC_MULTICAST_CORE_SOURCE_H

#include "multicast/core/cast_types.h"

typedef struct {
    uint32_t rank;             /* num_ranks: nobody now */
    bool wait;                 /* it gets what it does not have, and is to answer then */
    unsigned attempt;          /* which kind of source it is */
} oc_cast_source_t;

/*
 * For fragments of a block that block->attempt kinds of sources did not have. urgent: a source may
 * be asked although many requests to it are out.
 */
oc_cast_source_t oc_source_choose(oc_cast_group_t *group, uint32_t owner, bool urgent);

#endif
