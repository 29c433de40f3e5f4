/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged messages between simulated processes: ucx_backend/worker.h again, with what UCX promises and no more. Long messages
 * come in pieces, so that a receive that has begun to match is stuck if its sender is gone; what was announced stays with its
 * sender until then; endpoints may break.
 */
#ifndef OC_TESTS_SIMULATION_MESSAGES_H
#define OC_TESTS_SIMULATION_MESSAGES_H

#include "tests/simulation/world.h"

/* As after the death of a process, which its peers hear of unless its host is without power. */
void workers_drop(process_t *process);

/* One of its endpoints to the other breaks, if there are any, though both are well. */
void workers_break_one(process_t *process, process_t *other);

#endif
