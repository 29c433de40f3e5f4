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
#include "client/plan/previous_owned.h"

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

/* Those of an algorithm that the model knows; a Barrier's it need not. */
static const struct {
    const char *algorithm, *segments;
    int last, fans_out;         /* the greatest number of one, and the one that takes a fan-out */
} tuned_settings[OC_NUM_RULED] = {
    [OC_RULED_ALLREDUCE] = {.algorithm = "allreduce_algorithm",
                            .last = OC_ALGORITHM_RABENSEIFNER},
    [OC_RULED_REDUCE] = {"reduce_algorithm", "reduce_algorithm_segmentsize",
                         OC_REDUCE_RABENSEIFNER, OC_REDUCE_CHAIN},
    [OC_RULED_REDUCE_SCATTER] = {.algorithm = "reduce_scatter_algorithm",
                                 .last = OC_SCATTER_BUTTERFLY},
    [OC_RULED_REDUCE_SCATTER_BLOCK] = {.algorithm = "reduce_scatter_block_algorithm",
                                       .last = OC_BLOCK_BUTTERFLY},
};

/* Trees and chains in segments are faster than those that the model knows. */
static bool is_known(oc_ruled_t ruled, int algorithm)
{
    const char *segments = tuned_settings[ruled].segments;

    return algorithm <= tuned_settings[ruled].last
           && (NULL == segments || 0 == algorithm
               || (0 == int_of("tuned", segments, 0)
                   && algorithm != tuned_settings[ruled].fans_out));
}

/* What users say of tuned. Whether a file or an algorithm goes first depends on the version. */
static uint64_t tuned(oc_ruled_t ruled)
{
    const char *setting = tuned_settings[ruled].algorithm;
    const bool *dynamic = variable("tuned", "use_dynamic_rules");
    int algorithm = NULL == setting ? 0 : int_of("tuned", setting, 0);
    char *const *file = variable("tuned", "dynamic_rules_filename");

    if (NULL == dynamic || !*dynamic) {
        return OC_PREVIOUS_TUNED;
    }
    if ((NULL != file && NULL != *file && '\0' != (*file)[0]) || !is_known(ruled, algorithm)) {
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

void mca_coll_optcast_opponent(uint64_t previous[OC_NUM_RULED])
{
    const char *best = find_best("");
    uint64_t han = 0;

    if (0 == strcmp(best, "han")) {
        han = OC_PREVIOUS_HAN;
        best = find_best("han");
    }
    for (int ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        previous[ruled] = han + (0 == strcmp(best, "tuned") ? tuned((oc_ruled_t) ruled)
                                                            : OC_PREVIOUS_BEST);
    }
}
