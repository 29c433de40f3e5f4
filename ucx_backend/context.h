/* SPDX-License-Identifier: BSD-3-Clause */
/* UCX with the settings of the offload. */
#ifndef OC_UCX_BACKEND_CONTEXT_H
#define OC_UCX_BACKEND_CONTEXT_H

#include <ucp/api/ucp.h>

/* net_devices as in oc_worker_open. The caller ends it with ucp_cleanup. */
ucs_status_t oc_context_open(const char *net_devices, ucp_context_h *context);

#endif
