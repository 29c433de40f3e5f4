/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of 20 bits that nobody can guess, each for one user at a time: what tags say of a group.
 * One that was given back is not used again before OC_HANDLES_RESTING others were, so that a
 * message that is late does not meet a successor.
 */
#ifndef OC_BASE_HANDLES_H
#define OC_BASE_HANDLES_H

#include <stdbool.h>
#include <stdint.h>

#define OC_HANDLES_BITS    20
#define OC_HANDLES_MAX     65536u    /* in use at a time */
#define OC_HANDLES_RESTING 65536u

typedef struct oc_handles oc_handles_t;

/* NULL: no memory. */
oc_handles_t *oc_handles_new(void);

/* NULL is allowed. */
void oc_handles_free(oc_handles_t *handles);

/* false: as many as can be are in use, or the system has no random numbers. */
bool oc_handles_take(oc_handles_t *handles, uint32_t *handle);

/* One that was taken. */
void oc_handles_give(oc_handles_t *handles, uint32_t handle);

/* Walks all of them: what is wrong, or NULL; see base/check.h. */
const char *oc_handles_check(const oc_handles_t *handles);

#endif
