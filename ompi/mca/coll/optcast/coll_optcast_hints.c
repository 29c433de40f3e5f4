/* SPDX-License-Identifier: BSD-3-Clause */
/* Info keys that come with a communicator. */
#include "coll_optcast_hints.h"

#include "opal/util/info.h"
#include "opal/util/output.h"

#include "base/settings.h"

#include "coll_optcast_report.h"

#define BESIDE     "reduce_scatter_beside"
#define KEY_PREFIX "optcast_"
#define NOT_GIVEN  (-1)

static bool find_value(ompi_communicator_t *comm, const char *key, char value[MPI_MAX_INFO_VAL])
{
    int found = 0;

    if (NULL == comm->super.s_info) {
        return false;
    }
#if OC_INFO_STRINGS
    opal_cstring_t *text = NULL;

    if (OPAL_SUCCESS != opal_info_get(comm->super.s_info, key, &text, &found) || !found) {
        return false;
    }
    snprintf(value, MPI_MAX_INFO_VAL, "%s", text->string);
    OBJ_RELEASE(text);
    return true;
#else
    return OPAL_SUCCESS
               == opal_info_get(comm->super.s_info, key, MPI_MAX_INFO_VAL - 1, value, &found)
           && found;
#endif
}

void mca_coll_optcast_hints_read(mca_coll_optcast_module_t *m)
{
    const oc_setting_t *setting = oc_setting_find(&oc_job_settings_table, BESIDE);
    char value[MPI_MAX_INFO_VAL] = "", error[512];
    oc_job_settings_t settings;

    m->beside = NOT_GIVEN;
    if (!find_value(m->comm, KEY_PREFIX BESIDE, value)) {
        return;
    }
    if (OC_OK == oc_setting_parse(setting, &settings, value, error, sizeof(error))) {
        m->beside = settings.reduce_scatter_beside;
    } else if (0 == ompi_comm_rank(m->comm)) {
        opal_output(0, "optcast: communicator \"%s\": the info key " KEY_PREFIX BESIDE " is "
                    "ignored: %s", mca_coll_optcast_name(m->comm), error);
    }
}

void mca_coll_optcast_hints(const mca_coll_optcast_module_t *m, oc_hints_t *hints)
{
    if (NOT_GIVEN != m->beside) {
        hints->reduce_scatter_beside = m->beside;
    }
}
