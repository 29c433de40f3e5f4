/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What coll/optcast tells about itself through the MPI_T interface, or liboptcast-mpich.so by its own functions, if
 * one of them is there; and the setting mode.
 */
#ifndef OC_PERF_COMPONENT_H
#define OC_PERF_COMPONENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/perf/preloaded.h"
#include "tools/perf/types.h"

/* Totals of this process. */
typedef struct {
    uint64_t offloaded;         /* operations of the collectives that are measured */
    uint64_t fallbacks, bytes_sent, bytes_received;
    uint64_t helper_wakes;      /* of the thread that moves nonblocking ones on */
} oc_perf_counters_t;

enum { OC_PERF_NUM_COUNTERS = sizeof(oc_perf_counters_t) / sizeof(uint64_t) };

enum { OC_PERF_MAX_COLLECTIVES = 2 };

typedef struct {
    char name[64];              /* without coll_optcast_ */
    char value[4096];           /* as a person would write it */
    bool is_number;
} oc_perf_setting_t;

typedef struct {
    bool present;               /* the component, or the library for MPICH */
    oc_perf_preloaded_t preloaded; /* if it is the library */
    const char *counted[OC_PERF_MAX_COLLECTIVES]; /* what counts in offloaded; NULL: nothing */
    MPI_T_pvar_session session;
    MPI_T_pvar_handle offloaded[OC_PERF_MAX_COLLECTIVES]; /* null handles: it does not exist */
    MPI_T_pvar_handle fallbacks, bytes_sent, bytes_received, helper_wakes;
    oc_perf_setting_t *settings;
    int num_settings;
    MPI_T_cvar_handle mode;     /* valid if has_mode */
    bool has_mode;              /* it can be changed */
    int mode_now, mode_never, mode_always; /* of its enumeration; the job began with the first */
} oc_perf_component_t;

/*
 * Between MPI_Init and MPI_Finalize; at most OC_PERF_MAX_COLLECTIVES are measured. Without coll/optcast nothing is
 * present, which is no error.
 */
void oc_perf_component_open(oc_perf_component_t *component,
                            const oc_perf_collective_t *collectives, int count);
void oc_perf_component_close(oc_perf_component_t *component);

/* All 0 if it is not present. */
void oc_perf_component_read(const oc_perf_component_t *component, oc_perf_counters_t *counters);

/* "" if there is no such setting. */
const char *oc_perf_component_setting(const oc_perf_component_t *component, const char *name);

/*
 * Communicators that are made from here on, until resume, are offloaded whatever the size. Under MPICH they count as
 * made in their first blocking collective.
 */
void oc_perf_component_insist(const oc_perf_component_t *component);

/* Whether the next one does anything. */
bool oc_perf_component_settles(const oc_perf_component_t *component);
/*
 * Under MPICH, a blocking operation of no size worth speaking of: it decides whether a new communicator is offloaded at all,
 * and from it on nonblocking operations are of the kinds that came before. Nothing elsewhere. Collective over comm.
 */
void oc_perf_component_settle(const oc_perf_component_t *component, MPI_Comm comm);

/*
 * Communicators that are made between the two are not taken by coll/optcast. All ranks, at the
 * same place. false: the component that is loaded does not allow it, and nothing has changed.
 */
bool oc_perf_component_suspend(const oc_perf_component_t *component);
void oc_perf_component_resume(const oc_perf_component_t *component);

#endif
