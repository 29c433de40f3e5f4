/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes are on one host. */
#ifndef OC_NET_HOST_H
#define OC_NET_HOST_H

#include <stdint.h>

/* Equal for processes with the same kernel and network namespace: loopback leads to each other. */
uint64_t oc_host_identity(void);

#endif
