/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mask of signals in somebody else's process: a new thread has its creator's, and a signal of
 * the program must not meet a thread that the program does not know of.
 */
#ifndef OC_BASE_SIGNALS_H
#define OC_BASE_SIGNALS_H

#include <signal.h>

/* Threads that this one starts from here on, itself or through a library, take no signal. */
static inline void oc_signals_block(sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

static inline void oc_signals_restore(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

#endif
