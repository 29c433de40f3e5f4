/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's topology, and what the system is asked for. */
#include "server/host/binding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "server/host/placement.h"

struct oc_binding {
    hwloc_topology_t topology;
    hwloc_cpuset_t allowed;
    oc_placement_t placement;
    bool widen;
};

/* What UCX goes by. */
static oc_network_devices_t network_of(const oc_binding_config_t *config)
{
    const char *devices = getenv("OPTCAST_UCX_NET_DEVICES");

    return (oc_network_devices_t) {.devices = NULL != devices ? devices : config->net_devices,
                                   .transports = getenv("OPTCAST_UCX_TLS")};
}

/*
 * Graphics and accelerators: finding them takes long, and starts their drivers. And "x86", which
 * binds the calling thread to each processor in turn to ask it what it is: the system knows, and
 * the thread would have to wait for all whom these processors belong to.
 */
static void leave_out_slow_parts(hwloc_topology_t topology)
{
#if HWLOC_API_VERSION >= 0x00020100
    static const char *const names[] = {"cuda", "gl",   "levelzero", "nvml",
                                        "opencl", "rsmi", "x86"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void) hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                             names[i]);
    }
#else
    (void) topology;
#endif
}

static bool load_topology(oc_binding_t *binding, bool with_devices)
{
    if (0 != hwloc_topology_init(&binding->topology)) {
        binding->topology = NULL;
        return false;
    }
    leave_out_slow_parts(binding->topology);
    if (with_devices) {
        /* no virtual ones, which are nowhere */
        hwloc_topology_set_io_types_filter(binding->topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    } else {
        hwloc_topology_set_all_types_filter(binding->topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    }
    return 0 == hwloc_topology_load(binding->topology);
}

static bool find_allowed(oc_binding_t *binding)
{
    hwloc_const_cpuset_t all = hwloc_topology_get_allowed_cpuset(binding->topology);

    binding->allowed = hwloc_bitmap_dup(all);
    if (NULL == binding->allowed) {
        return false;
    }
    if (!binding->widen) {
        (void) hwloc_get_cpubind(binding->topology, binding->allowed, HWLOC_CPUBIND_PROCESS);
        hwloc_bitmap_and(binding->allowed, binding->allowed, all);
    }
    return true;
}

static void tell_near(const oc_placement_t *placement)
{
    char nodes[64], processors[256];

    hwloc_bitmap_list_snprintf(nodes, sizeof(nodes), placement->nodes);
    for (unsigned i = 0; i < placement->num_threads; i++) {
        hwloc_bitmap_list_snprintf(processors, sizeof(processors), placement->threads[i]);
        oc_info("aggregator %u runs on processors %s, with memory of NUMA node %s, near %s", i,
                processors, nodes, placement->device);
    }
}

static void binding_tell(const oc_placement_t *placement, const char *devices)
{
    char nodes[64] = "";

    switch (placement->kind) {
    case OC_PLACEMENT_NEAR:
        tell_near(placement);
        break;
    case OC_PLACEMENT_UNKNOWN:
        oc_debug("aggregators run anywhere: where %s is attached is not known",
                 NULL == devices ? "the network" : devices);
        break;
    case OC_PLACEMENT_EVERYWHERE:
        oc_debug("aggregators run anywhere: all processors are as near to the network as others");
        break;
    case OC_PLACEMENT_EXCLUDED:
        hwloc_bitmap_list_snprintf(nodes, sizeof(nodes), placement->nodes);
        oc_info("aggregators run anywhere: %s is near NUMA node %s, of whose processors this "
                "process may use none", placement->device, nodes);
        break;
    case OC_PLACEMENT_CROWDED:
        hwloc_bitmap_list_snprintf(nodes, sizeof(nodes), placement->nodes);
        oc_info("aggregators run anywhere: %s is near NUMA node %s, of whose processors this "
                "process may use fewer than it has aggregators", placement->device, nodes);
        break;
    }
}

oc_binding_t *oc_binding_open(const oc_binding_config_t *config)
{
    oc_network_devices_t network = network_of(config);
    oc_binding_t *binding;

    if (!config->near && !config->widen) {
        return NULL;
    }
    binding = calloc(1, sizeof(*binding));
    if (NULL == binding) {
        return NULL;
    }
    binding->widen = config->widen;
    if (!load_topology(binding, config->near) || !find_allowed(binding)) {
        oc_debug("aggregators run anywhere: the topology of this machine cannot be read");
        oc_binding_close(binding);
        return NULL;
    }
    binding->placement.kind = OC_PLACEMENT_UNKNOWN;
    if (config->near
        && OC_OK == oc_placement_find(binding->topology, &network, binding->allowed,
                                      config->num_threads, &binding->placement)) {
        binding_tell(&binding->placement, network.devices);
    }
    return binding;
}

void oc_binding_close(oc_binding_t *binding)
{
    if (NULL == binding) {
        return;
    }
    oc_placement_free(&binding->placement);
    hwloc_bitmap_free(binding->allowed);
    if (NULL != binding->topology) {
        hwloc_topology_destroy(binding->topology);
    }
    free(binding);
}

static void bind_processors(const oc_binding_t *binding, unsigned thread)
{
    hwloc_const_cpuset_t set = binding->widen ? binding->allowed : NULL;

    if (NULL != binding->placement.threads) {
        set = binding->placement.threads[thread];
    }
    if (NULL != set && 0 != hwloc_set_cpubind(binding->topology, set, HWLOC_CPUBIND_THREAD)) {
        oc_debug("aggregator %u cannot be bound to processors: %s", thread, strerror(errno));
    }
}

/* A preference: a node that is full must not end the process. */
void oc_binding_enter_memory(const oc_binding_t *binding)
{
    if (NULL == binding || NULL == binding->placement.threads) {
        return;
    }
    if (0 != hwloc_set_membind(binding->topology, binding->placement.nodes, HWLOC_MEMBIND_BIND,
                               HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET)) {
        oc_debug("aggregators get memory from anywhere: %s", strerror(errno));
    }
}

void oc_binding_widen(const oc_binding_t *binding)
{
    if (NULL != binding && binding->widen
        && 0 != hwloc_set_cpubind(binding->topology, binding->allowed, HWLOC_CPUBIND_THREAD)) {
        oc_debug("a thread stays where its process is: %s", strerror(errno));
    }
}

void oc_binding_enter(const oc_binding_t *binding, unsigned thread)
{
    if (NULL != binding) {
        bind_processors(binding, thread);
        oc_binding_enter_memory(binding);
    }
}
