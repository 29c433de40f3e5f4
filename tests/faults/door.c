/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the faults of this process's transports. */
#include "tests/faults/door.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "multicast/service/cast_transports.h"
#include "tests/faults/shim.h"

static oc_faults_t installed;

static uint64_t tell_time(void *arg)
{
    (void) arg;
    return oc_clock_ns();
}

static oc_transport_t *make_worse(oc_transport_t *transport, uint64_t number)
{
    return oc_shim_new(transport, &installed, number, tell_time, NULL);
}

void faults_install(const char *text)
{
    char error[200];

    if (OC_OK != oc_faults_parse(text, &installed, error, sizeof(error))) {
        fprintf(stderr, "faults of the network: %s\n", error);
        abort();
    }
    oc_cast_transports_wrap = oc_faults_any(&installed) ? make_worse : NULL;
}
