/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers by the number, and the file that lists them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/engine/farm.h"

void farm_write(const farm_t *farm, const char *path, const char *const *weights)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (unsigned i = 0; i < farm->count; i++) {
        fprintf(file, "%s %s\n", farm->servers[i].address, weights[i]);
    }
    fclose(file);
}

void farm_start(farm_t *farm, const char *aggregators, const char *const *weights)
{
    const char *options[] = {"--aggregators", aggregators, NULL};
    int fd;

    for (farm->count = 0; NULL != weights[farm->count]; farm->count++) {
        assert_in_range(farm->count, 0, MAX_FARM_SERVERS - 1);
        server_start(&farm->servers[farm->count], options);
    }
    snprintf(farm->path, sizeof(farm->path), "/tmp/optcast_servers_XXXXXX");
    fd = mkstemp(farm->path);
    assert_true(fd >= 0);
    close(fd);
    farm_write(farm, farm->path, weights);
    snprintf(farm->list, sizeof(farm->list), "file:%s", farm->path);
}

void farm_stop(farm_t *farm)
{
    unlink(farm->path);
    for (unsigned i = 0; i < farm->count; i++) {
        assert_int_equal(server_stop(&farm->servers[i]), 0);
    }
}

void farm_run(const char *const *weights, const char *aggregators, uint32_t num_ranks,
              const oc_job_settings_t *settings, void (*body)(rank_t *rank), unsigned seconds)
{
    oc_job_settings_t copy = *settings;
    unsigned failed;
    farm_t farm;

    farm_start(&farm, aggregators, weights);
    copy.servers = farm.list;
    failed = ranks_run(num_ranks, &copy, body, seconds);
    farm_stop(&farm);
    assert_int_equal(failed, 0);
}
