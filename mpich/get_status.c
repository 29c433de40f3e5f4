/* SPDX-License-Identifier: BSD-3-Clause */
/* From a handle as an int. */
#include "mpich/get_status.h"

#include "mpich/request.h"

void oc_mpich_get_status_begin(int request)
{
    oc_mpich_request_look((MPI_Request) request);
}
