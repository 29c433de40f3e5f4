/* SPDX-License-Identifier: BSD-3-Clause */
/* Control and performance variables of coll/optcast, through the standard's MPI_T interface; or the library for MPICH. */
#include "tools/perf/component.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX   "coll_optcast_"
#define MAX_TEXT sizeof(((oc_perf_setting_t *) NULL)->value)

/* ---- performance variables ---- */

static MPI_T_pvar_handle open_counter(oc_perf_component_t *c, const char *name)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    char full[128];
    int index, count = 0;

    snprintf(full, sizeof(full), PREFIX "%s", name);
    if (MPI_SUCCESS != MPI_T_pvar_get_index(full, MPI_T_PVAR_CLASS_COUNTER, &index)
        || MPI_SUCCESS != MPI_T_pvar_handle_alloc(c->session, index, NULL, &handle, &count)) {
        return MPI_T_PVAR_HANDLE_NULL;
    }
    return handle;
}

static void close_counter(oc_perf_component_t *c, MPI_T_pvar_handle *handle)
{
    if (MPI_T_PVAR_HANDLE_NULL != *handle) {
        (void) MPI_T_pvar_handle_free(c->session, handle);
    }
}

/* Collectives that share a counter count once. */
static void choose_offloaded(oc_perf_component_t *c, const oc_perf_collective_t *collectives,
                             int count)
{
    const char *before = "", *counter;

    for (int i = 0; i < count && i < OC_PERF_MAX_COLLECTIVES; i++) {
        counter = oc_perf_collective_counter(collectives[i]);
        c->counted[i] = 0 == strcmp(counter, before) ? NULL : counter;
        before = counter;
    }
}

static void open_counters(oc_perf_component_t *c)
{
    char name[64];

    for (int i = 0; i < OC_PERF_MAX_COLLECTIVES; i++) {
        c->offloaded[i] = MPI_T_PVAR_HANDLE_NULL;
        if (NULL != c->counted[i]) {
            snprintf(name, sizeof(name), "%s_offloaded", c->counted[i]);
            c->offloaded[i] = open_counter(c, name);
        }
    }
    c->fallbacks = open_counter(c, "fallbacks");
    c->bytes_sent = open_counter(c, "bytes_sent");
    c->bytes_received = open_counter(c, "bytes_received");
    c->helper_wakes = open_counter(c, "helper_wakes");
}

static uint64_t read_counter(const oc_perf_component_t *c, MPI_T_pvar_handle handle)
{
    unsigned long long value = 0;

    if (c->present && MPI_T_PVAR_HANDLE_NULL != handle) {
        (void) MPI_T_pvar_read(c->session, handle, &value);
    }
    return value;
}

static void read_preloaded(const oc_perf_component_t *c, oc_perf_counters_t *counters)
{
    const oc_perf_preloaded_t *p = &c->preloaded;
    char name[64];

    *counters = (oc_perf_counters_t) {.fallbacks = oc_perf_preloaded_count(p, "fallbacks"),
                                      .bytes_sent = oc_perf_preloaded_count(p, "bytes_sent"),
                                      .bytes_received = oc_perf_preloaded_count(p, "bytes_received"),
                                      .helper_wakes = oc_perf_preloaded_count(p, "helper_wakes")};
    for (int i = 0; i < OC_PERF_MAX_COLLECTIVES; i++) {
        if (NULL != c->counted[i]) {
            snprintf(name, sizeof(name), "%s_offloaded", c->counted[i]);
            counters->offloaded += oc_perf_preloaded_count(p, name);
        }
    }
}

void oc_perf_component_read(const oc_perf_component_t *c, oc_perf_counters_t *counters)
{
    if (NULL != c->preloaded.counters) {
        read_preloaded(c, counters);
        return;
    }
    *counters = (oc_perf_counters_t) {.fallbacks = read_counter(c, c->fallbacks),
                                      .bytes_sent = read_counter(c, c->bytes_sent),
                                      .bytes_received = read_counter(c, c->bytes_received),
                                      .helper_wakes = read_counter(c, c->helper_wakes)};
    for (int i = 0; i < OC_PERF_MAX_COLLECTIVES; i++) {
        counters->offloaded += read_counter(c, c->offloaded[i]);
    }
}

