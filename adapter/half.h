/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognizes the operations of <optcast/mpi.h> on 16-bit floats, which are operations of the application for MPI. */
#ifndef OC_ADAPTER_HALF_H
#define OC_ADAPTER_HALF_H

#include <stdint.h>

typedef struct {
    unsigned op, type;    /* of reduction/reduction.h */
    const char *not_with; /* the name of the other format's datatype, which the function refuses */
} oc_half_t;

/* By the signature with which its function begins. NULL: it is another one. Any thread. */
const oc_half_t *oc_half_find(uintptr_t function);

#endif
