/* SPDX-License-Identifier: BSD-3-Clause */
/* Some servers, in a file with their weights. What goes wrong fails the test. */
#ifndef OC_TESTS_ENGINE_FARM_H
#define OC_TESTS_ENGINE_FARM_H

#include "tests/engine/harness.h"

#define MAX_FARM_SERVERS 4

typedef struct {
    test_server_t servers[MAX_FARM_SERVERS];
    unsigned count;
    char path[64], list[80];   /* file of the servers, and the setting that names it */
} farm_t;

/* A server for each weight ("weight=2" or "", NULL at the end). */
void farm_start(farm_t *farm, const char *aggregators, const char *const *weights);

/* The same servers with other weights, into another file. */
void farm_write(const farm_t *farm, const char *path, const char *const *weights);

/* Removes its own file, too. */
void farm_stop(farm_t *farm);

/* With a farm of these, which is stopped before the test fails if a rank does. */
void farm_run(const char *const *weights, const char *aggregators, uint32_t num_ranks,
              const oc_job_settings_t *settings, void (*body)(rank_t *rank), unsigned seconds);

#endif
