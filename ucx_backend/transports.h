/* SPDX-License-Identifier: BSD-3-Clause */
/* Which transports UCX has chosen for an endpoint. */
#ifndef OC_UCX_BACKEND_TRANSPORTS_H
#define OC_UCX_BACKEND_TRANSPORTS_H

#include <stdbool.h>
#include <ucp/api/ucp.h>

/* Whether all that it uses is TCP. When that cannot be told, it is not. */
bool oc_transports_are_tcp(ucp_ep_h ep);

/* The same of what UCX prints about it; text is not usable afterwards. */
bool oc_transports_tcp_in(char *text);

#endif
