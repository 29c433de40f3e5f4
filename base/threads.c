/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals, processors and floating point environment of service threads. */
#include "base/threads.h"

#include <fenv.h>
#include <sched.h>
#include <unistd.h>

#include "base/signals.h"

oc_status_t oc_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg)
{
    sigset_t before;
    int rc;

    oc_signals_block(&before);
    rc = pthread_create(thread, NULL, run, arg);
    oc_signals_restore(&before);
    if (0 != rc) {
        return OC_ERR_SYSTEM;
    }
    pthread_setname_np(*thread, name);
    return OC_OK;
}

void oc_thread_default_arithmetic(void)
{
    fesetenv(FE_DFL_ENV);
}

unsigned oc_processors(void)
{
    cpu_set_t set;

    if (0 == sched_getaffinity(0, sizeof(set), &set)) {
        return (unsigned) CPU_COUNT(&set);
    }
    /* more of them than the set has room for */
    return (unsigned) sysconf(_SC_NPROCESSORS_ONLN);
}
