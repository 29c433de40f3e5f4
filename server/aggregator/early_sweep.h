/* SPDX-License-Identifier: BSD-3-Clause */
/* Drains messages for which no receive was posted. On the thread of the aggregator. */
#ifndef OC_SERVER_AGGREGATOR_EARLY_SWEEP_H
#define OC_SERVER_AGGREGATOR_EARLY_SWEEP_H

#include "server/aggregator/aggregator_types.h"

/*
 * To be called after progress. Takes these messages from UCX, keeps what members and the parent
 * may send early, and drops all others. Whether there were any. Groups and peers may be freed by
 * that.
 */
bool oc_early_sweep(oc_aggregator_t *aggregator);

#endif
