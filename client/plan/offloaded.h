/* SPDX-License-Identifier: BSD-3-Clause */
/* How long an offloaded reduction takes, by the model: doc/architecture.md has the formulas. */
#ifndef OC_CLIENT_PLAN_OFFLOADED_H
#define OC_CLIENT_PLAN_OFFLOADED_H

#include "client/plan/model.h"

/*
 * Of so many bytes (not 0) of a vector, in ns; OC_FOREVER: it is not to be done so. Blocks of a
 * Reduce_scatter are taken for equal.
 */
uint64_t oc_offloaded_time(const oc_constants_t *constants, const oc_situation_t *situation,
                           oc_ruled_t ruled, uint64_t bytes);

#endif
