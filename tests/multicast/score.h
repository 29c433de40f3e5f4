/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of an operation have to play: the layout of its blocks and their bytes; and the
 * buffers of each rank, with guards around and between blocks, which are compared with that.
 */
#ifndef OC_TESTS_MULTICAST_SCORE_H
#define OC_TESTS_MULTICAST_SCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    unsigned num_ranks;
    size_t gap;                  /* guard bytes behind each block */
    size_t *lengths, *offsets;   /* of the blocks; offsets from where the blocks begin */
    size_t span;                 /* from the first byte of all blocks to the last gap */
    uint8_t *reference;          /* all blocks with their gaps */
} score_t;

/* Of one rank. */
typedef struct {
    const score_t *score;
    unsigned rank;
    uint8_t *memory;
    uint8_t *recv;               /* within memory: where the blocks begin */
    uint8_t *send;               /* NULL: in place */
} buffers_t;

/* lengths NULL: all blocks have block bytes. Equal keys make equal bytes. */
void score_init(score_t *score, unsigned num_ranks, size_t block, const size_t *lengths,
                size_t gap, uint64_t key);
void score_free(score_t *score);

void buffers_init(buffers_t *buffers, const score_t *score, unsigned rank, bool in_place);
/* All zero is allowed. */
void buffers_free(buffers_t *buffers);

/*
 * Looks for what is wrong at the end of an operation: results (if they count), guards, the send
 * buffer. false: there is something, and text says what.
 */
bool buffers_check(const buffers_t *buffers, bool results, char *text, size_t size);

/* The caller has its buffers back, and writes into them: whoever still reads them reads nonsense. */
void buffers_take_back(buffers_t *buffers);
/* Whether nobody has written into them since. */
bool buffers_untouched(const buffers_t *buffers);

#endif
