/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deals with a lack of memory where the other ranks wait for this one: there is a reserve, and
 * without it the job ends. Any thread.
 */
#ifndef MCA_COLL_OPTCAST_MEMORY_H
#define MCA_COLL_OPTCAST_MEMORY_H

#include "coll_optcast_compat.h"

/* Allocates the reserve, if there is none. */
void mca_coll_optcast_memory_open(void);
void mca_coll_optcast_memory_close(void);
/*
 * To be called when an allocation has failed. Frees the reserve and returns, so that the caller
 * can try again; if there is none, ends the job. what: the object, for the message.
 */
void mca_coll_optcast_need(const ompi_communicator_t *comm, const char *what);
/* Ends the job, because this rank cannot do its part and cannot tell the others. why: reason. */
void mca_coll_optcast_end_job(const ompi_communicator_t *comm, const char *why);

#endif
