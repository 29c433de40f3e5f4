/* SPDX-License-Identifier: BSD-3-Clause */
/* What to do when memory has run out and the other ranks count on this one. */
#ifndef MCA_COLL_OPTCAST_MEMORY_H
#define MCA_COLL_OPTCAST_MEMORY_H

#include "coll_optcast_compat.h"

/* From now on, and whenever there is memory again, some is in reserve. */
void mca_coll_optcast_memory_open(void);
void mca_coll_optcast_memory_close(void);
/*
 * What was to be allocated is not there, and the other ranks count on it: returns when it is to be
 * tried again, once more memory was made free, or ends the job.
 */
void mca_coll_optcast_need(const ompi_communicator_t *comm, const char *what);
/* This rank cannot do its part of an operation that nobody can tell the others of. */
void mca_coll_optcast_end_job(const ompi_communicator_t *comm, const char *why);

#endif
