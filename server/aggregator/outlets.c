/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of results: they go to the members, or on to the server above and then to them. */
#include "server/aggregator/outlets.h"

#include "server/aggregator/above.h"
#include "server/aggregator/chunks.h"
#include "server/aggregator/server_reduction.h"
#include "server/aggregator/server_small.h"

static void need_not_be_told(oc_reduction_t *reduction)
{
    (void) reduction;
}

const oc_outlet_t oc_outlet_members = {
    .start = need_not_be_told, .chunk = oc_chunk_result, .small = oc_server_small_result,
    .acknowledge = oc_reduction_commit};

const oc_outlet_t oc_outlet_above = {
    .start = oc_above_start, .chunk = oc_above_chunk, .small = oc_above_small,
    .acknowledge = oc_above_acknowledge};
