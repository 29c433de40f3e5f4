/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: any bytes as rules of mode auto; what is understood makes sense. */
/* Test: default 5; all 60 */
#include <stdlib.h>
#include <string.h>

#include "base/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool sound)
{
    if (!sound) {
        abort();
    }
}

static void check_range(const oc_range_t *range)
{
    check(range->first <= range->last);
}

static void check_rule(const oc_rule_t *rule)
{
    char text[64];

    check('\0' != rule->name[0] && NULL != memchr(rule->name, '\0', sizeof(rule->name)));
    check_range(&rule->hosts);
    check_range(&rule->ranks_per_host);
    check_range(&rule->servers);
    check(rule->offload.count <= OC_MAX_SIZES);
    for (uint64_t i = 0; i < rule->offload.count; i++) {
        check_range(&rule->offload.ranges[i]);
        check(0 == i || rule->offload.ranges[i].first > rule->offload.ranges[i - 1].last);
    }
    oc_sizes_print(&rule->offload, text, sizeof(text));
    check('\0' != text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[160] = "";
    oc_rules_t rules;

    if (OC_OK != oc_rules_parse("fuzz", (const char *) data, size, &rules, error, sizeof(error))) {
        check('\0' != error[0] && 0 == rules.count);
        return 0;
    }
    check(rules.count <= OC_MAX_RULES && rules.constants.link_rate > 0
          && rules.constants.server_rate > 0 && rules.constants.memory_rate > 0);
    for (uint64_t i = 0; i < rules.count; i++) {
        check_rule(&rules.rules[i]);
    }
    return 0;
}
