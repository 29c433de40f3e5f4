/* SPDX-License-Identifier: BSD-3-Clause */
/* From a network interface to the device names that UCX knows. */
#ifndef OC_NET_DEVICES_H
#define OC_NET_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes "IFACE", or "IFACE,DEVICE:PORT,…" with the RDMA ports that the interface runs on: its
 * own name alone would leave UCX with TCP. sysfs is "/sys" but in tests. Never fails; what does
 * not fit is left out.
 */
void oc_devices_of(const char *interface, const char *sysfs, char *buffer, size_t size);

/* Adds a name to a list with commas, if it is not there. false: it does not fit. */
bool oc_devices_add(char *list, size_t size, const char *name);

/* The same with all RDMA ports of this host that are active. */
bool oc_devices_add_rdma(char *list, size_t size, const char *sysfs);

#endif
