/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the library by their names. */
#include "tools/perf/preloaded.h"

#include <dlfcn.h>
#include <string.h>

enum { MOST_COUNTERS = 128 };

bool oc_perf_preloaded_find(oc_perf_preloaded_t *p)
{
    *p = (oc_perf_preloaded_t) {
        .counters = (unsigned (*)(optcast_mpi_counter_t *, unsigned)) dlsym(RTLD_DEFAULT,
                                                                         "optcast_mpi_counters"),
        .setting = (unsigned (*)(unsigned, optcast_mpi_setting_t *)) dlsym(RTLD_DEFAULT,
                                                                        "optcast_mpi_setting"),
        .mode = (int (*)(const char *)) dlsym(RTLD_DEFAULT, "optcast_mpi_mode"),
    };
    if (NULL == p->counters || NULL == p->setting || NULL == p->mode) {
        *p = (oc_perf_preloaded_t) {NULL};
    }
    return NULL != p->counters;
}

uint64_t oc_perf_preloaded_count(const oc_perf_preloaded_t *p, const char *name)
{
    optcast_mpi_counter_t counters[MOST_COUNTERS];
    unsigned number = p->counters(counters, MOST_COUNTERS);

    for (unsigned i = 0; i < number && i < MOST_COUNTERS; i++) {
        if (0 == strcmp(name, counters[i].name)) {
            return counters[i].value;
        }
    }
    return 0;
}
