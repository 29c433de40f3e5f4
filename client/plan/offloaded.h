/* SPDX-License-Identifier: BSD-3-Clause */
/* How long an offloaded Allreduce takes, by the model: doc/architecture.md has the formulas. */
#ifndef OC_CLIENT_PLAN_OFFLOADED_H
#define OC_CLIENT_PLAN_OFFLOADED_H

#include "client/plan/model.h"

/* Of so many bytes (not 0), in ns; OC_FOREVER: it is not to be done so. */
uint64_t oc_offloaded_time(const oc_constants_t *constants, const oc_situation_t *situation,
                           uint64_t bytes);

#endif
