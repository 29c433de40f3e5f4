/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Invariants: what holds whatever comes from the wire or from a user. assert() states one that is
 * cheap to see; a function oc_NAME_check walks a whole structure and returns what is wrong with it,
 * as a constant text, or NULL. Tests call these functions themselves, in every build.
 *
 * assert() and OC_CHECK are active where configure has --enable-checks, which --enable-sanitizers
 * implies. In other builds their arguments are not evaluated, so they must have no side effects.
 * ompi/ has Open MPI's own NDEBUG in all builds, and so no assert(). What others may get wrong is no
 * invariant: that is checked in every build, where it enters.
 */
#ifndef OC_BASE_CHECK_H
#define OC_BASE_CHECK_H

#include <assert.h>

#if defined(OC_CHECKED)

#include <stdio.h>
#include <stdlib.h>

static inline void oc_check_that(const char *wrong, const char *file, int line)
{
    if (NULL != wrong) {
        fprintf(stderr, "%s:%d: %s\n", file, line, wrong);
        abort();
    }
}

/* OC_CHECK(oc_pool_check(pool)): ends the program if the function finds something wrong. */
#define OC_CHECK(call) oc_check_that(call, __FILE__, __LINE__)

#else
#define OC_CHECK(call) ((void) 0)
#endif

#endif
