/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine's set-ups need of MPI. */
#ifndef MCA_COLL_OPTCAST_BOOTSTRAP_H
#define MCA_COLL_OPTCAST_BOOTSTRAP_H

#include "coll_optcast.h"

extern const oc_bootstrap_t mca_coll_optcast_bootstrap;
/* Takes the tag now, for a group whose set-up begins later. */
void mca_coll_optcast_bootstrap_reserve(mca_coll_optcast_bootstrap_t *bootstrap);
void mca_coll_optcast_bootstrap_release(mca_coll_optcast_bootstrap_t *bootstrap);

#endif
