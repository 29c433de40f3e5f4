/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's functions under their own names, in front of the library's. The program may belong to another MPI library,
 * whose handles are pointers: so handles, and whatever else is an int in MPICH, are taken and passed on as
 * wide as registers are, and cut to ints only once the library is known. mpi.h would say otherwise.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "mpich/mpich_allgather.h"
#include "mpich/mpich_allreduce.h"
#include "mpich/mpich_bcast.h"
#include "mpich/get_status.h"
#include "mpich/library.h"
#include "mpich/mpich_op.h"
#include "mpich/mpich_reduce.h"
#include "mpich/mpich_reduce_scatter.h"

#define EXPORT __attribute__((visibility("default")))

typedef intptr_t wide_t;

/* A function with its parameters, our part of it, and what the next one gets. */
#define WRAP(name, parameters, ours, arguments)                                     \
    EXPORT int name parameters;                                                     \
    EXPORT int name parameters                                                      \
    {                                                                               \
        static _Atomic(void *) next;                                                \
        int rc;                                                                     \
                                                                                    \
        if (oc_mpich_library_is_ours() && ours) {                                   \
            return rc;                                                              \
        }                                                                           \
        return ((int (*) parameters) oc_mpich_library_next(&next, #name)) arguments; \
    }

/* A vector, in each of its four forms. */
#define WRAP_VECTOR(name, iname, ours)                                                       \
    WRAP(MPI_##name, (const void *s, void *r, wide_t n, wide_t t, wide_t o, wide_t c),       \
         ours(s, r, (int) n, (int) t, (int) o, (int) c, NULL, &rc), (s, r, n, t, o, c))      \
    WRAP(MPI_##name##_c, (const void *s, void *r, wide_t n, wide_t t, wide_t o, wide_t c),   \
         ours(s, r, n, (int) t, (int) o, (int) c, NULL, &rc), (s, r, n, t, o, c))            \
    WRAP(MPI_##iname, (const void *s, void *r, wide_t n, wide_t t, wide_t o, wide_t c, int *q), \
         ours(s, r, (int) n, (int) t, (int) o, (int) c, q, &rc), (s, r, n, t, o, c, q))      \
    WRAP(MPI_##iname##_c,                                                                    \
         (const void *s, void *r, wide_t n, wide_t t, wide_t o, wide_t c, int *q),           \
         ours(s, r, n, (int) t, (int) o, (int) c, q, &rc), (s, r, n, t, o, c, q))

WRAP_VECTOR(Allreduce, Iallreduce, oc_mpich_allreduce)
WRAP_VECTOR(Reduce_scatter_block, Ireduce_scatter_block, oc_mpich_reduce_scatter_block)

#define REDUCE (const void *s, void *r, wide_t n, wide_t t, wide_t o, wide_t to, wide_t c)
#define IREDUCE (const void *s, void *r, wide_t n, wide_t t, wide_t o, wide_t to, wide_t c, int *q)
WRAP(MPI_Reduce, REDUCE,
     oc_mpich_reduce(s, r, (int) n, (int) t, (int) o, (int) to, (int) c, NULL, &rc),
     (s, r, n, t, o, to, c))
WRAP(MPI_Reduce_c, REDUCE,
     oc_mpich_reduce(s, r, n, (int) t, (int) o, (int) to, (int) c, NULL, &rc),
     (s, r, n, t, o, to, c))
WRAP(MPI_Ireduce, IREDUCE,
     oc_mpich_reduce(s, r, (int) n, (int) t, (int) o, (int) to, (int) c, q, &rc),
     (s, r, n, t, o, to, c, q))
WRAP(MPI_Ireduce_c, IREDUCE,
     oc_mpich_reduce(s, r, n, (int) t, (int) o, (int) to, (int) c, q, &rc),
     (s, r, n, t, o, to, c, q))

#define SCATTER (const void *s, void *r, const void *n, wide_t t, wide_t o, wide_t c)
#define ISCATTER (const void *s, void *r, const void *n, wide_t t, wide_t o, wide_t c, int *q)
WRAP(MPI_Reduce_scatter, SCATTER,
     oc_mpich_reduce_scatter(s, r, n, false, (int) t, (int) o, (int) c, NULL, &rc),
     (s, r, n, t, o, c))
WRAP(MPI_Reduce_scatter_c, SCATTER,
     oc_mpich_reduce_scatter(s, r, n, true, (int) t, (int) o, (int) c, NULL, &rc),
     (s, r, n, t, o, c))
WRAP(MPI_Ireduce_scatter, ISCATTER,
     oc_mpich_reduce_scatter(s, r, n, false, (int) t, (int) o, (int) c, q, &rc),
     (s, r, n, t, o, c, q))
WRAP(MPI_Ireduce_scatter_c, ISCATTER,
     oc_mpich_reduce_scatter(s, r, n, true, (int) t, (int) o, (int) c, q, &rc),
     (s, r, n, t, o, c, q))

#define BCAST (void *b, wide_t n, wide_t t, wide_t from, wide_t c)
#define IBCAST (void *b, wide_t n, wide_t t, wide_t from, wide_t c, int *q)
WRAP(MPI_Bcast, BCAST, oc_mpich_bcast(b, (int) n, (int) t, (int) from, (int) c, NULL, &rc),
     (b, n, t, from, c))
WRAP(MPI_Bcast_c, BCAST, oc_mpich_bcast(b, n, (int) t, (int) from, (int) c, NULL, &rc),
     (b, n, t, from, c))
WRAP(MPI_Ibcast, IBCAST, oc_mpich_bcast(b, (int) n, (int) t, (int) from, (int) c, q, &rc),
     (b, n, t, from, c, q))
WRAP(MPI_Ibcast_c, IBCAST, oc_mpich_bcast(b, n, (int) t, (int) from, (int) c, q, &rc),
     (b, n, t, from, c, q))

#define GATHER (const void *s, wide_t n, wide_t t, void *r, wide_t m, wide_t u, wide_t c)
#define IGATHER (const void *s, wide_t n, wide_t t, void *r, wide_t m, wide_t u, wide_t c, int *q)
WRAP(MPI_Allgather, GATHER,
     oc_mpich_allgather(s, (int) n, (int) t, r, (int) m, (int) u, (int) c, NULL, &rc),
     (s, n, t, r, m, u, c))
WRAP(MPI_Allgather_c, GATHER,
     oc_mpich_allgather(s, n, (int) t, r, m, (int) u, (int) c, NULL, &rc),
     (s, n, t, r, m, u, c))
WRAP(MPI_Iallgather, IGATHER,
     oc_mpich_allgather(s, (int) n, (int) t, r, (int) m, (int) u, (int) c, q, &rc),
     (s, n, t, r, m, u, c, q))
WRAP(MPI_Iallgather_c, IGATHER,
     oc_mpich_allgather(s, n, (int) t, r, m, (int) u, (int) c, q, &rc),
     (s, n, t, r, m, u, c, q))

#define GATHERV \
    (const void *s, wide_t n, wide_t t, void *r, const void *m, const void *d, wide_t u, wide_t c)
#define IGATHERV                                                                              \
    (const void *s, wide_t n, wide_t t, void *r, const void *m, const void *d, wide_t u, wide_t c, \
     int *q)
WRAP(MPI_Allgatherv, GATHERV,
     oc_mpich_allgatherv(s, (int) n, (int) t, r, m, d, false, (int) u, (int) c, NULL, &rc),
     (s, n, t, r, m, d, u, c))
WRAP(MPI_Allgatherv_c, GATHERV,
     oc_mpich_allgatherv(s, n, (int) t, r, m, d, true, (int) u, (int) c, NULL, &rc),
     (s, n, t, r, m, d, u, c))
WRAP(MPI_Iallgatherv, IGATHERV,
     oc_mpich_allgatherv(s, (int) n, (int) t, r, m, d, false, (int) u, (int) c, q, &rc),
     (s, n, t, r, m, d, u, c, q))
WRAP(MPI_Iallgatherv_c, IGATHERV,
     oc_mpich_allgatherv(s, n, (int) t, r, m, d, true, (int) u, (int) c, q, &rc),
     (s, n, t, r, m, d, u, c, q))

/* MPICH looks at no request of ours here, so that a loop of these would never end. */
WRAP(MPI_Request_get_status, (wide_t q, int *flag, void *status),
     (oc_mpich_get_status_begin((int) q), (void) (rc = 0), false), (q, flag, status))

WRAP(MPI_Op_free, (int *op), (oc_mpich_op_freed(op), (void) (rc = 0), false), (op))

/* Ours comes last: it is about what the next one has made. */
EXPORT int MPI_Op_create(void *function, wide_t commutes, int *op);
EXPORT int MPI_Op_create(void *function, wide_t commutes, int *op)
{
    static _Atomic(void *) next;
    bool ours = oc_mpich_library_is_ours(); /* this makes a library visible that nobody else sees */
    int rc = ((int (*)(void *, wide_t, int *)) oc_mpich_library_next(&next, "MPI_Op_create"))(
        function, commutes, op);

    if (ours && 0 == rc) {
        oc_mpich_op_created((uintptr_t) function, *op);
    }
    return rc;
}
