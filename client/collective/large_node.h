/* SPDX-License-Identifier: BSD-3-Clause */
/* Large Allreduces in the node shape. Under the lock of the client. */
#ifndef OC_CLIENT_COLLECTIVE_LARGE_NODE_H
#define OC_CLIENT_COLLECTIVE_LARGE_NODE_H

#include "client/collective/allreduce.h"

extern const oc_allreduce_algorithm_t oc_large_node;

#endif
