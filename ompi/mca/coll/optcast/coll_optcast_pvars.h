/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI_T performance variables, and the count of fallbacks, which is atomic where threads call
 * MPI at the same time.
 */
#ifndef MCA_COLL_OPTCAST_PVARS_H
#define MCA_COLL_OPTCAST_PVARS_H

#include "adapter/fallback.h"

void mca_coll_optcast_pvars_register(void);
void mca_coll_optcast_count_fallback(oc_fallback_t reason);

#endif
