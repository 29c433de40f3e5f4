/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of MPI's predefined operations and datatypes. Compiled for each MPI library. */
#include "adapter/mpi_map.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "reduction/reduction.h"

/* The classes of datatypes in the table of operations of MPI 4.0, section 6.9.2, and pairs. */
enum {
    C_INTEGER = 1,
    FORTRAN_INTEGER = 2,
    FLOATING_POINT = 4,
    LOGICAL = 8,
    COMPLEX = 16,
    BYTE = 32,
    MULTI_LANGUAGE = 64,
    PAIR = 128,
    FORTRAN_LOGICAL = 256, /* as LOGICAL, but where .TRUE. is not 1 nothing can be told from it */
};

/* That table, with what section 6.9.4 adds; the other operations are for no Allreduce. */
static const struct {
    MPI_Op handle;
    uint16_t op;
    uint16_t classes;
} operations[] = {
#define INTEGER  (C_INTEGER | FORTRAN_INTEGER | MULTI_LANGUAGE)
#define LOGICALS (LOGICAL | FORTRAN_LOGICAL)
    {MPI_MAX,    OC_OP_MAX,    INTEGER | FLOATING_POINT},
    {MPI_MIN,    OC_OP_MIN,    INTEGER | FLOATING_POINT},
    {MPI_SUM,    OC_OP_SUM,    INTEGER | FLOATING_POINT | COMPLEX},
    {MPI_PROD,   OC_OP_PROD,   INTEGER | FLOATING_POINT | COMPLEX},
    {MPI_LAND,   OC_OP_LAND,   C_INTEGER | LOGICALS},
    {MPI_LOR,    OC_OP_LOR,    C_INTEGER | LOGICALS},
    {MPI_LXOR,   OC_OP_LXOR,   C_INTEGER | LOGICALS},
    {MPI_BAND,   OC_OP_BAND,   INTEGER | BYTE},
    {MPI_BOR,    OC_OP_BOR,    INTEGER | BYTE},
    {MPI_BXOR,   OC_OP_BXOR,   INTEGER | BYTE},
    {MPI_MINLOC, OC_OP_MINLOC, PAIR},
    {MPI_MAXLOC, OC_OP_MAXLOC, PAIR},
#undef LOGICALS
#undef INTEGER
};

/* What an element is made of. With its size it says the type of reduction/, if there is one. */
typedef enum {
    SIGNED,
    UNSIGNED,
    REAL,
    REAL_REAL, /* also a complex number: told apart by the class */
    BRAIN,     /* as REAL, but a bfloat16 */
    INTEGER_INTEGER,
    REAL_INTEGER,
} content_t;

/* Sizes without padding. What is not here, such as most long doubles, is not offered. */
static const struct {
    content_t content;
    uint16_t classes;
    uint16_t type;
} contents[] = {
#define NUMBER (C_INTEGER | FORTRAN_INTEGER | MULTI_LANGUAGE | LOGICAL | FORTRAN_LOGICAL | BYTE)
    {SIGNED,          NUMBER,         OC_TYPE_INT8},
    {SIGNED,          NUMBER,         OC_TYPE_INT16},
    {SIGNED,          NUMBER,         OC_TYPE_INT32},
    {SIGNED,          NUMBER,         OC_TYPE_INT64},
    {UNSIGNED,        NUMBER,         OC_TYPE_UINT8},
    {UNSIGNED,        NUMBER,         OC_TYPE_UINT16},
    {UNSIGNED,        NUMBER,         OC_TYPE_UINT32},
    {UNSIGNED,        NUMBER,         OC_TYPE_UINT64},
    {REAL,            FLOATING_POINT, OC_TYPE_FLOAT16},
    {BRAIN,           FLOATING_POINT, OC_TYPE_BFLOAT16},
    {REAL,            FLOATING_POINT, OC_TYPE_FLOAT},
    {REAL,            FLOATING_POINT, OC_TYPE_DOUBLE},
    {REAL_REAL,       COMPLEX,        OC_TYPE_COMPLEX_FLOAT},
    {REAL_REAL,       COMPLEX,        OC_TYPE_COMPLEX_DOUBLE},
    {REAL_REAL,       PAIR,           OC_TYPE_FLOAT_FLOAT},
    {REAL_REAL,       PAIR,           OC_TYPE_DOUBLE_DOUBLE},
    {INTEGER_INTEGER, PAIR,           OC_TYPE_INT16_INT32},
    {INTEGER_INTEGER, PAIR,           OC_TYPE_INT32_INT32},
    {INTEGER_INTEGER, PAIR,           OC_TYPE_INT64_INT32},
    {REAL_INTEGER,    PAIR,           OC_TYPE_FLOAT_INT32},
    {REAL_INTEGER,    PAIR,           OC_TYPE_DOUBLE_INT32},
#undef NUMBER
};

