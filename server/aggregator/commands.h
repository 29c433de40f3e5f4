/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries out the commands that the control thread posts to an aggregator's mailbox. On the thread
 * of the aggregator.
 */
#ifndef OC_SERVER_AGGREGATOR_COMMANDS_H
#define OC_SERVER_AGGREGATOR_COMMANDS_H

#include "server/aggregator/aggregator_types.h"

/* Carries out all commands that have arrived. Groups and peers may be freed by that. */
void oc_commands_carry_out(oc_aggregator_t *aggregator);

#endif
