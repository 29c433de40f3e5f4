/* SPDX-License-Identifier: BSD-3-Clause */
/* Which MPI library this is, by what it says of itself. */
#include "mpich/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"

/* Larger than the text of any library, which is written without asking for the room. */
#define VERSION_SIZE 16384

_Atomic(oc_library_t) oc_mpich_library_known;

/* Those that promise MPICH's binary interface (ABI compatibility initiative), wherever their text names them. */
static bool has_same_interface(const char *version)
{
    static const char *const names[] = {"MPICH", "Intel(R) MPI", "CRAY MPICH", "MVAPICH",
                                        "ParaStation"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (NULL != strstr(version, names[i])) {
            return true;
        }
    }
    return false;
}

/* Each process of a job finds the same, and one of them says so. */
static bool is_first(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *rank = getenv(names[i]);

        if (NULL != rank) {
            return 0 == strcmp(rank, "0");
        }
    }
    return true;
}

/* The first object whose name is that of an MPI library. Not asked for symbols in here: the linker's lock is held. */
static int find_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = NULL == slash ? info->dlpi_name : slash + 1;

    (void) size;
    if (0 != strncmp(name, "libmpi", strlen("libmpi"))) {
        return 0;
    }
    snprintf(arg, PATH_MAX, "%s", info->dlpi_name);
    return 1;
}

/*
 * A module of an interpreter brings its MPI library along for itself alone, but finds our functions first. The
 * library becomes everybody's, so that we find its functions, too; also those that are still to be looked up.
 */
static void *find_function(const char *name)
{
    char object[PATH_MAX] = "";
    void *found = dlsym(RTLD_DEFAULT, name);

    if (NULL == found && 0 != dl_iterate_phdr(find_object, object)
        && NULL != dlopen(object, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL)) {
        found = dlsym(RTLD_DEFAULT, name);
    }
    return found;
}

bool oc_mpich_library_look(void)
{
    int (*get_version)(char *, int *) =
        (int (*)(char *, int *)) find_function("PMPI_Get_library_version");
    oc_library_t unknown = OC_LIBRARY_UNKNOWN, found = OC_LIBRARY_FOREIGN;
    char version[VERSION_SIZE] = "none that says its version";
    int length;

    if (NULL != get_version && 0 == get_version(version, &length) && has_same_interface(version)
        && NULL != dlsym(RTLD_DEFAULT, "PMPI_Type_get_envelope_c")) {
        found = OC_LIBRARY_OURS;
    }
    if (atomic_compare_exchange_strong(&oc_mpich_library_known, &unknown, found)
        && OC_LIBRARY_FOREIGN == found && is_first()) {
        version[strcspn(version, "\n,")] = '\0';
        oc_output_line("optcast: nothing is offloaded: liboptcast-mpich.so is for MPICH 4.0 or newer and libraries "
                       "with its binary interface, and the MPI library of this program is %s; for "
                       "Open MPI set OMPI_MCA_mca_base_component_path instead of LD_PRELOAD", version);
    }
    return OC_LIBRARY_OURS == found;
}

void *oc_mpich_library_next(_Atomic(void *) *cache, const char *name)
{
    void *next = atomic_load_explicit(cache, memory_order_relaxed);

    if (NULL == next) {
        next = dlsym(RTLD_NEXT, name);
        if (NULL == next) {
            oc_output_line("optcast: the MPI library of this program has no %s", name);
            abort();
        }
        atomic_store_explicit(cache, next, memory_order_relaxed);
    }
    return next;
}