/*
 * The members of each class. MPI_CHAR, MPI_CHARACTER, MPI_WCHAR and MPI_PACKED have none. Types
 * of Fortran with a size exist where the compiler has them that the library was built with.
 * MPI_OFFSET is signed as in the standard, though Open MPI itself compares it as unsigned.
 */
static const struct {
    MPI_Datatype handle;
    uint16_t class;
    uint16_t content;
} datatypes[] = {
    {MPI_SIGNED_CHAR,             C_INTEGER,       SIGNED},
    {MPI_SHORT,                   C_INTEGER,       SIGNED},
    {MPI_INT,                     C_INTEGER,       SIGNED},
    {MPI_LONG,                    C_INTEGER,       SIGNED},
    {MPI_LONG_LONG,               C_INTEGER,       SIGNED}, /* and MPI_LONG_LONG_INT */
    {MPI_INT8_T,                  C_INTEGER,       SIGNED},
    {MPI_INT16_T,                 C_INTEGER,       SIGNED},
    {MPI_INT32_T,                 C_INTEGER,       SIGNED},
    {MPI_INT64_T,                 C_INTEGER,       SIGNED},
    {MPI_UNSIGNED_CHAR,           C_INTEGER,       UNSIGNED},
    {MPI_UNSIGNED_SHORT,          C_INTEGER,       UNSIGNED},
    {MPI_UNSIGNED,                C_INTEGER,       UNSIGNED},
    {MPI_UNSIGNED_LONG,           C_INTEGER,       UNSIGNED},
    {MPI_UNSIGNED_LONG_LONG,      C_INTEGER,       UNSIGNED},
    {MPI_UINT8_T,                 C_INTEGER,       UNSIGNED},
    {MPI_UINT16_T,                C_INTEGER,       UNSIGNED},
    {MPI_UINT32_T,                C_INTEGER,       UNSIGNED},
    {MPI_UINT64_T,                C_INTEGER,       UNSIGNED},
    {MPI_AINT,                    MULTI_LANGUAGE,  SIGNED},
    {MPI_COUNT,                   MULTI_LANGUAGE,  SIGNED},
    {MPI_OFFSET,                  MULTI_LANGUAGE,  SIGNED},
    {MPI_INTEGER,                 FORTRAN_INTEGER, SIGNED},
#ifdef MPI_INTEGER1
    {MPI_INTEGER1,                FORTRAN_INTEGER, SIGNED},
#endif
#ifdef MPI_INTEGER2
    {MPI_INTEGER2,                FORTRAN_INTEGER, SIGNED},
#endif
#ifdef MPI_INTEGER4
    {MPI_INTEGER4,                FORTRAN_INTEGER, SIGNED},
#endif
#ifdef MPI_INTEGER8
    {MPI_INTEGER8,                FORTRAN_INTEGER, SIGNED},
#endif
    {MPI_FLOAT,                   FLOATING_POINT,  REAL},
    {MPI_DOUBLE,                  FLOATING_POINT,  REAL},
    {MPI_LONG_DOUBLE,             FLOATING_POINT,  REAL},
    {MPI_REAL,                    FLOATING_POINT,  REAL},
    {MPI_DOUBLE_PRECISION,        FLOATING_POINT,  REAL},
#ifdef MPI_REAL4
    {MPI_REAL4,                   FLOATING_POINT,  REAL},
#endif
#ifdef MPI_REAL8
    {MPI_REAL8,                   FLOATING_POINT,  REAL},
#endif
#ifdef MPIX_C_FLOAT16
    {MPIX_C_FLOAT16,              FLOATING_POINT,  REAL},
#endif
#ifdef MPIX_BFLOAT16
    {MPIX_BFLOAT16,               FLOATING_POINT,  BRAIN},
#endif
    {MPI_C_FLOAT_COMPLEX,         COMPLEX,         REAL_REAL}, /* and MPI_C_COMPLEX */
    {MPI_C_DOUBLE_COMPLEX,        COMPLEX,         REAL_REAL},
    {MPI_C_LONG_DOUBLE_COMPLEX,   COMPLEX,         REAL_REAL},
    {MPI_CXX_FLOAT_COMPLEX,       COMPLEX,         REAL_REAL}, /* and MPI_CXX_COMPLEX */
    {MPI_CXX_DOUBLE_COMPLEX,      COMPLEX,         REAL_REAL},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX,         REAL_REAL},
    {MPI_COMPLEX,                 COMPLEX,         REAL_REAL},
    {MPI_DOUBLE_COMPLEX,          COMPLEX,         REAL_REAL},
