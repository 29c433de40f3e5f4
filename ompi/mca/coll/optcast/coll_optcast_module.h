/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules of communicators: query, enable, end; and progress. */
#ifndef MCA_COLL_OPTCAST_MODULE_H
#define MCA_COLL_OPTCAST_MODULE_H

#include "coll_optcast.h"

int mca_coll_optcast_init_query(bool enable_progress_threads, bool enable_mpi_threads);
mca_coll_base_module_t *mca_coll_optcast_comm_query(ompi_communicator_t *comm, int *priority);
int mca_coll_optcast_progress(void);

#endif
