/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges of all ranks of a communicator, over the PML. */
#ifndef MCA_COLL_OPTCAST_EXCHANGE_H
#define MCA_COLL_OPTCAST_EXCHANGE_H

#include "coll_optcast_compat.h"

#include "client/client.h"

/* One exchange of all ranks of a communicator: see exchange.c. */
typedef struct mca_coll_optcast_exchange mca_coll_optcast_exchange_t;

/*
 * Begins one, which all ranks do with the same tag, in the same order for one tag.
 * Communicates nothing yet: progress does. NULL when memory has run out.
 */
mca_coll_optcast_exchange_t *mca_coll_optcast_exchange_records(ompi_communicator_t *comm, int tag,
                                                               const void *record, size_t size);
/* Of buffers->num_neighbours ranks, more than 0, each of which has this one among its own. */
mca_coll_optcast_exchange_t *
mca_coll_optcast_exchange_contacts(ompi_communicator_t *comm, int tag,
                                   const oc_exchange_t *buffers);
mca_coll_optcast_exchange_t *mca_coll_optcast_exchange_vote(ompi_communicator_t *comm, int tag,
                                                            int64_t vote);
/* OC_IN_PROGRESS, OC_OK or OC_ERR_SYSTEM */
oc_status_t mca_coll_optcast_exchange_test(const mca_coll_optcast_exchange_t *exchange);
/* After OC_OK: all records in rank order, contacts in that of the neighbours, or the least vote. */
void mca_coll_optcast_exchange_copy(const mca_coll_optcast_exchange_t *exchange, void *records);
int64_t mca_coll_optcast_exchange_least(const mca_coll_optcast_exchange_t *exchange);
/* At any time; whatever the PML still needs of it stays until it has ended. */
void mca_coll_optcast_exchange_end(mca_coll_optcast_exchange_t *exchange);
/* Moves all of them on. Needs no lock, and may be called from within itself. */
void mca_coll_optcast_exchange_progress(void);
/* When the component closes: those that nobody will end. */
void mca_coll_optcast_exchange_forget(void);

#endif
