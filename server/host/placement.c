/* SPDX-License-Identifier: BSD-3-Clause */
/* From a topology and the names of devices to sets of processors and memory. */
#include "server/host/placement.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* "mlx5_0" is in "eth0,mlx5_0:1". */
static bool placement_is_listed(const char *devices, const char *name)
{
    return NULL == devices || 0 == strcmp(devices, "all") || oc_list_has(devices, name);
}

/* "rc_x" and "\ud_verbs" are of the families rc and ud. Another transport may follow. */
static bool placement_is_rdma(const char *transport)
{
    static const char *const families[] = {"all", "ib", "rc", "ud", "dc"};

    transport += '\\' == transport[0];
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        size_t length = strlen(families[i]);

        if (0 == strncmp(transport, families[i], length)
            && ('\0' == transport[length] || NULL != strchr("_:,", transport[length]))) {
            return true;
        }
    }
    return false;
}

/* "^" is before a list of those that are not used: "ib" is all of this kind, others are a part. */
static bool use_rdma(const char *transports)
{
    if (NULL == transports) {
        return true;
    }
    if ('^' == transports[0]) {
        return !placement_is_listed(transports + 1, "ib");
    }
    for (; '\0' != *transports; transports += '\0' != *transports) {
        if (placement_is_rdma(transports)) {
            return true;
        }
        transports += strcspn(transports, ",");
    }
    return false;
}

/* Where the devices of that kind are attached. */
static void find_devices(hwloc_topology_t topology, const char *devices,
                         hwloc_obj_osdev_type_t type, hwloc_cpuset_t near,
                         oc_placement_t *placement)
{
    hwloc_obj_t device = NULL, home;

    while (NULL != (device = hwloc_get_next_osdev(topology, device))) {
        if (type != device->attr->osdev.type || NULL == device->name
            || !placement_is_listed(devices, device->name)) {
            continue;
        }
        home = hwloc_get_non_io_ancestor_obj(topology, device);
        hwloc_bitmap_or(near, near, home->cpuset);
        hwloc_bitmap_or(placement->nodes, placement->nodes, home->nodeset);
        if ('\0' == placement->device[0]) {
            snprintf(placement->device, sizeof(placement->device), "%s", device->name);
        }
    }
}

static unsigned count_units(hwloc_topology_t topology, hwloc_const_cpuset_t set,
                            hwloc_obj_type_t type)
{
    hwloc_obj_t unit = NULL;
    unsigned count = 0;

    while (NULL != (unit = hwloc_get_next_obj_covering_cpuset_by_type(topology, set, type, unit))) {
        count++;
    }
    return count;
}

/* Each thread gets neighbours, and at least one. There are as many units as threads, or more. */
static void deal_out(hwloc_topology_t topology, hwloc_const_cpuset_t set, hwloc_obj_type_t type,
                     unsigned units, oc_placement_t *placement)
{
    hwloc_obj_t unit = NULL;

    for (unsigned i = 0; i < units; i++) {
        hwloc_cpuset_t mine = placement->threads[(size_t) i * placement->num_threads / units];

        unit = hwloc_get_next_obj_covering_cpuset_by_type(topology, set, type, unit);
        hwloc_bitmap_or(mine, mine, unit->cpuset);
    }
    for (unsigned i = 0; i < placement->num_threads; i++) {
        hwloc_bitmap_and(placement->threads[i], placement->threads[i], set);
    }
}

static bool make_sets(oc_placement_t *placement, unsigned num_threads)
{
    placement->threads = calloc(num_threads, sizeof(placement->threads[0]));
    if (NULL == placement->threads) {
        return false;
    }
    for (; placement->num_threads < num_threads; placement->num_threads++) {
        hwloc_cpuset_t set = hwloc_bitmap_alloc();

        if (NULL == set) {
            return false;
        }
        placement->threads[placement->num_threads] = set;
    }
    return true;
}

/* Two threads on one core get in each other's way while others idle. */
static oc_status_t placement_share(hwloc_topology_t topology, hwloc_const_cpuset_t set,
                                   unsigned num_threads, oc_placement_t *placement)
{
    unsigned cores = count_units(topology, set, HWLOC_OBJ_CORE);
    unsigned processors = count_units(topology, set, HWLOC_OBJ_PU);

    if (processors < num_threads) {
        placement->kind = OC_PLACEMENT_CROWDED;
        return OC_OK;
    }
    placement->kind = OC_PLACEMENT_NEAR;
    if (!make_sets(placement, num_threads)) {
        return OC_ERR_NO_MEMORY;
    }
    if (cores >= num_threads) {
        deal_out(topology, set, HWLOC_OBJ_CORE, cores, placement);
    } else {
        deal_out(topology, set, HWLOC_OBJ_PU, processors, placement);
    }
    return OC_OK;
}

static oc_status_t placement_find(hwloc_topology_t topology, const oc_network_devices_t *network,
                                  hwloc_const_cpuset_t allowed, unsigned num_threads,
                                  hwloc_cpuset_t near, oc_placement_t *placement)
{
    if (use_rdma(network->transports)) {
        find_devices(topology, network->devices, HWLOC_OBJ_OSDEV_OPENFABRICS, near, placement);
    }
    if ('\0' == placement->device[0]) {
        find_devices(topology, network->devices, HWLOC_OBJ_OSDEV_NETWORK, near, placement);
    }
    if ('\0' == placement->device[0]) {
        placement->kind = OC_PLACEMENT_UNKNOWN;
    } else if (hwloc_bitmap_isequal(near, hwloc_get_root_obj(topology)->cpuset)) {
        placement->kind = OC_PLACEMENT_EVERYWHERE;
    } else {
        hwloc_bitmap_and(near, near, allowed);
        if (!hwloc_bitmap_iszero(near)) {
            return placement_share(topology, near, num_threads, placement);
        }
        placement->kind = OC_PLACEMENT_EXCLUDED;
    }
    return OC_OK;
}

oc_status_t oc_placement_find(hwloc_topology_t topology, const oc_network_devices_t *network,
                              hwloc_const_cpuset_t allowed, unsigned num_threads,
                              oc_placement_t *placement)
{
    hwloc_cpuset_t near = hwloc_bitmap_alloc();
    oc_status_t status = OC_ERR_NO_MEMORY;

    *placement = (oc_placement_t) {.nodes = hwloc_bitmap_alloc()};
    if (NULL != near && NULL != placement->nodes) {
        status = placement_find(topology, network, allowed, num_threads, near, placement);
    }
    hwloc_bitmap_free(near);
    if (OC_OK != status) {
        oc_placement_free(placement);
    }
    return status;
}

void oc_placement_free(oc_placement_t *placement)
{
    for (unsigned i = 0; i < placement->num_threads; i++) {
        hwloc_bitmap_free(placement->threads[i]);
    }
    free(placement->threads);
    hwloc_bitmap_free(placement->nodes);
    *placement = (oc_placement_t) {.threads = NULL};
}
