/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list for each place. The table doubles when there are more messages than places, and has the
 * size that it began with again when the last of them has gone: with 8 to 16 bytes for each message
 * at its most, it is little beside what UCX needs for one.
 */
#include "server/aggregator/tag_table.h"

#include <assert.h>
#include <stdlib.h>
#include <utlist.h>

#define FEWEST_PLACES 1024u

static oc_tagged_t **tag_table_place_of(const oc_tag_table_t *table, uint64_t tag)
{
    /* the low bits of sequence and slot tell most of them apart, then rank and handle */
    uint64_t mixed = (tag ^ tag >> 12 ^ tag >> 24 ^ tag >> 40) * 0x9e3779b97f4a7c15ull;

    return &table->places[mixed >> 32 & (table->num_places - 1)];
}

bool oc_tag_table_open(oc_tag_table_t *table)
{
    *table = (oc_tag_table_t) {.num_places = FEWEST_PLACES};
    table->places = calloc(table->num_places, sizeof(oc_tagged_t *));
    return NULL != table->places;
}

void oc_tag_table_close(oc_tag_table_t *table)
{
    free(table->places);
    *table = (oc_tag_table_t) {0};
}

/* As it is, if there is no memory. In each list the order stays, among equal tags. */
static void resize(oc_tag_table_t *table, size_t num_places)
{
    oc_tag_table_t resized = {.num_places = num_places, .count = table->count};
    oc_tagged_t *tagged;

    assert(num_places >= FEWEST_PLACES && 0 == (num_places & (num_places - 1)));
    resized.places = calloc(num_places, sizeof(oc_tagged_t *));
    if (NULL == resized.places) {
        return;
    }
    for (size_t i = 0; i < table->num_places; i++) {
        while (NULL != (tagged = table->places[i])) {
            DL_DELETE(table->places[i], tagged);
            DL_APPEND(*tag_table_place_of(&resized, tagged->tag), tagged);
        }
    }
    free(table->places);
    *table = resized;
}

void oc_tag_table_add(oc_tag_table_t *table, oc_tagged_t *tagged)
{
    if (table->count == table->num_places) {
        resize(table, 2 * table->num_places);
    }
    DL_PREPEND(*tag_table_place_of(table, tagged->tag), tagged);
    table->count++;
}

void oc_tag_table_remove(oc_tag_table_t *table, oc_tagged_t *tagged)
{
    assert(table->count > 0 && NULL != *tag_table_place_of(table, tagged->tag));
    DL_DELETE(*tag_table_place_of(table, tagged->tag), tagged);
    table->count--;
    if (0 == table->count && table->num_places > FEWEST_PLACES) {
        resize(table, FEWEST_PLACES);
    }
}

oc_tagged_t *oc_tag_table_find(const oc_tag_table_t *table, uint64_t tag)
{
    oc_tagged_t *tagged;

    DL_FOREACH (*tag_table_place_of(table, tag), tagged) {
        if (tagged->tag == tag) {
            return tagged;
        }
    }
    return NULL;
}

const char *oc_tag_table_check(const oc_tag_table_t *table)
{
    const oc_tagged_t *tagged;
    size_t count = 0;

    for (size_t i = 0; NULL != table->places && i < table->num_places; i++) {
        DL_FOREACH (table->places[i], tagged) {
            if (&table->places[i] != tag_table_place_of(table, tagged->tag)) {
                return "a message is in the place of other tags";
            }
            count++;
        }
    }
    return count == table->count ? NULL : "the table of messages counts others than it has";
}
