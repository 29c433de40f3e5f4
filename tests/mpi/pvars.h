/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the component's MPI_T performance variables, by name and whenever wanted. Counters tell
 * what was added since their handle was allocated, which is as soon as there is MPI: the program's
 * own MPI_Init is the one below.
 */
#ifndef TESTS_MPI_PVARS_H
#define TESTS_MPI_PVARS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef MPICH_VERSION

#include <dlfcn.h>

#include "mpich/mpich_counters.h"

#define PVARS_MAX 128

/* MPICH lets no tool add performance variables: the library has a function instead. */
static inline unsigned long long pvar_read(const char *name)
{
    unsigned (*read)(optcast_mpi_counter_t *, unsigned) =
        (unsigned (*)(optcast_mpi_counter_t *, unsigned)) dlsym(RTLD_DEFAULT, "optcast_mpi_counters");
    optcast_mpi_counter_t counters[PVARS_MAX];
    unsigned count = NULL == read ? 0 : read(counters, PVARS_MAX);

    for (unsigned i = 0; i < count && i < PVARS_MAX; i++) {
        if (0 == strcmp(name, counters[i].name)) {
            return counters[i].value;
        }
    }
    printf("not ok: there is no counter %s\n", name);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 0;
}

static inline void pvars_end(void)
{
}

#else

#define PVARS_MAX  64
#define PVARS_NAME 128

static struct {
    char name[PVARS_NAME];
    MPI_T_pvar_handle handle;
} pvars_known[PVARS_MAX];
static unsigned pvars_count;
static bool pvars_open;
static MPI_T_pvar_session pvars_session;

static inline void pvars_check(int rc, const char *what, const char *name)
{
    if (MPI_SUCCESS != rc) {
        printf("not ok: %s of pvar coll_optcast_%s gives MPI_T error %d\n", what, name, rc);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static inline void pvars_add(int index, const char *name)
{
    int count;

    if (PVARS_MAX == pvars_count) {
        pvars_check(MPI_T_ERR_MEMORY, "table", name);
    }
    pvars_check(MPI_T_pvar_handle_alloc(pvars_session, index, NULL,
                                        &pvars_known[pvars_count].handle, &count),
                "handle", name);
    pvars_check(1 == count ? MPI_SUCCESS : MPI_T_ERR_INVALID, "count", name);
    snprintf(pvars_known[pvars_count++].name, sizeof(pvars_known[0].name), "%s", name);
}

/* All that the component has: none if it is not there. */
static inline void pvars_begin(void)
{
    static const char prefix[] = "coll_optcast_";
    int level, provided, now, number;

    /* Open MPI 4.1 and 5.0 take it for the level of the whole library from now on */
    pvars_check(MPI_Query_thread(&level), "level", "*");
    pvars_check(MPI_T_init_thread(level, &provided), "init", "*");
    pvars_check(MPI_Query_thread(&now), "level", "*");
    pvars_check(now == level ? MPI_SUCCESS : MPI_ERR_OTHER, "same level", "*");
    pvars_check(MPI_T_pvar_session_create(&pvars_session), "session", "*");
    pvars_open = true;
    pvars_check(MPI_T_pvar_get_num(&number), "number", "*");
    for (int index = 0; index < number; index++) {
        int length = PVARS_NAME, none = 0, verbosity, class, bind, readonly, continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum names;
        char name[PVARS_NAME];

        if (MPI_SUCCESS == MPI_T_pvar_get_info(index, name, &length, &verbosity, &class, &type,
                                               &names, NULL, &none, &bind, &readonly, &continuous,
                                               &atomic)
            && 0 == strncmp(name, prefix, strlen(prefix))) {
            pvars_add(index, name + strlen(prefix));
        }
    }
}

__attribute__((weak)) int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);

    pvars_begin();
    return rc;
}

__attribute__((weak)) int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = PMPI_Init_thread(argc, argv, required, provided);

    pvars_begin();
    return rc;
}

static inline MPI_T_pvar_handle pvars_find(const char *name)
{
    if (!pvars_open) {
        pvars_begin();
    }
    for (unsigned i = 0; i < pvars_count; i++) {
        if (0 == strcmp(name, pvars_known[i].name)) {
            return pvars_known[i].handle;
        }
    }
    pvars_check(MPI_T_ERR_INVALID_NAME, "index", name);
    return MPI_T_PVAR_HANDLE_NULL;
}

/* pvar_read("bytes_sent") is coll_optcast_bytes_sent of this process. */
static inline unsigned long long pvar_read(const char *name)
{
    MPI_T_pvar_handle handle = pvars_find(name);
    unsigned long long value = 0;

    pvars_check(MPI_T_pvar_read(pvars_session, handle, &value), "read", name);
    return value;
}

/* Before MPI_Finalize. */
static inline void pvars_end(void)
{
    if (!pvars_open) {
        return;
    }
    for (unsigned i = 0; i < pvars_count; i++) {
        (void) MPI_T_pvar_handle_free(pvars_session, &pvars_known[i].handle);
    }
    (void) MPI_T_pvar_session_free(&pvars_session);
    (void) MPI_T_finalize();
    pvars_count = 0;
    pvars_open = false;
}

#endif
#endif
