/* SPDX-License-Identifier: BSD-3-Clause */
/* What the processes of a server use: processor time, memory. */
#ifndef OC_BENCH_SIZE_SERVER_H
#define OC_BENCH_SIZE_SERVER_H

#include "tests/engine/harness.h"

typedef struct {
    double seconds;            /* processor time of all threads, without processes that ended */
    double kib;                /* resident */
} oc_server_use_t;

/* Its supervisor and the process of its only job, together. */
oc_server_use_t oc_server_use(const test_server_t *server);

#endif
