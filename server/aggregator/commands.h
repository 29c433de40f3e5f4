/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control side tells an aggregator, by its mailbox. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_COMMANDS_H
#define OC_SERVER_AGGREGATOR_COMMANDS_H

#include "server/aggregator/aggregator_types.h"

/* Carries out the commands that have come. Groups and peers may be gone afterwards. */
void oc_commands_carry_out(oc_aggregator_t *aggregator);

#endif
