/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From measurements to sizes that are worth to be offloaded, without MPI. What is not clearly
 * faster stays with the previous module, and no single size decides: noise must not make ranges.
 */
#ifndef OC_TUNE_DECISION_H
#define OC_TUNE_DECISION_H

#include "base/rules.h"

#define OC_TUNE_MIN_ROUNDS 5
#define OC_TUNE_MAX_ROUNDS 99
#define OC_TUNE_MAX_POINTS 128

/* Sizes between two that are neighbours, to find where a range begins or ends. */
#define OC_TUNE_FINER 3

/* By how much ours has to be faster, in three of four rounds: one part in so many. */
#define OC_TUNE_MARGIN 32

/* Up to here a range that begins at the smallest size begins at 0, and from here on … */
#define OC_TUNE_SMALLEST 8
/* … one that ends at the largest has no end: time is in proportion to size there. */
#define OC_TUNE_LINEAR (4u << 20)

typedef enum {
    OC_TUNE_SLOWER,
    OC_TUNE_ALIKE,              /* no difference that these rounds can tell */
    OC_TUNE_FASTER,
} oc_tune_verdict_t;

/* One size, as it was measured: medians of each round, in seconds. */
typedef struct {
    uint64_t bytes;
    bool finer;                 /* not one of the first sizes, but between two of them */
    bool offloaded;             /* every operation of ours was */
    unsigned rounds;
    double ours[OC_TUNE_MAX_ROUNDS], previous[OC_TUNE_MAX_ROUNDS];
} oc_tune_sample_t;

/* What it means. A ratio is the time of the previous module by ours, in the same round. */
typedef struct {
    uint64_t bytes;
    bool finer, offloaded;
    double ours, previous;      /* medians of all rounds */
    double ratio, low, high;    /* median and quartiles of all rounds */
    oc_tune_verdict_t verdict;
} oc_tune_finding_t;

/* At least one round. What was not offloaded is not faster. */
void oc_tune_judge(const oc_tune_sample_t *sample, oc_tune_finding_t *finding);

/*
 * Findings by size. A range begins with two neighbours among the first sizes that are faster, goes
 * on as long as no two in a row are alike and none is slower, and ends with one that is faster;
 * sizes in between move its ends, as far as they are faster without a gap. Of more ranges than
 * rules can have, those with the fewest sizes are left out. One finding of 0 bytes, of what has no
 * sizes, is all or nothing.
 */
void oc_tune_ranges(const oc_tune_finding_t *findings, size_t count, oc_sizes_t *sizes);

/*
 * Between which of the sizes, none of which is a finer one yet, ranges begin and end: more sizes
 * that are worth to be measured, whole multiples of element, ascending. Room for
 * OC_TUNE_MAX_POINTS; returns how many.
 */
size_t oc_tune_finer(const oc_tune_finding_t *findings, size_t count, uint64_t element,
                     uint64_t *sizes);

/* "never", "always", or the ranges, in the words of the file of rules. */
void oc_tune_ranges_text(const oc_sizes_t *sizes, char *text, size_t size);

#endif
