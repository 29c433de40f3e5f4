/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks that set a group up vote with: numbers, of each of which the minimum over all ranks counts. */
#ifndef OC_CLIENT_VOTE_H
#define OC_CLIENT_VOTE_H

#include <stdint.h>

#define OC_VOTE_WORDS 4

/* Both have OC_VOTE_WORDS numbers: takes another rank's vote into the outcome. */
static inline void oc_vote_take(int64_t *outcome, const int64_t *vote)
{
    for (unsigned i = 0; i < OC_VOTE_WORDS; i++) {
        outcome[i] = vote[i] < outcome[i] ? vote[i] : outcome[i];
    }
}

#endif
