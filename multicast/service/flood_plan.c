/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every second host joins the address of the probes, and the others watch. Neighbours are mostly on
 * the same switch: so a switch that does not prune gets probes for one host, and shows it to
 * another.
 */
#include "multicast/service/flood_plan.h"

#include <stdlib.h>

#include "multicast/service/cast_hosts.h"

/* All that a plan is made from. */
typedef struct {
    const uint8_t *records;
    uint32_t num_ranks, rank;
    oc_carrier_t carrier;
    uint32_t *hosts;           /* their numbers, by rank */
    uint32_t num_hosts;
    uint8_t *verdicts;         /* by host */
} material_t;

static void read_carrier(const material_t *material, uint32_t rank, oc_carrier_record_t *carrier)
{
    oc_cast_record_t record;

    (void) oc_cast_record_decode(material->records + (size_t) rank * OC_MULTICAST_RECORD_SIZE,
                                 &record);
    *carrier = record.carriers[material->carrier];
}

/* Whether what any rank sends may reach hosts that have not joined. */
static bool may_flood(const material_t *material)
{
    oc_carrier_record_t carrier = {.floods = false};

    for (uint32_t rank = 0; rank < material->num_ranks && !carrier.floods; rank++) {
        read_carrier(material, rank, &carrier);
    }
    return carrier.floods;
}

/* What the ranks of each host know of it, and what is known of all hosts together. */
static void gather_verdicts(const material_t *material, oc_flood_plan_t *plan)
{
    oc_carrier_record_t carrier;

    for (uint32_t rank = 0; rank < material->num_ranks; rank++) {
        uint8_t *verdict = &material->verdicts[material->hosts[rank]];

        read_carrier(material, rank, &carrier);
        if (carrier.flood > *verdict) {
            *verdict = (uint8_t) carrier.flood;
        }
        plan->known = carrier.flood > plan->known ? carrier.flood : plan->known;
    }
}

static oc_flood_role_t role_of(const uint32_t *hosts, uint32_t rank)
{
    for (uint32_t other = 0; other < rank; other++) {
        if (hosts[other] == hosts[rank]) {
            return OC_FLOOD_IDLE;
        }
    }
    if (0 == rank) {
        return OC_FLOOD_SENDER;
    }
    return 0 == hosts[rank] % 2 ? OC_FLOOD_MEMBER : OC_FLOOD_WATCHER;
}

static void make_plan(const material_t *material, oc_flood_plan_t *plan)
{
    plan->known = OC_FLOOD_UNKNOWN;
    gather_verdicts(material, plan);
    if (OC_FLOOD_FLOODED == plan->known) {
        return;
    }
    for (uint32_t host = 0; host < material->num_hosts; host++) {
        plan->tested = plan->tested || OC_FLOOD_UNKNOWN == material->verdicts[host];
    }
    plan->role = role_of(material->hosts, material->rank);
}

oc_status_t oc_flood_plan_make(const uint8_t *records, uint32_t num_ranks, uint32_t rank,
                               oc_multicast_choice_t choice, oc_carrier_t carrier,
                               oc_flood_plan_t *plan)
{
    material_t material = {.records = records, .num_ranks = num_ranks, .rank = rank,
                           .carrier = carrier};
    bool good;

    *plan = (oc_flood_plan_t) {.known = OC_FLOOD_GUARDED};
    if (OC_MULTICAST_AUTO != choice || !may_flood(&material)) {
        return OC_OK; /* somebody has allowed it, or the network knows its members */
    }
    material.hosts = calloc(num_ranks, sizeof(*material.hosts));
    material.verdicts = calloc(num_ranks, sizeof(*material.verdicts));
    good = NULL != material.hosts && NULL != material.verdicts
           && oc_hosts_number(records, num_ranks, material.hosts, &material.num_hosts);
    if (good && material.num_hosts > 1) {
        make_plan(&material, plan);
    }
    free(material.hosts);
    free(material.verdicts);
    return good ? OC_OK : OC_ERR_NO_MEMORY;
}
