/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages by tag: a table that has about one place for each of them, however many there are. Of
 * one thread.
 */
#ifndef OC_SERVER_AGGREGATOR_TAG_TABLE_H
#define OC_SERVER_AGGREGATOR_TAG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of whatever is kept in the table. */
typedef struct oc_tagged {
    uint64_t tag;
    struct oc_tagged *prev, *next;
} oc_tagged_t;

typedef struct {
    oc_tagged_t **places;
    size_t num_places;           /* a power of two */
    size_t count;
} oc_tag_table_t;

/* false: no memory. */
bool oc_tag_table_open(oc_tag_table_t *table);

/* Whatever is in it stays its owner's. Also of one that was never opened, if it is all zeros. */
void oc_tag_table_close(oc_tag_table_t *table);

/*
 * There may be several with the same tag. Without memory for more places it takes longer to find
 * something, and nothing else happens.
 */
void oc_tag_table_add(oc_tag_table_t *table, oc_tagged_t *tagged);
void oc_tag_table_remove(oc_tag_table_t *table, oc_tagged_t *tagged);

/* Walks all of it: what is wrong, or NULL; see base/check.h. */
const char *oc_tag_table_check(const oc_tag_table_t *table);

/* The one that was added last; NULL: there is none. */
oc_tagged_t *oc_tag_table_find(const oc_tag_table_t *table, uint64_t tag);

#endif