/* ---- control variables ---- */

typedef struct {
    char name[128];
    MPI_Datatype type;
    MPI_T_enum names;
} variable_t;

/* Whether it is a setting of the component; its version is a variable, too, but a constant one. */
static bool look_at(int index, variable_t *variable)
{
    int length = sizeof(variable->name), verbosity, binding, scope;

    return MPI_SUCCESS == MPI_T_cvar_get_info(index, variable->name, &length, &verbosity,
                                              &variable->type, &variable->names, NULL, NULL,
                                              &binding, &scope)
           && MPI_T_SCOPE_CONSTANT != scope
           && 0 == strncmp(variable->name, PREFIX, strlen(PREFIX));
}

/* The name of an enumeration's value, or the value of a name. */
static bool enum_item(MPI_T_enum names, int item, int *value, char *name, int size)
{
    return MPI_SUCCESS == MPI_T_enum_get_item(names, item, value, name, &size);
}

static bool enum_name(MPI_T_enum names, int value, char *name, int size)
{
    char enumeration[64];
    int items = 0, length = sizeof(enumeration), found;

    if (MPI_T_ENUM_NULL == names
        || MPI_SUCCESS != MPI_T_enum_get_info(names, &items, enumeration, &length)) {
        return false;
    }
    for (int i = 0; i < items; i++) {
        if (enum_item(names, i, &found, name, size) && found == value) {
            return true;
        }
    }
    return false;
}

static bool enum_value(MPI_T_enum names, const char *name, int *value)
{
    char enumeration[64], found[64];
    int items = 0, length = sizeof(enumeration);

    if (MPI_T_ENUM_NULL == names
        || MPI_SUCCESS != MPI_T_enum_get_info(names, &items, enumeration, &length)) {
        return false;
    }
    for (int i = 0; i < items; i++) {
        if (enum_item(names, i, value, found, sizeof(found)) && 0 == strcmp(found, name)) {
            return true;
        }
    }
    return false;
}

static void number_text(const variable_t *variable, const void *value, oc_perf_setting_t *setting)
{
    long long number;

    setting->is_number = true;
    if (MPI_INT == variable->type) {
        if (enum_name(variable->names, *(const int *) value, setting->value,
                      sizeof(setting->value))) {
            setting->is_number = false;
            return;
        }
        number = *(const int *) value;
    } else {
        number = (long long) *(const unsigned long *) value;
    }
    snprintf(setting->value, sizeof(setting->value), "%lld", number);
}

/* A buffer that holds a number or a text of that many characters. */
static void read_setting(const variable_t *variable, MPI_T_cvar_handle handle, int count,
                         oc_perf_setting_t *setting)
{
    union {
        unsigned long number;
        char text[MAX_TEXT];
    } value = {0};

    snprintf(setting->name, sizeof(setting->name), "%s", variable->name + strlen(PREFIX));
    if (count >= (int) sizeof(value.text) || MPI_SUCCESS != MPI_T_cvar_read(handle, &value)) {
        return;
    }
    if (MPI_CHAR == variable->type) {
        snprintf(setting->value, sizeof(setting->value), "%s", value.text);
    } else {
        number_text(variable, &value, setting);
    }
}

static void add_setting(oc_perf_component_t *c, const variable_t *variable, int index)
{
    MPI_T_cvar_handle handle;
    int count = 0;

    if (MPI_SUCCESS == MPI_T_cvar_handle_alloc(index, NULL, &handle, &count)) {
        read_setting(variable, handle, count, &c->settings[c->num_settings++]);
        (void) MPI_T_cvar_handle_free(&handle);
    }
}

static void open_mode(oc_perf_component_t *c, const variable_t *variable, int index)
{
    int count = 0;

    c->has_mode = enum_value(variable->names, "never", &c->mode_never)
                  && enum_value(variable->names, "always", &c->mode_always)
                  && MPI_SUCCESS == MPI_T_cvar_handle_alloc(index, NULL, &c->mode, &count)
                  && 1 == count && MPI_SUCCESS == MPI_T_cvar_read(c->mode, &c->mode_now);
}

