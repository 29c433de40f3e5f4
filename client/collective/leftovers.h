/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that no receive has taken although one was posted for each. Under the lock of the
 * client.
 */
#ifndef OC_CLIENT_COLLECTIVE_LEFTOVERS_H
#define OC_CLIENT_COLLECTIVE_LEFTOVERS_H

#include "client/state/types.h"

/* SENT has come: whether all results were the aggregator's; false: it gives up all service. */
bool oc_part_is_clean(const oc_part_t *part);
/* What does not go on may wait for such a message: to be called now and then, after progress. */
void oc_leftovers_look(oc_client_t *client);

#endif