#ifdef MPI_COMPLEX8
    {MPI_COMPLEX8,                COMPLEX,         REAL_REAL},
#endif
#ifdef MPI_COMPLEX16
    {MPI_COMPLEX16,               COMPLEX,         REAL_REAL},
#endif
    {MPI_C_BOOL,                  LOGICAL,         UNSIGNED},
    {MPI_CXX_BOOL,                LOGICAL,         UNSIGNED},
    {MPI_LOGICAL,                 FORTRAN_LOGICAL, SIGNED},
#ifdef MPI_LOGICAL1
    {MPI_LOGICAL1,                FORTRAN_LOGICAL, SIGNED},
#endif
#ifdef MPI_LOGICAL2
    {MPI_LOGICAL2,                FORTRAN_LOGICAL, SIGNED},
#endif
#ifdef MPI_LOGICAL4
    {MPI_LOGICAL4,                FORTRAN_LOGICAL, SIGNED},
#endif
#ifdef MPI_LOGICAL8
    {MPI_LOGICAL8,                FORTRAN_LOGICAL, SIGNED},
#endif
    {MPI_BYTE,                    BYTE,            UNSIGNED},
    {MPI_2INT,                    PAIR,            INTEGER_INTEGER},
    {MPI_SHORT_INT,               PAIR,            INTEGER_INTEGER},
    {MPI_LONG_INT,                PAIR,            INTEGER_INTEGER},
    {MPI_FLOAT_INT,               PAIR,            REAL_INTEGER},
    {MPI_DOUBLE_INT,              PAIR,            REAL_INTEGER},
    {MPI_LONG_DOUBLE_INT,         PAIR,            REAL_INTEGER},
    {MPI_2INTEGER,                PAIR,            INTEGER_INTEGER},
    {MPI_2REAL,                   PAIR,            REAL_REAL},
    {MPI_2DOUBLE_PRECISION,       PAIR,            REAL_REAL},
};

/*
 * Both tables by handle. Open addressing: a search ends at its handle or at a free place, of which
 * there are at least as many as used ones.
 */
#define PLACE_BITS 8
#define PLACES     (1u << PLACE_BITS)

typedef struct {
    uint64_t handle;  /* 0: a free place; no handle of what is predefined is 0 */
    uint16_t number;  /* of reduction/ */
    uint16_t classes; /* of a datatype: one; of an operation: those that it takes */
} entry_t;

