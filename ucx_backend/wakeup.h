/* SPDX-License-Identifier: BSD-3-Clause */
/* What the owner of a worker sleeps on. */
#ifndef OC_UCX_BACKEND_WAKEUP_H
#define OC_UCX_BACKEND_WAKEUP_H

#include "ucx_backend/worker_types.h"

/* Makes the timer. false: there is none, and errno says why. */
bool oc_wakeup_open(oc_wakeup_t *wakeup);
/* Closes the timer, if there is one. */
void oc_wakeup_close(oc_wakeup_t *wakeup);

#endif
