/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which module communicators that span hosts have below ours, by the components that are open and
 * their priorities, before there is any communicator. The model needs it; what is left goes to
 * whatever is there.
 */
#include "coll_optcast_opponent.h"

#include "coll_optcast_compat.h"

#include "opal/mca/base/mca_base_var.h"

#include "client/plan/previous.h"

/* Components that are for one host, for one rank, for pairs of groups, or between others. */
static bool is_elsewhere(const char *name)
{
    static const char *const names[] = {"optcast", "self", "inter", "sm", "xhc", "sync",
                                        "monitoring", "cuda", "accelerator", "ftagree", "demo"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (0 == strcmp(name, names[i])) {
            return true;
        }
    }
    return false;
}

/* Where the value is, which has the variable's own type; NULL: there is no such variable. */
static const void *variable(const char *component, const char *name)
{
    const void *value = NULL;
    int index = mca_base_var_find("ompi", "coll", component, name);

    return index >= 0 && OPAL_SUCCESS == mca_base_var_get_value(index, &value, NULL, NULL) ? value
                                                                                           : NULL;
}

static int int_of(const char *component, const char *name, int otherwise)
{
    const int *value = variable(component, name);

    return NULL == value ? otherwise : *value;
}

/* What users say of tuned. Whether a file or an algorithm goes first depends on the version. */
static uint64_t tuned(void)
{
    const bool *dynamic = variable("tuned", "use_dynamic_rules");
    int algorithm = int_of("tuned", "allreduce_algorithm", 0);
    char *const *file = variable("tuned", "dynamic_rules_filename");

    if (NULL == dynamic || !*dynamic) {
        return OC_PREVIOUS_TUNED;
    }
    if ((NULL != file && NULL != *file && '\0' != (*file)[0])
        || algorithm > OC_ALGORITHM_RABENSEIFNER) {
        return OC_PREVIOUS_BEST;
    }
    return algorithm > 0 ? OC_PREVIOUS_FORCED + (uint64_t) algorithm : OC_PREVIOUS_TUNED;
}

/* Those of libraries can be there and switched off. */
static int priority_of(const char *name)
{
    return is_elsewhere(name) || 0 == int_of(name, "enable", 1) ? 0 : int_of(name, "priority", 0);
}

/* The name of the one that has the highest priority, but for that other one. */
static const char *find_best(const char *other)
{
    mca_base_component_list_item_t *item;
    const char *best = "";
    int priority = 0;

    OPAL_LIST_FOREACH (item, &ompi_coll_base_framework.framework_components,
                       mca_base_component_list_item_t) {
        const char *name = item->cli_component->mca_component_name;
        int own = 0 == strcmp(name, other) ? 0 : priority_of(name);

        if (own > priority) {
            priority = own;
            best = name;
        }
    }
    return best;
}

uint64_t mca_coll_optcast_opponent(void)
{
    const char *best = find_best("");
    uint64_t han = 0;

    if (0 == strcmp(best, "han")) {
        han = OC_PREVIOUS_HAN;
        best = find_best("han");
    }
    return han + (0 == strcmp(best, "tuned") ? tuned() : OC_PREVIOUS_BEST);
}
