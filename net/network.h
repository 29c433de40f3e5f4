/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast the network of this host is, if its devices tell the truth. */
#ifndef OC_NET_NETWORK_H
#define OC_NET_NETWORK_H

#include "base/rules.h"

/*
 * The fastest of the devices that names says: a list of UCX, such as "mlx5_0:1,eth0"; NULL, "" or
 * "all": of all. Of RDMA ports that are active, or, if there are none, of network interfaces that
 * are up. Virtual devices say anything and are passed over: the rate is 0 if there are no others.
 * sysfs is "/sys" but in tests. Any thread.
 */
void oc_network_read(const char *sysfs, const char *names, oc_network_t *network);

#endif
