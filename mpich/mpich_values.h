/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's settings for programs that look for them, such as optcast-perf: what MPI_T has of Open MPI's
 * component. To be found by dlsym; any thread.
 */
#ifndef OC_MPICH_VALUES_H
#define OC_MPICH_VALUES_H

typedef struct {
    char name[64];              /* without OPTCAST_, in small letters */
    char value[4096];           /* as a person would write it, cut where it is longer */
    int is_number;
} optcast_mpi_setting_t;

/*
 * Fills in that setting of this process, as it is now, and returns how many there are; with an index that is
 * none it changes nothing. Before MPI_Init they have no values; what process 0 decides is known after the first collective.
 */
unsigned optcast_mpi_setting(unsigned index, optcast_mpi_setting_t *setting)
    __attribute__((visibility("default")));

/*
 * Communicators whose first blocking collective comes from here on have this mode, "auto", "always" or "never", instead
 * of that of the job; NULL: that of the job again. All processes of the job have to say the same, at the same
 * place. Returns 0; -1: there is no such mode, and nothing has changed.
 */
int optcast_mpi_mode(const char *mode) __attribute__((visibility("default")));

#endif
