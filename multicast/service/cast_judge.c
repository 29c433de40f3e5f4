/* SPDX-License-Identifier: BSD-3-Clause */
/* On which terms the ranks of a group multicast, if at all: by their records, and so alike on all ranks. */
#include <stdio.h>
#include <string.h>

#include "multicast/service/flood_plan.h"
#include "multicast/service/service.h"

/* The rank that is to blame knows why. */
static void judge_explain(const oc_multicast_t *multicast, const oc_multicast_params_t *params,
                          const oc_multicast_terms_t *terms, uint32_t blamed, char *error,
                          size_t error_size)
{
    size_t length = strlen(error);

    if (blamed == params->rank && OC_CARRIERS != terms->carrier) {
        snprintf(error + length, error_size - length, ": %s",
                 multicast->transports.carriers[terms->carrier].text);
    }
}

/* Whether there is a flood test, or an earlier one has said enough. */
static oc_status_t plan_test(const oc_multicast_t *multicast, const oc_multicast_params_t *params,
                             oc_multicast_terms_t *terms, uint32_t *blamed, char *error,
                             size_t error_size)
{
    oc_flood_plan_t plan;
    oc_status_t status = oc_flood_plan_make(
        params->records, params->num_ranks, params->rank,
        (oc_multicast_choice_t) multicast->config.settings->multicast,
        (oc_carrier_t) terms->carrier, &plan);

    if (OC_OK != status) {
        snprintf(error, error_size, "out of memory");
        return status;
    }
    if (!plan.tested && OC_FLOOD_GUARDED != plan.known) {
        *blamed = OC_BLAMES_NOBODY; /* the test was in another group, and so was its line */
        oc_multicast_explain_flood(plan.known, error, error_size);
        return OC_DECLINED;
    }
    terms->tested = plan.tested;
    terms->role = plan.role;
    return OC_OK;
}

oc_status_t oc_multicast_judge(const oc_multicast_t *multicast,
                               const oc_multicast_params_t *params, oc_multicast_terms_t *terms,
                               uint32_t *blamed, char *error, size_t error_size)
{
    oc_status_t status;

    *blamed = 0;
    if (params->num_ranks > UINT16_MAX) {
        snprintf(error, error_size, "multicast serves at most %u ranks", UINT16_MAX);
        return OC_DECLINED;
    }
    status = oc_cast_records_judge(
        params->records, params->num_ranks,
        (oc_multicast_choice_t) multicast->config.settings->multicast, terms, blamed, error,
        error_size);
    if (OC_OK != status) {
        judge_explain(multicast, params, terms, *blamed, error, error_size);
        return status;
    }
    return plan_test(multicast, params, terms, blamed, error, error_size);
}
