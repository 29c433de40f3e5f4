/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes on the wires of the hosts, over operations of their own without barriers between. */
#include "tools/perf/traffic.h"

#include "tools/perf/check.h"
#include "tools/perf/operate.h"

/* How long to count, if one iteration does not take longer, and how many iterations at most. */
#define SECONDS        0.2
#define MAX_ITERATIONS 1000

static int choose_iterations(oc_perf_meter_t *m, const oc_perf_side_t *side)
{
    double number = side->median > 0 ? SECONDS / side->median : MAX_ITERATIONS;
    int iterations = number > MAX_ITERATIONS ? MAX_ITERATIONS : (int) number;

    MPI_Bcast(&iterations, 1, MPI_INT, 0, m->job->control);
    return iterations < 1 ? 1 : iterations;
}

/* Of all ranks, of which only leaders have something to give. */
static void reduce(oc_perf_meter_t *m, bool good, const double *mine, oc_perf_side_t *side)
{
    oc_perf_wire_use_t *use = &side->wire;
    double most[2], sum[2];
    int hosts = good;

    MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, m->job->control);
    MPI_Reduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, m->job->control);
    MPI_Reduce(&hosts, &use->hosts, 1, MPI_INT, MPI_SUM, 0, m->job->control);
    if (0 == m->job->rank) {
        use->known = use->hosts > 0;
        use->sent_max = most[0];
        use->received_max = most[1];
        use->sent_sum = sum[0];
        use->received_sum = sum[1];
    }
}

/* The counters of this host; nothing on ranks that do not lead. */
static bool read_counters(oc_perf_meter_t *m, oc_perf_traffic_t *traffic)
{
    return 0 != m->wire.count && oc_perf_wire_read(&m->wire, traffic);
}

void oc_perf_meter_wire(oc_perf_meter_t *m, int index, oc_perf_side_t *side)
{
    int iterations = choose_iterations(m, side), operations = iterations * m->options->stream;
    oc_perf_traffic_t before, after;
    double mine[2] = {0, 0};
    bool good;

    MPI_Barrier(m->job->control);
    good = read_counters(m, &before);
    MPI_Barrier(m->job->control);
    for (int i = 0; i < iterations; i++) {
        if (m->options->in_place) {
            oc_perf_meter_prepare(m, false);
        }
        (void) oc_perf_operate(m, index, NULL);
    }
    MPI_Barrier(m->job->control);
    good = read_counters(m, &after) && good;
    if (good) {
        mine[0] = (double) (after.sent - before.sent) / operations;
        mine[1] = (double) (after.received - before.received) / operations;
    }
    reduce(m, good, mine, side);
}
