/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of an aggregator need of its thread. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_AGGREGATOR_INSIDE_H
#define OC_SERVER_AGGREGATOR_AGGREGATOR_INSIDE_H

#include "server/aggregator/aggregator_types.h"

/* Carries out the commands that have come. Groups and peers may be gone afterwards. */
void oc_aggregator_drain(oc_aggregator_t *aggregator);

#endif
