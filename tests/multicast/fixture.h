/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The crew of a test of cmocka: made of one configuration, which begins as crew_defaults has it,
 * and freed when the test is over or makes another one.
 */
#ifndef OC_TESTS_MULTICAST_FIXTURE_H
#define OC_TESTS_MULTICAST_FIXTURE_H

#include "tests/multicast/crew.h"

extern crew_config_t config;
extern crew_t *crew;

/* Around each test. */
int set_up_crew(void **state);
int tear_down_crew(void **state);

/* Made of config. */
void begin_crew(unsigned num_ranks);

/* The crew's virtual time. */
uint64_t now(void);

/* All ranks are ready soon. */
void expect_probed(void);

/* All that was added ends within that time, with all results on all ranks. */
void expect_success(uint64_t patience);

#endif
