/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the clock of the measurement, and the calls that it times. */
#include "bench/reduction/reduction_sweep.h"

#include <string.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static char *buffers_of(const oc_sweep_place_t *place, size_t chunk)
{
    return place->memory + chunk * place->inputs * place->chunk_bytes;
}

static void run(const oc_runner_t *runner, const oc_sweep_place_t *place, size_t chunk)
{
    char *first = buffers_of(place, chunk);
    const void *sources[OC_MAX_INPUTS];

    for (size_t k = 0; k < place->inputs; k++) {
        sources[k] = first + k * place->chunk_bytes;
    }
    if (NULL != runner->kernel) {
        runner->kernel(first, sources, place->inputs, place->chunk_bytes / runner->element);
    } else {
        oc_streams_run(runner->shape, first, sources, place->inputs, place->chunk_bytes);
    }
}

double oc_sweep(const oc_runner_t *runner, const oc_sweep_place_t *place, size_t first, size_t end)
{
    double begin;

    for (size_t chunk = first; chunk < end; chunk++) {
        memset(buffers_of(place, chunk), OC_SWEEP_BYTE, place->chunk_bytes);
    }
    begin = seconds();
    for (size_t i = 0; i < place->repeat; i++) {
        for (size_t chunk = first; chunk < end; chunk++) {
            run(runner, place, chunk);
        }
    }
    return seconds() - begin;
}
