/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges among all ranks of a communicator, by messages of the PML. The functions may be called
 * from any thread, and none of them blocks; mca_coll_optcast_exchange_progress moves exchanges on.
 */
#ifndef MCA_COLL_OPTCAST_EXCHANGE_H
#define MCA_COLL_OPTCAST_EXCHANGE_H

#include "coll_optcast_compat.h"

#include "client/client.h"

/* One exchange of all ranks of a communicator: see exchange.c. */
typedef struct mca_coll_optcast_exchange mca_coll_optcast_exchange_t;

/*
 * Begins an exchange of records. All ranks have to begin the exchanges of a tag in the same order.
 * Nothing is sent before progress is called. Returns NULL if memory has run out. The caller owns
 * the exchange until it calls mca_coll_optcast_exchange_end.
 */
mca_coll_optcast_exchange_t *mca_coll_optcast_exchange_records(ompi_communicator_t *comm, int tag,
                                                               const void *record, size_t size);
/*
 * Begins an exchange of contacts with the neighbours, of which there is at least one. Each of them
 * has this rank among its own neighbours.
 */
mca_coll_optcast_exchange_t *
mca_coll_optcast_exchange_contacts(ompi_communicator_t *comm, int tag,
                                   const oc_exchange_t *buffers);
mca_coll_optcast_exchange_t *mca_coll_optcast_exchange_vote(ompi_communicator_t *comm, int tag,
                                                            const int64_t *vote);
/* Returns OC_IN_PROGRESS, OC_OK or OC_ERR_SYSTEM. */
oc_status_t mca_coll_optcast_exchange_test(const mca_coll_optcast_exchange_t *exchange);
/*
 * After OC_OK: copies all records, in rank order, or the contacts, in the order of the neighbours;
 * or returns the minimum of all votes, which belongs to the exchange.
 */
void mca_coll_optcast_exchange_copy(const mca_coll_optcast_exchange_t *exchange, void *records);
const int64_t *mca_coll_optcast_exchange_least(const mca_coll_optcast_exchange_t *exchange);
/*
 * Releases the exchange, at any time. Buffers that the PML still uses are freed when it is done
 * with them.
 */
void mca_coll_optcast_exchange_end(mca_coll_optcast_exchange_t *exchange);
/* Moves all exchanges on. Needs no lock, and may be called recursively. */
void mca_coll_optcast_exchange_progress(void);
/* Frees the exchanges that nobody will end any more. To be called when the component closes. */
void mca_coll_optcast_exchange_forget(void);

#endif
