/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where aggregators and their memory belong: near the network device that the data go through. A
 * function of a topology and nothing else, so that it is tested with machines that nobody here has.
 */
#ifndef OC_SERVER_HOST_PLACEMENT_H
#define OC_SERVER_HOST_PLACEMENT_H

#include <hwloc.h>

#include "base/status.h"

typedef enum {
    OC_PLACEMENT_NEAR,       /* the sets say where */
    OC_PLACEMENT_UNKNOWN,    /* the topology has no such device, as in most virtual machines */
    OC_PLACEMENT_EVERYWHERE, /* all processors are as near */
    OC_PLACEMENT_EXCLUDED,   /* no processor that is near may be used */
    OC_PLACEMENT_CROWDED,    /* fewer of them may be used than there are threads */
} oc_placement_kind_t;

/* What the data go through, as UCX is told. */
typedef struct {
    const char *devices;    /* "eth0,mlx5_0:1"; NULL or "all": all */
    const char *transports; /* "tcp,sm", "^ib"; NULL: all */
} oc_network_devices_t;

typedef struct {
    oc_placement_kind_t kind;
    char device[64];         /* the first one that counts; "" if UNKNOWN */
    hwloc_nodeset_t nodes;   /* near it, unless UNKNOWN */
    hwloc_cpuset_t *threads; /* NEAR: processors of each thread, else NULL */
    unsigned num_threads;
} oc_placement_t;

/*
 * RDMA devices count if the transports have a use for them, or, if there is none, network
 * interfaces; if they are in several places, all of these are near. The processors out of allowed
 * that are near are shared out among the threads: by cores as long as there are enough, then by
 * hardware threads. No processor is in two sets: where there are too few, the threads are better
 * off far away, each with one. OC_OK, or OC_ERR_NO_MEMORY, and then there is nothing to free.
 */
oc_status_t oc_placement_find(hwloc_topology_t topology, const oc_network_devices_t *network,
                              hwloc_const_cpuset_t allowed, unsigned num_threads,
                              oc_placement_t *placement);

/* May be called twice, and on zeroed memory. */
void oc_placement_free(oc_placement_t *placement);

#endif
