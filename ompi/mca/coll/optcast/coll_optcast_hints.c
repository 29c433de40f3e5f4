/* SPDX-License-Identifier: BSD-3-Clause */
/* Info keys. Open MPI keeps those that it does not know only if they come with the communicator. */
#include "coll_optcast_hints.h"

#include "opal/util/info.h"
#include "opal/util/output.h"

#include "base/settings.h"

#include "coll_optcast_report.h"

#define BESIDE     "reduce_scatter_beside"
#define KEY_PREFIX "optcast_"

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

void mca_coll_optcast_hints(mca_coll_optcast_module_t *m, oc_hints_t *hints)
{
    const oc_setting_t *setting = oc_setting_find(&oc_job_settings_table, BESIDE);
    char value[MPI_MAX_INFO_VAL] = "";
    oc_job_settings_t settings;
    char error[512];

    if (!find_value(m->comm, KEY_PREFIX BESIDE, value)) {
        return;
    }
    if (OC_OK == oc_setting_parse(setting, &settings, value, error, sizeof(error))) {
        hints->reduce_scatter_beside = settings.reduce_scatter_beside;
    } else if (0 == ompi_comm_rank(m->comm) && !atomic_exchange(&m->hints_refused, true)) {
        opal_output(0, "optcast: communicator \"%s\": the info key " KEY_PREFIX BESIDE " is ignored: "
                    "%s", mca_coll_optcast_name(m->comm), error);
    }
}
