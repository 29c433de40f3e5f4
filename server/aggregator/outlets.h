/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an aggregator does with the results of a group (oc_outlet_t). A new use of results is one
 * more table here.
 */
#ifndef OC_SERVER_AGGREGATOR_OUTLETS_H
#define OC_SERVER_AGGREGATOR_OUTLETS_H

#include "server/aggregator/aggregator_types.h"

/* Sends the result to all members. */
extern const oc_outlet_t oc_outlet_members;
/* Sends the partial result to the parent, whose result goes to all members. */
extern const oc_outlet_t oc_outlet_above;

#endif
