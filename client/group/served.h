/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups that servers serve. Under the lock of the client. */
#ifndef OC_CLIENT_GROUP_SERVED_H
#define OC_CLIENT_GROUP_SERVED_H

#include "client/state/types.h"

extern const oc_service_ops_t oc_service_servers;

#endif
