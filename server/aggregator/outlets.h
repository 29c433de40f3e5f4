/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of what the members of a group add up (oc_outlet_t). One more place for results is
 * one more table here.
 */
#ifndef OC_SERVER_AGGREGATOR_OUTLETS_H
#define OC_SERVER_AGGREGATOR_OUTLETS_H

#include "server/aggregator/aggregator_types.h"

/* It is the result, and goes to all members. */
extern const oc_outlet_t oc_outlet_members;
/* It is a partial result, and goes to the server above, whose result goes to all members. */
extern const oc_outlet_t oc_outlet_above;

#endif
