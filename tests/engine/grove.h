/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree of real servers, for tests with cmocka: leaves and their parent. */
#ifndef OC_TESTS_ENGINE_GROVE_H
#define OC_TESTS_ENGINE_GROVE_H

#include <stdbool.h>

#include "tests/engine/harness.h"

typedef struct {
    test_server_t parent, leaves[MAX_TEST_LEAVES];
    unsigned num_leaves;
    char list[256];             /* of the leaves, as coll_optcast_servers has them */
    const char *drain_timeout;  /* to be set before the start; NULL: 30 seconds */
} grove_t;

/* With limits of memory that nothing reaches; exits on failure. */
void grove_start(grove_t *grove, unsigned num_leaves, const char *aggregators);
void grove_start_with(grove_t *grove, unsigned num_leaves, const char *aggregators,
                      const char *memory, const char *parent_memory);

/* All end in order, or the test fails. */
void grove_stop(grove_t *grove);

/* For its clients: settings for tests, with smaller messages. Valid as long as the grove is. */
oc_job_settings_t grove_settings(const grove_t *grove);

/* Whether this process has a connection to that server. */
bool is_connected(const test_server_t *server);

#endif
