/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives go on in the order of their numbers. Of a large one, chunks that somebody has come in a collective of the
 * engine's own, which goes before it; those that nobody has are reduced again.
 */
#include "client/recovery/resuming.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "client/collective/collective.h"
#include "client/collective/kept.h"
#include "client/collective/large.h"
#include "client/collective/small.h"
#include "client/collective/supply.h"
#include "client/recovery/renewal.h"
#include "client/recovery/settling.h"
#include "client/state/collapse.h"
#include "reduction/reduction.h"

/* How far the resumption is through the things that the ranks have settled. */
typedef struct {
    oc_group_t *group;
    uint32_t chunk;            /* of all in question */
    uint32_t source;           /* of all things that are given */
} resumption_t;

static void resuming_give_up(oc_group_t *group)
{
    oc_client_collapse(group->client, OC_ERR_NO_MEMORY, "out of memory");
}

/* ---- what is given to all ---- */

static void begin_supply(oc_group_t *group, oc_collective_t *collective, uint64_t number)
{
    const oc_renewal_t *renewal = group->servers->renewal;
    oc_collective_t *running;

    /* one less than the number of what it is for */
    oc_allreduce_of(collective)->sequence =
        OC_RENEWAL_ROUNDS + 2 * (number - renewal->first);
    DL_FOREACH (group->running, running) {
        if (oc_allreduce_of(running)->sequence > oc_allreduce_of(collective)->sequence) {
            break;
        }
    }
    oc_collective_start_inner(collective, running);
}

/* Bytes, by bitwise or. NULL: a collapse is due. */
static oc_allreduce_t *supply_new(oc_group_t *group, void *vector, size_t bytes, oc_supply_t *supply,
                                  void (*inner)(oc_collective_t *collective, oc_status_t status))
{
    oc_allreduce_args_t args = {.send = vector, .recv = vector, .count = bytes, .op = OC_OP_BOR,
                                .type = OC_TYPE_UINT8, .to = OC_RESULT_TO_ALL, .blocking = true};
    oc_collective_t *collective = NULL != supply ? oc_allreduce_new(group, &args) : NULL;

    if (NULL == collective) {
        oc_supply_free(supply);
        resuming_give_up(group);
        return NULL;
    }
    collective->inner = inner;
    oc_allreduce_of(collective)->supply = supply;
    return oc_allreduce_of(collective);
}

/* It does not end before its supply. */
static void hold_for(oc_supply_t *supply)
{
    supply->of->waiting++;
    supply->holds = true;
}

/* What was held for a supply. */
static void release_hold(oc_allreduce_t *allreduce, oc_status_t status)
{
    allreduce->waiting--;
    if (OC_OK != status && OC_OK == allreduce->base.status) {
        return; /* its turn to fail comes */
    }
    if (0 == allreduce->waiting && 0 == allreduce->uncommitted) {
        oc_collective_finish(&allreduce->base, allreduce->base.status);
    }
}

static void on_chunks(oc_collective_t *collective, oc_status_t status)
{
    const oc_supply_t *supply = oc_allreduce_of(collective)->supply;

    if (supply->holds) {
        release_hold(supply->of, status);
    }
}

static void on_small(oc_collective_t *collective, oc_status_t status)
{
    const oc_supply_t *supply = oc_allreduce_of(collective)->supply;

    if (!supply->holds) {
        return;
    }
    if (OC_OK == status) {
        oc_small_take(supply->of, supply->zeros);
    }
    release_hold(supply->of, status);
}

static void supply_small(resumption_t *resumption, uint64_t number, oc_allreduce_t *of)
{
    oc_group_t *group = resumption->group;
    const oc_kept_t *kept = oc_kept_find(group, number);
    uint32_t source = group->servers->renewal->sources[resumption->source++];
    size_t bytes = NULL != of ? of->bytes : kept->bytes;
    oc_supply_t *supply = oc_supply_new(1, bytes);
    void *vector = NULL != supply ? supply->zeros : NULL;
    oc_allreduce_t *given = supply_new(group, vector, bytes, supply, on_small);

    if (NULL == given) {
        return;
    }
    supply->of = of;
    if (NULL != of) {
        hold_for(supply);
    }
    group->client->config.counters->bytes_supplied += bytes;
    if (source == group->params.rank) {
        memcpy(vector, kept->result, bytes);
    }
    begin_supply(group, &given->base, number);
}

/* ---- large ones ---- */

/* Chunks of a large one, by what becomes of them. */
typedef struct {
    uint32_t num_nobody, *nobody; /* reduced again */
    uint32_t num_some, *some;     /* given */
    oc_supply_t *supply;
} lists_t;

static bool lists_make(lists_t *lists, const oc_cut_t *cut)
{
    *lists = (lists_t) {.nobody = calloc(cut->num_chunks, sizeof(uint32_t)),
                        .some = calloc(cut->num_chunks, sizeof(uint32_t)),
                        .supply = oc_supply_new(cut->num_chunks, cut->chunk_bytes)};
    return NULL != lists->nobody && NULL != lists->some && NULL != lists->supply;
}

static void lists_free(lists_t *lists)
{
    free(lists->nobody);
    free(lists->some);
    oc_supply_free(lists->supply);
}

