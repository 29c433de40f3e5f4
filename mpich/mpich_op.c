/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on 16-bit floats: a list, as there are eight, unless parts of a program have their own. */
#include "mpich/mpich_op.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/half.h"
#include "reduction/reduction.h"

#include "mpich/memory.h"
#include "mpich/mpich_layout.h"
#include "mpich/pmpi.h"

typedef struct known {
    MPI_Op op;
    const oc_half_t *half;
    struct known *next;
} known_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static known_t *list;       /* under lock */
static atomic_bool has_any; /* most programs have none, and take no lock */

void oc_mpich_op_created(uintptr_t function, MPI_Op op)
{
    const oc_half_t *half = oc_half_find(function);
    known_t *known = NULL == half ? NULL : malloc(sizeof(*known));

    if (NULL == half) {
        return;
    }
    if (NULL == known) {
        oc_mpich_need(MPI_COMM_WORLD, "MPI_COMM_WORLD", "an operation");
    }
    pthread_mutex_lock(&lock);
    *known = (known_t) {.op = op, .half = half, .next = list};
    list = known;
    pthread_mutex_unlock(&lock);
    atomic_store(&has_any, true);
}

void oc_mpich_op_freed(const MPI_Op *op)
{
    known_t *gone = NULL;

    if (NULL == op || !atomic_load(&has_any)) {
        return;
    }
    pthread_mutex_lock(&lock);
    for (known_t **at = &list; NULL != *at; at = &(*at)->next) {
        if (*op == (*at)->op) {
            gone = *at;
            *at = gone->next;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    free(gone);
}

static const oc_half_t *known_half(MPI_Op op)
{
    const known_t *known;
    const oc_half_t *half;

    pthread_mutex_lock(&lock);
    known = list;
    while (NULL != known && op != known->op) {
        known = known->next;
    }
    half = NULL == known ? NULL : known->half;
    pthread_mutex_unlock(&lock);
    return half;
}

/* What the functions refuse is left to them, so that they say so. */
static bool takes(const oc_half_t *half, MPI_Datatype type)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    MPI_Aint lower = 0, extent = 0;
    int length = 0;

    (void) PMPI_Type_get_extent(type, &lower, &extent);
    (void) PMPI_Type_get_name(type, name, &length);
    return sizeof(uint16_t) == oc_mpich_type_bytes(type) && 0 == lower
           && (MPI_Aint) sizeof(uint16_t) == extent && 0 != strcmp(name, half->not_with);
}

oc_fallback_t oc_mpich_op_map(MPI_Op op, MPI_Datatype type, unsigned *oc_op, unsigned *oc_type)
{
    const oc_half_t *half = atomic_load(&has_any) ? known_half(op) : NULL;

    if (NULL == half || !takes(half, type)) {
        return OC_FALLBACK_OP;
    }
    *oc_op = half->op;
    *oc_type = half->type;
    return NULL == oc_reduce_kernel(*oc_op, *oc_type) ? OC_FALLBACK_OP : OC_FALLBACK_NONE;
}
