/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies and reductions of the steps of a host: between the caller's vectors, wherever they are and
 * of whatever width, and memory of the host. Under the lock of the client.
 */
#ifndef OC_CLIENT_COLLECTIVE_STEP_DATA_H
#define OC_CLIENT_COLLECTIVE_STEP_DATA_H

#include "client/collective/step.h"

/*
 * Copies a step of the caller's vector, as it travels. false: it cannot be read, and all service is
 * being given up.
 */
bool oc_step_copy_in(oc_allreduce_t *allreduce, void *to, uint32_t step);
/* Copies a result, as it travelled, to its place in the caller's vector. */
void oc_step_copy_out(oc_allreduce_t *allreduce, const void *from, const oc_step_piece_t *piece);
/*
 * Reduces, in the order of ranks, what the members of the host have given: of a step that this rank
 * owns. false: as oc_step_copy_in.
 */
bool oc_step_reduce(oc_allreduce_t *allreduce, uint32_t step, void *to);

#endif
