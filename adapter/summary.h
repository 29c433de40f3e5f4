/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process tells at its end. */
#ifndef OC_ADAPTER_SUMMARY_H
#define OC_ADAPTER_SUMMARY_H

#include <stddef.h>

#include "adapter/counters.h"

/* One sentence on operations. */
void oc_summary_operations(const oc_adapter_counters_t *counters, char *text, size_t size);
/* One on multicast; "" if there was none. */
void oc_summary_multicast(const oc_adapter_counters_t *counters, char *text, size_t size);

#endif
