/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast the network of this host is, if its devices tell the truth. */
#ifndef OC_NET_LINK_SPEED_H
#define OC_NET_LINK_SPEED_H

#include "base/rules.h"

/*
 * The fastest of the devices that names says: a list of UCX, such as "mlx5_0:1,eth0" or
 * "^docker0"; NULL, "" or "all": of all; one with ranges ("mlx5_[0-3]"): nothing is known. Of RDMA
 * ports that are active, unless transports, also a list of UCX, has none that use them, or else of
 * network interfaces that are up. A bond or a VLAN is as fast as the fastest card that it stands
 * on. What belongs to no bus says anything and is passed over: the rate is 0 if there is nothing
 * else. sysfs is "/sys" but in tests. Any thread.
 */
void oc_network_read(const char *sysfs, const char *names, const char *transports,
                     oc_network_t *network);

#endif
