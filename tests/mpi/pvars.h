/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the component's MPI_T performance variables, by name and whenever wanted. */
#ifndef TESTS_MPI_PVARS_H
#define TESTS_MPI_PVARS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PVARS_MAX 64

static struct {
    char name[64];
    MPI_T_pvar_handle handle;
} pvars_known[PVARS_MAX];
static unsigned pvars_count;
static MPI_T_pvar_session pvars_session;

static inline void pvars_check(int rc, const char *what, const char *name)
{
    if (MPI_SUCCESS != rc) {
        printf("not ok: %s of pvar coll_optcast_%s gives MPI_T error %d\n", what, name, rc);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static inline MPI_T_pvar_handle pvars_find(const char *name)
{
    int index, level, provided, now, count;
    char full[96];

    for (unsigned i = 0; i < pvars_count; i++) {
        if (0 == strcmp(name, pvars_known[i].name)) {
            return pvars_known[i].handle;
        }
    }
    if (0 == pvars_count) {
        /* Open MPI 4.1 and 5.0 take it for the level of the whole library from now on */
        pvars_check(MPI_Query_thread(&level), "level", name);
        pvars_check(MPI_T_init_thread(level, &provided), "init", name);
        pvars_check(MPI_Query_thread(&now), "level", name);
        pvars_check(now == level ? MPI_SUCCESS : MPI_ERR_OTHER, "same level", name);
        pvars_check(MPI_T_pvar_session_create(&pvars_session), "session", name);
    }
    if (PVARS_MAX == pvars_count) {
        pvars_check(MPI_T_ERR_MEMORY, "table", name);
    }
    snprintf(full, sizeof(full), "coll_optcast_%s", name);
    pvars_check(MPI_T_pvar_get_index(full, MPI_T_PVAR_CLASS_LEVEL, &index), "index", name);
    pvars_check(MPI_T_pvar_handle_alloc(pvars_session, index, NULL,
                                        &pvars_known[pvars_count].handle, &count),
                "handle", name);
    pvars_check(1 == count ? MPI_SUCCESS : MPI_T_ERR_INVALID, "count", name);
    snprintf(pvars_known[pvars_count].name, sizeof(pvars_known[0].name), "%s", name);
    return pvars_known[pvars_count++].handle;
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
    if (0 == pvars_count) {
        return;
    }
    for (unsigned i = 0; i < pvars_count; i++) {
        (void) MPI_T_pvar_handle_free(pvars_session, &pvars_known[i].handle);
    }
    (void) MPI_T_pvar_session_free(&pvars_session);
    (void) MPI_T_finalize();
    pvars_count = 0;
}

#endif
