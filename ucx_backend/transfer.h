/* SPDX-License-Identifier: BSD-3-Clause */
/* The transfers of a worker, for the worker itself. */
#ifndef OC_UCX_BACKEND_TRANSFER_H
#define OC_UCX_BACKEND_TRANSFER_H

#include "ucx_backend/worker_types.h"

/* To be called back with that status. */
void oc_transfer_complete(oc_transfer_t *transfer, oc_status_t status);
/* Calls back what has completed; returns how many. Callbacks may do what they like. */
unsigned oc_transfers_hand_out(oc_worker_t *worker);
/* Asks UCX to let go of all that it has; most of that completes only with progress. */
void oc_transfers_cancel(oc_worker_t *worker);

#endif