static void lists_fill(lists_t *lists, resumption_t *resumption, const oc_cut_t *cut)
{
    const oc_group_t *group = resumption->group;

    for (uint32_t c = 0; c < cut->num_chunks; c++) {
        switch (oc_settling_chunk(group, resumption->chunk++)) {
        case OC_CHUNK_NOBODY:
            lists->nobody[lists->num_nobody++] = c;
            break;
        case OC_CHUNK_SOME:
            if (group->servers->renewal->sources[resumption->source++] == group->params.rank) {
                oc_cut_set_bit(lists->supply->own, c);
            }
            lists->some[lists->num_some++] = c;
            break;
        case OC_CHUNK_ALL:
            break;
        }
    }
}

static void supply_chunks(oc_allreduce_t *allreduce, lists_t *lists)
{
    oc_group_t *group = allreduce->base.group;
    oc_allreduce_t *given = supply_new(group, allreduce->recv, allreduce->bytes, lists->supply,
                                       on_chunks);

    lists->supply = NULL;
    if (NULL == given) {
        return;
    }
    given->supply->of = allreduce;
    given->cut = (oc_cut_t) {.chunk_bytes = allreduce->cut.chunk_bytes,
                             .num_chunks = allreduce->cut.num_chunks,
                             .listed = lists->some, .num_listed = lists->num_some};
    lists->some = NULL;
    hold_for(given->supply);
    begin_supply(group, &given->base, allreduce->number);
}

static void resume_again(oc_allreduce_t *allreduce)
{
    oc_status_t status = allreduce->algorithm->resume(allreduce);

    if (OC_OK != status) {
        resuming_give_up(allreduce->base.group);
    }
}

static void resume_large(resumption_t *resumption, oc_allreduce_t *allreduce)
{
    oc_counters_t *counters = resumption->group->client->config.counters;
    lists_t lists;

    if (!lists_make(&lists, &allreduce->cut)) {
        lists_free(&lists);
        resuming_give_up(resumption->group);
        return;
    }
    lists_fill(&lists, resumption, &allreduce->cut);
    counters->bytes_supplied += (unsigned long long) lists.num_some * allreduce->cut.chunk_bytes;
    counters->bytes_repeated += (unsigned long long) lists.num_nobody * allreduce->cut.chunk_bytes;
    if (lists.num_some > 0) {
        supply_chunks(allreduce, &lists);
    }
    if (lists.num_nobody > 0) {
        free(allreduce->cut.listed);
        allreduce->cut.listed = lists.nobody;
        allreduce->cut.num_listed = lists.num_nobody;
        lists.nobody = NULL;
        resume_again(allreduce);
    }
    lists_free(&lists);
}

/* ---- all of them ---- */

/* Some rank has not begun it, and will cut it for the servers that there are now: so does this one. */
static void begin_again(oc_allreduce_t *allreduce)
{
    free(allreduce->cut.have);
    free(allreduce->cut.listed);
    allreduce->cut = (oc_cut_t) {.chunk_bytes = 0};
    resume_again(allreduce);
}

static void resume_one(resumption_t *resumption, uint64_t number)
{
    oc_group_t *group = resumption->group;
    oc_allreduce_t *allreduce = oc_settling_find(group, number);
    oc_fate_t fate = oc_settling_fate(group->servers->renewal, number);

    if (oc_settling_is_supplied(group, number)) {
        supply_small(resumption, number, allreduce);
    } else if (NULL == allreduce || OC_FATE_OVER == fate) {
        return; /* over, or to come */
    } else if (OC_FATE_NEW == fate) {
        begin_again(allreduce);
    } else if (oc_settling_is_small(allreduce)) {
        resume_again(allreduce);
    } else {
        resume_large(resumption, allreduce);
    }
}

static void number_anew(oc_group_t *group)
{
    const oc_renewal_t *renewal = group->servers->renewal;
    oc_collective_t *running;

    group->servers->numbering = (oc_numbering_t) {
        .base = OC_RENEWAL_ROUNDS, .first = renewal->first, .end = renewal->end};
    DL_FOREACH (group->running, running) {
        oc_allreduce_of(running)->sequence =
            oc_wire_sequence(&group->servers->numbering, oc_allreduce_of(running)->number);
    }
}

/* All ranks have all of them. */
static void end_complete(oc_group_t *group)
{
    oc_collective_t *running, *next;

    DL_FOREACH_SAFE (group->running, running, next) {
        const oc_allreduce_t *allreduce = oc_allreduce_of(running);

        if (0 == allreduce->waiting && 0 == allreduce->uncommitted) {
            oc_collective_finish(running, OC_OK);
        }
    }
}

void oc_resume(oc_group_t *group)
{
    const oc_renewal_t *renewal = group->servers->renewal;
    resumption_t resumption = {.group = group};

    oc_kept_drop_before(group, renewal->first);
    number_anew(group);
    for (uint64_t number = renewal->first;
         OC_OK == group->client->collapse && number < renewal->end; number++) {
        resume_one(&resumption, number);
    }
    if (OC_OK == group->client->collapse) {
        end_complete(group);
    }
}
