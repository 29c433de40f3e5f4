/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes that the interfaces of this host have sent and received, from sysfs. No MPI. */
#ifndef OC_PERF_WIRE_H
#define OC_PERF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OC_PERF_MAX_INTERFACES 64

typedef struct {
    uint64_t sent, received;    /* bytes */
} oc_perf_traffic_t;

typedef struct {
    int send, receive;          /* open files of the two counters */
    unsigned unit;              /* bytes */
} oc_perf_interface_t;

typedef struct {
    oc_perf_interface_t interfaces[OC_PERF_MAX_INTERFACES];
    unsigned count;             /* 0: nothing to read */
} oc_perf_wire_t;

/*
 * Opens the counters of the interfaces in list: NAME, or DEVICE:PORT for an RDMA port, separated
 * by commas; "none"; or NULL for all network interfaces that are up, and all RDMA ports. Not
 * among them are lo, bridges and their ports, interfaces that lie upon others and would count
 * their bytes again, and IPoIB, which the RDMA port counts. sysfs is "/sys". false if one that is
 * named is not there; error says which.
 */
bool oc_perf_wire_open(oc_perf_wire_t *wire, const char *sysfs, const char *list, char *error,
                       size_t size);
void oc_perf_wire_close(oc_perf_wire_t *wire);

/* Sums over all interfaces; false if a counter cannot be read any more. */
bool oc_perf_wire_read(const oc_perf_wire_t *wire, oc_perf_traffic_t *traffic);

#endif
