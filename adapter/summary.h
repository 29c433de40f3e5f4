/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process tells at its end. */
#ifndef OC_ADAPTER_SUMMARY_H
#define OC_ADAPTER_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#include "adapter/counters.h"

/*
 * Of the sentences, *next and those behind it, the first that has something to say: on operations, which always is said, on the
 * loss of servers, on multicast. False if there are no more. *next is 0 at first, and counted up.
 */
bool oc_summary_line(const oc_adapter_counters_t *counters, unsigned *next, char *text, size_t size);

#endif
