/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the faults of MPI programs' networks, which the environment names. */
#include <stdlib.h>

#include "tests/faults/door.h"

__attribute__((constructor)) static void install(void)
{
    const char *text = getenv("OPTCAST_TEST_FAULTS");

    if (NULL != text) {
        faults_install(text);
    }
}
