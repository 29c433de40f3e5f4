/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An aggregator without its thread: oc_aggregator_open starts one that serves it, and tests carry
 * out its commands and make its progress themselves.
 */
#ifndef OC_SERVER_AGGREGATOR_AGGREGATOR_STATE_H
#define OC_SERVER_AGGREGATOR_AGGREGATOR_STATE_H

#include "server/aggregator/aggregator_types.h"

/*
 * With worker and inbox, without clients, groups and posted receives. Where the configuration names
 * no admission, every host may connect. On failure a sentence in error. Does not block.
 */
oc_status_t oc_aggregator_new(const oc_aggregator_config_t *config, oc_aggregator_t **aggregator,
                              char *error, size_t error_size);

/*
 * Drops all groups and clients, closes the worker, which ends all transfers, and frees everything.
 * Its thread must have ended. Does not wait for peers.
 */
void oc_aggregator_free(oc_aggregator_t *aggregator);

#endif
