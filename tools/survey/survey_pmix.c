/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library is loaded when it is needed: optcast-info also runs where no MPI is. Its structures
 * are filled in here, since its macros call functions that not all releases have.
 */
#include <dlfcn.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/survey/survey_pmix.h"

#define LIBRARY "libpmix.so.2"
#define KEY     "optcast.survey"

#define FOREACH_PMIX(X) X(Init) X(Finalize) X(Get) X(Put) X(Commit) X(Fence)

static struct {
    pmix_proc_t self;
#define X(name) __typeof__(PMIx_##name) *name;
    FOREACH_PMIX(X)
#undef X
} pmix;

static bool load(char *error, size_t error_size)
{
    void *library = dlopen(LIBRARY, RTLD_NOW);

    if (NULL == library) {
        snprintf(error, error_size, "PMIx cannot be used, %s: say --coordinator HOST and --token "
                 "WORD", dlerror());
        return false;
    }
#define X(name)                                                                        \
    *(void **) &pmix.name = dlsym(library, "PMIx_" #name);                             \
    if (NULL == pmix.name) {                                                           \
        snprintf(error, error_size, LIBRARY " has no PMIx_" #name ": say --coordinator " \
                 "HOST and --token WORD");                                             \
        return false;                                                                  \
    }
    FOREACH_PMIX(X)
#undef X
    return true;
}

static bool pmix_fails(const char *what, pmix_status_t status, char *error, size_t error_size)
{
    snprintf(error, error_size, "PMIx cannot %s (status %d): say --coordinator HOST and --token "
             "WORD", what, status);
    return false;
}

static pmix_proc_t proc_of(pmix_rank_t rank)
{
    pmix_proc_t proc = pmix.self;

    proc.rank = rank;
    return proc;
}

bool oc_survey_pmix_enter(oc_survey_place_t *place, char *error, size_t error_size)
{
    pmix_value_t *size = NULL;
    pmix_status_t status;
    pmix_proc_t all;

    if (!load(error, error_size)) {
        return false;
    }
    status = pmix.Init(&pmix.self, NULL, 0);
    if (PMIX_SUCCESS != status) {
        return pmix_fails("reach the launcher", status, error, error_size);
    }
    all = proc_of(PMIX_RANK_WILDCARD);
    status = pmix.Get(&all, PMIX_JOB_SIZE, NULL, 0, &size);
    if (PMIX_SUCCESS != status || NULL == size || PMIX_UINT32 != size->type) {
        oc_survey_pmix_leave();
        return pmix_fails("tell the number of processes", status, error, error_size);
    }
    *place = (oc_survey_place_t) {.rank = pmix.self.rank, .processes = size->data.uint32};
    free(size); /* as the macros of PMIx do */
    return true;
}

static pmix_info_t info_of(const char *key)
{
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    snprintf(info.key, sizeof(info.key), "%s", key);
    return info;
}

/* All processes, with what each has put. */
static pmix_status_t fence(unsigned seconds)
{
    pmix_proc_t all = proc_of(PMIX_RANK_WILDCARD);
    pmix_info_t infos[2] = {info_of(PMIX_COLLECT_DATA), info_of(PMIX_TIMEOUT)};

    infos[0].value.type = PMIX_BOOL;
    infos[0].value.data.flag = true;
    infos[1].value.type = PMIX_INT;
    infos[1].value.data.integer = (int) seconds;
    return pmix.Fence(&all, 1, infos, 2);
}

bool oc_survey_pmix_share(const oc_survey_place_t *place, char *text, size_t size,
                          unsigned seconds, char *error, size_t error_size)
{
    pmix_proc_t first = proc_of(0);
    pmix_value_t value, *got = NULL;
    pmix_status_t status = PMIX_SUCCESS;

    memset(&value, 0, sizeof(value));
    value.type = PMIX_STRING;
    value.data.string = text;
    if (0 == place->rank) {
        status = pmix.Put(PMIX_GLOBAL, KEY, &value);
    }
    if (PMIX_SUCCESS == status) {
        status = pmix.Commit();
    }
    if (PMIX_SUCCESS == status) {
        status = fence(seconds);
    }
    if (PMIX_SUCCESS == status && 0 != place->rank) {
        status = pmix.Get(&first, KEY, NULL, 0, &got);
        if (PMIX_SUCCESS == status && PMIX_STRING == got->type && NULL != got->data.string) {
            snprintf(text, size, "%s", got->data.string);
            free(got->data.string);
            free(got);
        }
    }
    return PMIX_SUCCESS == status
           || pmix_fails("bring all processes together", status, error, error_size);
}

void oc_survey_pmix_leave(void)
{
    (void) pmix.Finalize(NULL, 0);
}
