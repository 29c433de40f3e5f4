/* SPDX-License-Identifier: BSD-3-Clause */
/* Registration, opening and closing of the component. */
#include "coll_optcast_state.h"

#include "opal/runtime/opal_progress.h"
#include "opal/util/output.h"

#include "coll_optcast_exchange.h"
#include "coll_optcast_job.h"
#include "coll_optcast_memory.h"
#include "coll_optcast_module.h"
#include "coll_optcast_pvars.h"
#include "coll_optcast_report.h"

static int optcast_register(void);
static int optcast_open(void);
static int optcast_close(void);

OMPI_DECLSPEC extern mca_coll_base_component_t mca_coll_optcast_component;

/* Open MPI looks for this by its name. */
mca_coll_base_component_t mca_coll_optcast_component = {
    .collm_version = {
        OC_COLL_VERSION,
        .mca_component_name = "optcast",
        MCA_BASE_MAKE_VERSION(component, 0, 1, 0),
        .mca_open_component = optcast_open,
        .mca_close_component = optcast_close,
        .mca_register_component_params = optcast_register,
    },
    .collm_data = {
        MCA_BASE_METADATA_PARAM_NONE
    },
    .collm_init_query = mca_coll_optcast_init_query,
    .collm_comm_query = mca_coll_optcast_comm_query,
};
MCA_BASE_COMPONENT_INIT(ompi, coll, optcast)

#define TEXT(value)    TEXT_OF(value)
#define TEXT_OF(value) #value

/*
 * optcast-info looks for this in the file: another Open MPI may list a component that it cannot
 * use.
 */
static const char built_for[] __attribute__((used)) = "optcast-info: built for Open MPI "
    TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION);

static mca_base_var_type_t mca_type(oc_setting_type_t type)
{
    switch (type) {
    case OC_SETTING_SIZE:
        return MCA_BASE_VAR_TYPE_SIZE_T;
    case OC_SETTING_TEXT:
        return MCA_BASE_VAR_TYPE_STRING;
    default:
        return MCA_BASE_VAR_TYPE_INT;
    }
}

/* Names of a choice with their numbers; MCA keeps a reference while it needs it. */
static mca_base_var_enum_t *choice_enum(const oc_setting_t *setting)
{
    mca_base_var_enum_value_t values[8] = {{0, NULL}};
    mca_base_var_enum_t *result = NULL;

    if (OC_SETTING_CHOICE != setting->type) {
        return NULL;
    }
    for (int i = 0; NULL != setting->choices[i] && i < 7; i++) {
        values[i] = (mca_base_var_enum_value_t) {i, setting->choices[i]};
    }
    (void) mca_base_var_enum_create(setting->name, values, &result);
    return result;
}

static int optcast_register(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;

    st->component = &mca_coll_optcast_component.collm_version;
    /* anew each time: strings are taken away when a session closes */
    oc_settings_default(&oc_job_settings_table, &st->settings);
    for (unsigned i = 0; i < oc_job_settings_table.count; i++) {
        const oc_setting_t *setting = &oc_job_settings_table.settings[i];
        mca_base_var_enum_t *names = choice_enum(setting);

        (void) mca_base_component_var_register(
            st->component, setting->name, setting->help, mca_type(setting->type),
            names, 0, setting->changeable ? MCA_BASE_VAR_FLAG_SETTABLE : 0,
            (mca_base_var_info_lvl_t) (OPAL_INFO_LVL_1 + setting->level - 1),
            setting->changeable ? MCA_BASE_VAR_SCOPE_ALL_EQ : MCA_BASE_VAR_SCOPE_READONLY,
            (char *) &st->settings + setting->offset);
        if (NULL != names) {
            OBJ_RELEASE(names);
        }
    }
    mca_coll_optcast_pvars_register();
    return OMPI_SUCCESS;
}

static int optcast_open(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    char error[256];

    st->output = opal_output_open(NULL);
    opal_output_set_verbosity(st->output, st->settings.verbose);
    st->settings_valid = OC_OK == oc_settings_check(&oc_job_settings_table, &st->settings, error,
                                                    sizeof(error));
    if (!st->settings_valid) {
        opal_output(0, "optcast: %s; nothing is offloaded", error);
    }
    OBJ_CONSTRUCT(&st->requests, opal_free_list_t);
    OBJ_CONSTRUCT(&st->inner, opal_list_t);
    OBJ_CONSTRUCT(&st->exchanges, opal_list_t);
    atomic_flag_clear(&st->exchanging);
    atomic_store(&st->error_code, 0);
    atomic_store(&st->error_code_asked, false);
    OBJ_CONSTRUCT(&st->lock, opal_mutex_t);
    mca_coll_optcast_job_publish();
    return OMPI_SUCCESS;
}

static int optcast_close(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;

    mca_coll_optcast_report_summary();
    if (st->live_modules > 0) { /* of communicators that somebody still holds */
        (void) opal_progress_unregister(mca_coll_optcast_progress);
        st->live_modules = 0;
    }
    oc_client_destroy(st->client);
    st->client = NULL;
    mca_coll_optcast_memory_close();
    OBJ_DESTRUCT(&st->lock);
    mca_coll_optcast_exchange_forget();
    OBJ_DESTRUCT(&st->exchanges);
    OBJ_DESTRUCT(&st->inner);
    OBJ_DESTRUCT(&st->requests);
    opal_output_close(st->output);
    return OMPI_SUCCESS;
}
