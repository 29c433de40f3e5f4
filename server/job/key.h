/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparing secrets. */
#ifndef OC_SERVER_JOB_KEY_H
#define OC_SERVER_JOB_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

/* Takes the same time wherever the keys differ. */
static inline bool oc_same_key(const uint8_t *a, const uint8_t *b)
{
    volatile uint8_t difference = 0;

    for (int i = 0; i < OC_JOB_KEY_SIZE; i++) {
        difference = (uint8_t) (difference | (a[i] ^ b[i]));
    }
    return 0 == difference;
}

#endif
