/* SPDX-License-Identifier: BSD-3-Clause */
/* Binding of aggregators to processors and memory near their network device, on this machine. */
#ifndef OC_SERVER_HOST_BINDING_H
#define OC_SERVER_HOST_BINDING_H

#include <stdbool.h>

typedef struct oc_binding oc_binding_t;

typedef struct {
    const char *net_devices; /* as of oc_worker_open, whose rules hold for this, too */
    unsigned num_threads;
    bool widen;              /* to all processors of the machine, however the process is bound */
    bool near;               /* to those near the network device, of what is allowed */
} oc_binding_config_t;

/*
 * Reads the machine's topology, decides, and logs what and why; the calling thread stays where it
 * is meanwhile. NULL if nothing is to be bound, also when memory is short: everything goes on as it
 * is then.
 */
oc_binding_t *oc_binding_open(const oc_binding_config_t *config);

/* After the threads have ended. NULL is allowed. */
void oc_binding_close(oc_binding_t *binding);

/*
 * Called first by each thread itself, with its number. Never fails: what the system does not allow
 * is logged and left. NULL is allowed.
 */
void oc_binding_enter(const oc_binding_t *binding, unsigned thread);

/*
 * For threads beside them: all processors that config.widen means, if it was set. Called by the
 * thread itself. NULL is allowed.
 */
void oc_binding_widen(const oc_binding_t *binding);

/*
 * Only memory: what the calling thread, and threads that it makes from now on, touch first. NULL is
 * allowed.
 */
void oc_binding_enter_memory(const oc_binding_t *binding);

#endif
