/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting service threads inside somebody else's process. */
#ifndef OC_BASE_THREADS_H
#define OC_BASE_THREADS_H

#include <pthread.h>

#include "base/status.h"

/*
 * A thread with all signals blocked, so that the process's handlers never run on it. name has
 * at most 15 characters.
 */
oc_status_t oc_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);

/*
 * Called first by the thread itself. The floating point environment as the language has it at
 * program start: a thread inherits its creator's rounding.
 */
void oc_thread_default_arithmetic(void);

/* How many processors the calling thread may use. */
unsigned oc_processors(void);

#endif
