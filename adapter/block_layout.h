/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the blocks of an Allgather are, one of each rank, as rows of bytes: in the program's buffer,
 * or in a temporary if they are no rows there.
 */
#ifndef OC_ADAPTER_BLOCK_LAYOUT_H
#define OC_ADAPTER_BLOCK_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *recv;                 /* the program's, or the temporary */
    size_t block;               /* bytes of each block, side by side, if … */
    size_t *lengths;            /* … this is NULL: bytes of each */
    size_t *offsets;            /* from recv; with lengths */
    ptrdiff_t *places;          /* bytes from the buffer to the first element of each; with lengths */
    size_t total;               /* bytes of all */
    bool scattered;             /* the program's blocks are no rows of bytes: see temporary */
    char *temporary;            /* NULL: not there yet */
} oc_layout_blocks_t;

/* Room for lengths, offsets and places of so many blocks. false: out of memory. */
bool oc_layout_lists(oc_layout_blocks_t *layout, size_t count);
/*
 * Once lengths, places and scattered are filled in: sets total and offsets, and recv if it is not a
 * temporary. to_data: from the address of an element to its first byte.
 */
void oc_layout_place(oc_layout_blocks_t *layout, size_t count, void *buffer, ptrdiff_t to_data);
/* The block of a rank, in the buffer of all blocks. */
typedef struct {
    char *place;
    size_t length;
} oc_layout_own_t;

oc_layout_own_t oc_layout_own(const oc_layout_blocks_t *layout, size_t rank);
/* Allocates the temporary, if one is needed. To be called before each operation. false: out of memory. */
bool oc_layout_begin(oc_layout_blocks_t *layout);
void oc_layout_free(oc_layout_blocks_t *layout);

#endif
