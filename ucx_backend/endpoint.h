/* SPDX-License-Identifier: BSD-3-Clause */
/* The endpoints of a worker, for the worker itself and for transfers. */
#ifndef OC_UCX_BACKEND_ENDPOINT_H
#define OC_UCX_BACKEND_ENDPOINT_H

#include "ucx_backend/worker_types.h"

/* Tells whoever has an endpoint that UCX gave up; returns how many were told. */
unsigned oc_endpoints_notify(oc_worker_t *worker);
/* Frees those that are closed and that UCX has let go of. */
void oc_endpoints_reap(oc_worker_t *worker);
/* Begins to close all that are left. */
void oc_endpoints_close(oc_worker_t *worker);
/* Frees those that are closing still; the UCX worker is gone. */
void oc_endpoints_free(oc_worker_t *worker);
/* What its messages go by: asked of UCX once. The result is the endpoint's. */
const oc_ucx_transports_t *oc_endpoint_transports(oc_endpoint_t *endpoint);

#endif
