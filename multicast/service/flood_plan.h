/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a group's set-up has a flood test, and what each rank does in it; by the records of all
 * ranks, so that all come to the same plan. Pure functions, any thread.
 */
#ifndef OC_MULTICAST_SERVICE_FLOOD_PLAN_H
#define OC_MULTICAST_SERVICE_FLOOD_PLAN_H

#include "base/settings.h"
#include "base/status.h"
#include "multicast/flood/flood_test.h"
#include "multicast/service/cast_record.h"

typedef struct {
    bool tested;               /* there is a test; else … */
    oc_flood_verdict_t known;  /* … this is known: GUARDED, also if nothing can flood; or not */
    oc_flood_role_t role;      /* of this rank */
} oc_flood_plan_t;

/* The records were found to be good. OC_ERR_NO_MEMORY: this rank cannot make the plan. */
oc_status_t oc_flood_plan_make(const uint8_t *records, uint32_t num_ranks, uint32_t rank,
                               oc_multicast_choice_t choice, oc_carrier_t carrier,
                               oc_flood_plan_t *plan);

#endif
