/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of lost servers, and of those that have returned. */
#include "protocol/lost.h"

#include <string.h>

#include "base/text.h"

/* Ids of groups have the number of a team in the low bits, which every epoch leaves alone. */
#define TEAM_BITS 16

static unsigned lost_place_of(const oc_lost_t *lost, uint64_t server)
{
    unsigned i = 0;

    while (i < lost->count && lost->servers[i] < server) {
        i++;
    }
    return i;
}

bool oc_lost_has(const oc_lost_t *lost, uint64_t server)
{
    unsigned i = lost_place_of(lost, server);

    return i < lost->count && server == lost->servers[i];
}

bool oc_lost_add(oc_lost_t *lost, uint64_t server)
{
    unsigned i = lost_place_of(lost, server);

    if (i < lost->count && server == lost->servers[i]) {
        return true;
    }
    if (OC_MAX_LOST == lost->count) {
        return false;
    }
    memmove(&lost->servers[i + 1], &lost->servers[i], (lost->count - i) * sizeof(lost->servers[0]));
    lost->servers[i] = server;
    lost->count++;
    return true;
}

bool oc_lost_is_empty(const oc_lost_t *lost)
{
    return 0 == lost->count && 0 == lost->num_returned;
}

static unsigned returned_place_of(const oc_lost_t *lost, uint64_t incarnation)
{
    unsigned i = 0;

    while (i < lost->num_returned && lost->returned[i].incarnation < incarnation) {
        i++;
    }
    return i;
}

bool oc_lost_has_returned(const oc_lost_t *lost, uint64_t incarnation)
{
    unsigned i = returned_place_of(lost, incarnation);

    return i < lost->num_returned && incarnation == lost->returned[i].incarnation;
}

bool oc_lost_add_returned(oc_lost_t *lost, oc_returned_t returned)
{
    unsigned i = returned_place_of(lost, returned.incarnation);

    if (oc_lost_has_returned(lost, returned.incarnation)) {
        /* who says so of two numbers lies: all have to believe the same */
        if (returned.number < lost->returned[i].number) {
            lost->returned[i].number = returned.number;
        }
        return true;
    }
    if (OC_MAX_LOST == lost->num_returned) {
        return false;
    }
    memmove(&lost->returned[i + 1], &lost->returned[i], (lost->num_returned - i) * sizeof(lost->returned[0]));
    lost->returned[i] = returned;
    lost->num_returned++;
    return true;
}

bool oc_lost_join(oc_lost_t *lost, const oc_lost_t *others)
{
    oc_lost_t both = *lost;

    for (unsigned i = 0; i < others->count; i++) {
        if (!oc_lost_add(&both, others->servers[i])) {
            return false;
        }
    }
    for (unsigned i = 0; i < others->num_returned; i++) {
        if (!oc_lost_add_returned(&both, others->returned[i])) {
            return false;
        }
    }
    *lost = both;
    return true;
}

bool oc_lost_covers(const oc_lost_t *lost, const oc_lost_t *others)
{
    for (unsigned i = 0; i < others->count; i++) {
        if (!oc_lost_has(lost, others->servers[i])) {
            return false;
        }
    }
    for (unsigned i = 0; i < others->num_returned; i++) {
        const oc_returned_t *returned = &others->returned[i];

        if (!oc_lost_has_returned(lost, returned->incarnation)
            || lost->returned[returned_place_of(lost, returned->incarnation)].number > returned->number) {
            return false;
        }
    }
    return true;
}

uint64_t oc_lost_epoch(const oc_lost_t *lost)
{
    uint64_t hash;

    if (oc_lost_is_empty(lost)) {
        return 0;
    }
    hash = oc_hash(OC_HASH_START, &lost->count, sizeof(lost->count));
    hash = oc_hash(hash, lost->servers, lost->count * sizeof(lost->servers[0]));
    for (unsigned i = 0; i < lost->num_returned; i++) {
        hash = oc_hash(hash, &lost->returned[i].incarnation, sizeof(lost->returned[i].incarnation));
        hash = oc_hash(hash, &lost->returned[i].number, sizeof(lost->returned[i].number));
    }
    return hash >> TEAM_BITS << TEAM_BITS;
}