static entry_t entries[PLACES];

/* Pairs of reduction/, so that no call has to ask for the kernel of this processor. */
static bool offered[OC_OP_END][OC_TYPE_END];

_Static_assert(2 * (sizeof(operations) / sizeof(operations[0])
                    + sizeof(datatypes) / sizeof(datatypes[0])) <= PLACES,
               "the table is too full");

/* Pointers in one library, numbers in others; operations and datatypes are told apart in both. */
static uint64_t number_of_op(MPI_Op op)
{
    return (uint64_t) (uintptr_t) op;
}

static uint64_t number_of_type(MPI_Datatype type)
{
    return (uint64_t) (uintptr_t) type;
}

/* The entry of the handle, or the free place where it belongs. */
static entry_t *map_place_of(uint64_t handle)
{
    unsigned place = (unsigned) (handle * 0x9e3779b97f4a7c15u >> (64 - PLACE_BITS));

    while (0 != entries[place].handle && handle != entries[place].handle) {
        place = (place + 1) % PLACES;
    }
    return &entries[place];
}

static unsigned type_of(content_t content, unsigned class, size_t size)
{
    for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
        if (content == contents[i].content && 0 != (class & contents[i].classes)
            && size == oc_type_size(contents[i].type)) {
            return contents[i].type;
        }
    }
    return 0;
}

static void add_datatype(const oc_mpi_map_basis_t *basis, MPI_Datatype handle, unsigned class,
                         content_t content)
{
    unsigned type;

    /* what this library does not have, it calls null */
    if (MPI_DATATYPE_NULL == handle || (FORTRAN_LOGICAL == class && !basis->true_is_one())) {
        return;
    }
    type = type_of(content, class, basis->type_size(handle));
    if (0 != type) {
        *map_place_of(number_of_type(handle)) = (entry_t) {number_of_type(handle), (uint16_t) type,
                                                           (uint16_t) class};
    }
}

static void map_fill(const oc_mpi_map_basis_t *basis)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        uint64_t handle = number_of_op(operations[i].handle);

        *map_place_of(handle) = (entry_t) {handle, operations[i].op, operations[i].classes};
    }
    for (size_t i = 0; i < sizeof(datatypes) / sizeof(datatypes[0]); i++) {
        add_datatype(basis, datatypes[i].handle, datatypes[i].class,
                     (content_t) datatypes[i].content);
    }
    for (unsigned op = 0; op < OC_OP_END; op++) {
        for (unsigned type = 0; type < OC_TYPE_END; type++) {
            offered[op][type] = NULL != oc_reduce_kernel(op, type);
        }
    }
}

/* What is there to look things up in; the first call fills it. */
static void make_sure(const oc_mpi_map_basis_t *basis)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static atomic_bool filled;

    if (atomic_load_explicit(&filled, memory_order_acquire)) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (!atomic_load(&filled)) {
        map_fill(basis);
        atomic_store(&filled, true);
    }
    pthread_mutex_unlock(&lock);
}

oc_fallback_t oc_mpi_map(const oc_mpi_map_basis_t *basis, MPI_Op op, MPI_Datatype type,
                         unsigned *oc_op, unsigned *oc_type, bool *own)
{
    const entry_t *operation, *datatype;

    make_sure(basis);
    operation = map_place_of(number_of_op(op));
    *own = 0 == operation->handle;
    if (*own) {
        return OC_FALLBACK_OP;
    }
    datatype = map_place_of(number_of_type(type));
    if (0 == datatype->handle) {
        return OC_FALLBACK_TYPE;
    }
    if (0 == (operation->classes & datatype->classes)
        || !offered[operation->number][datatype->number]) {
        return OC_FALLBACK_OP;
    }
    *oc_op = operation->number;
    *oc_type = datatype->number;
    return OC_FALLBACK_NONE;
}
