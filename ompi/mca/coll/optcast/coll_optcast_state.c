/* SPDX-License-Identifier: BSD-3-Clause */
/* What the component knows and has in this process. */
#include "coll_optcast_state.h"

mca_coll_optcast_state_t mca_coll_optcast_state;
