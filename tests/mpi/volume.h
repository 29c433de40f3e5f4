/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank has sent, received and offloaded, for the script that adds it up by host. */
#ifndef TESTS_MPI_VOLUME_H
#define TESTS_MPI_VOLUME_H

#include <stdio.h>

#include "pvars.h"

/* "rank R host H sent S received T offloaded N" */
static inline void tell_volume(int rank, const char *host)
{
    printf("rank %d host %s sent %llu received %llu offloaded %llu\n", rank, host,
           pvar_read("bytes_sent"), pvar_read("bytes_received"), pvar_read("allreduce_offloaded"));
    fflush(stdout);
}

#endif
