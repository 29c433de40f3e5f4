/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that came before anybody waited for them. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_EARLY_SWEEP_H
#define OC_SERVER_AGGREGATOR_EARLY_SWEEP_H

#include "server/aggregator/aggregator_types.h"

/*
 * To be called after progress. Takes them away from UCX: what members and the server above may send
 * early is kept, all else is dropped. Whether there was any. Groups and peers may be gone
 * afterwards.
 */
bool oc_early_sweep(oc_aggregator_t *aggregator);

#endif
