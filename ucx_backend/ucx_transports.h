/* SPDX-License-Identifier: BSD-3-Clause */
/* Which transports UCX has chosen for an endpoint. */
#ifndef OC_UCX_BACKEND_UCX_TRANSPORTS_H
#define OC_UCX_BACKEND_UCX_TRANSPORTS_H

#include <stdbool.h>
#include <ucp/api/ucp.h>

/* When it cannot be told, nothing is so. */
typedef struct {
    bool tcp;                   /* all that it uses is TCP */
    bool rdma;                  /* something of it is a device that memory is registered with */
} oc_ucx_transports_t;

oc_ucx_transports_t oc_ucx_transports_of(ucp_ep_h ep);

/* The same of what UCX prints about it; text is not usable afterwards. */
oc_ucx_transports_t oc_ucx_transports_in(char *text);

#endif