static void open_settings(oc_perf_component_t *c)
{
    variable_t variable;
    int total = 0, found = 0;

    (void) MPI_T_cvar_get_num(&total);
    for (int i = 0; i < total; i++) {
        found += look_at(i, &variable);
    }
    c->present = 0 != found;
    c->settings = calloc((size_t) found + 1, sizeof(*c->settings));
    for (int i = 0; i < total && NULL != c->settings && c->num_settings < found; i++) {
        if (look_at(i, &variable)) {
            add_setting(c, &variable, i);
            if (0 == strcmp(variable.name, PREFIX "mode")) {
                open_mode(c, &variable, i);
            }
        }
    }
}

const char *oc_perf_component_setting(const oc_perf_component_t *c, const char *name)
{
    for (int i = 0; i < c->num_settings; i++) {
        if (0 == strcmp(name, c->settings[i].name)) {
            return c->settings[i].value;
        }
    }
    return "";
}

static bool set_mode(const oc_perf_component_t *c, const char *name, const int *value)
{
    if (NULL != c->preloaded.mode) {
        return 0 == c->preloaded.mode(name);
    }
    return c->has_mode && MPI_SUCCESS == MPI_T_cvar_write(c->mode, value);
}

void oc_perf_component_insist(const oc_perf_component_t *c)
{
    (void) set_mode(c, "always", &c->mode_always);
}

bool oc_perf_component_suspend(const oc_perf_component_t *c)
{
    return set_mode(c, "never", &c->mode_never);
}

void oc_perf_component_resume(const oc_perf_component_t *c)
{
    (void) set_mode(c, NULL, &c->mode_now);
}

/* ---- both ---- */

bool oc_perf_component_settles(const oc_perf_component_t *c)
{
    return NULL != c->preloaded.mode;
}

void oc_perf_component_settle(const oc_perf_component_t *c, MPI_Comm comm)
{
    int nothing = 0;

    if (oc_perf_component_settles(c)) {
        MPI_Allreduce(MPI_IN_PLACE, &nothing, 1, MPI_INT, MPI_SUM, comm);
    }
}

static void list_preloaded(oc_perf_component_t *c)
{
    const oc_perf_preloaded_t *p = &c->preloaded;
    optcast_mpi_setting_t setting;
    unsigned count = p->setting(UINT_MAX, &setting);

    c->present = true;
    c->settings = calloc((size_t) count + 1, sizeof(*c->settings));
    for (unsigned i = 0; NULL != c->settings && i < count; i++) {
        oc_perf_setting_t *s = &c->settings[c->num_settings++];

        (void) p->setting(i, &setting);
        snprintf(s->name, sizeof(s->name), "%s", setting.name);
        snprintf(s->value, sizeof(s->value), "%s", setting.value);
        s->is_number = 0 != setting.is_number;
    }
    c->mode_now = 0 != strcmp("never", oc_perf_component_setting(c, "mode"));
    c->mode_never = 0;
}

void oc_perf_component_open(oc_perf_component_t *c, const oc_perf_collective_t *collectives,
                            int count)
{
    int level = MPI_THREAD_SINGLE, provided;

    *c = (oc_perf_component_t) {.present = false};
    choose_offloaded(c, collectives, count);
    if (oc_perf_preloaded_find(&c->preloaded)) {
        list_preloaded(c);
        return;
    }
    /* Open MPI 4.1 and 5.0 take it for the level of the whole library from now on */
    (void) MPI_Query_thread(&level);
    (void) MPI_T_init_thread(level, &provided);
    (void) MPI_T_pvar_session_create(&c->session);
    open_settings(c);
    open_counters(c);
}

void oc_perf_component_close(oc_perf_component_t *c)
{
    if (NULL != c->preloaded.counters) {
        free(c->settings);
        return;
    }
    for (int i = 0; i < OC_PERF_MAX_COLLECTIVES; i++) {
        close_counter(c, &c->offloaded[i]);
    }
    close_counter(c, &c->fallbacks);
    close_counter(c, &c->bytes_sent);
    close_counter(c, &c->bytes_received);
    close_counter(c, &c->helper_wakes);
    if (c->has_mode) {
        (void) MPI_T_cvar_handle_free(&c->mode);
    }
    (void) MPI_T_pvar_session_free(&c->session);
    free(c->settings);
    (void) MPI_T_finalize();
}
