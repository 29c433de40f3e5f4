/* SPDX-License-Identifier: BSD-3-Clause */
/* What simulated hosts have instead of the machine's: no processors, so that server/host/binding.h has no effect, and an identity. */
#include <stddef.h>

#include "net/host.h"
#include "server/host/binding.h"
#include "tests/simulation/world.h"

uint64_t oc_host_identity(void)
{
    return 1000 + process_self()->host;
}

oc_binding_t *oc_binding_open(const oc_binding_config_t *config)
{
    (void) config;
    return NULL;
}

void oc_binding_close(oc_binding_t *binding)
{
    (void) binding;
}

void oc_binding_enter(const oc_binding_t *binding, unsigned thread)
{
    (void) binding;
    (void) thread;
}

void oc_binding_widen(const oc_binding_t *binding)
{
    (void) binding;
}

void oc_binding_enter_memory(const oc_binding_t *binding)
{
    (void) binding;
}
