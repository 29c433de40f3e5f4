/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters in sentences. */
#include "adapter/summary.h"

#include <stdio.h>

static unsigned long long offloaded(const oc_counters_t *counters)
{
    return counters->allreduce_offloaded + counters->reduce_offloaded
           + counters->reduce_scatter_offloaded + counters->barrier_offloaded
           + counters->allgather_offloaded + counters->bcast_offloaded;
}

static void tell_operations(const oc_adapter_counters_t *counters, char *text, size_t size)
{
    const oc_counters_t *engine = &counters->engine;
    const unsigned long long *reasons = counters->fallback_reasons;

    snprintf(text, size,
             "%llu collectives offloaded, %llu bytes sent, %llu bytes received, "
             "%llu fell back (op %llu, type %llu, ranks %llu, size %llu, place %llu, setup %llu, "
             "order %llu)",
             offloaded(engine), engine->bytes_sent, engine->bytes_received, counters->fallbacks,
             reasons[OC_FALLBACK_OP], reasons[OC_FALLBACK_TYPE], reasons[OC_FALLBACK_RANKS],
             reasons[OC_FALLBACK_SIZE], reasons[OC_FALLBACK_PLACE], reasons[OC_FALLBACK_SETUP],
             reasons[OC_FALLBACK_ORDER]);
}

static void tell_recoveries(const oc_adapter_counters_t *counters, char *text, size_t size)
{
    const oc_counters_t *engine = &counters->engine;

    if (0 == engine->recoveries + engine->returns) {
        return;
    }
    snprintf(text, size,
             "%llu recoveries, %llu servers back, %llu us until all went on, %llu bytes reduced again, "
             "%llu bytes supplied by ranks",
             engine->recoveries, engine->returns, engine->recovery_time, engine->bytes_repeated,
             engine->bytes_supplied);
}

static void tell_multicast(const oc_adapter_counters_t *counters, char *text, size_t size)
{
    const oc_cast_counters_t *cast = &counters->engine.cast;

    if (0 == cast->fragments_sent + cast->fragments_received) {
        return;
    }
    snprintf(text, size,
             "%llu fragments sent by multicast, %llu received, %llu lost, "
             "%llu recovered, %llu doubled, %llu late, %llu foreign, %llu forged",
             cast->fragments_sent, cast->fragments_received, cast->fragments_lost,
             cast->fragments_recovered, cast->fragments_duplicated, cast->fragments_late,
             cast->fragments_foreign + cast->datagrams_foreign,
             cast->datagrams_forged + cast->messages_forged);
}

bool oc_summary_line(const oc_adapter_counters_t *counters, unsigned *next, char *text, size_t size)
{
    static void (*const tellers[])(const oc_adapter_counters_t *counters, char *text, size_t size) = {
        tell_operations, tell_recoveries, tell_multicast};

    text[0] = '\0';
    while ('\0' == text[0] && *next < sizeof(tellers) / sizeof(tellers[0])) {
        tellers[(*next)++](counters, text, size);
    }
    return '\0' != text[0];
}
