/* SPDX-License-Identifier: BSD-3-Clause */
/* The table in comments, the section, and its name. */
#include "tools/tune/rule.h"

#include <inttypes.h>
#include <string.h>

#define MICROSECONDS 1e6

/* Of what others wrote, in a line that rules may have: they are limited to 199 characters. */
#define MAX_TEXT 80

static bool is_one(const oc_range_t *range, uint64_t number)
{
    return range->first == number && range->last == number;
}

bool oc_tune_is_for(const oc_rule_t *rule, const oc_tune_situation_t *situation)
{
    return situation->ruled == rule->ruled && is_one(&rule->hosts, situation->hosts)
           && is_one(&rule->ranks_per_host, situation->ranks_per_host)
           && is_one(&rule->servers, situation->servers);
}

static bool is_taken(const char *name, const oc_rules_t *rules,
                     const oc_tune_situation_t *situation)
{
    for (uint64_t i = 0; i < rules->count; i++) {
        if (situation->ruled == rules->rules[i].ruled && 0 == strcmp(name, rules->rules[i].name)
            && !oc_tune_is_for(&rules->rules[i], situation)) {
            return true;
        }
    }
    return false;
}

void oc_tune_rule_name(const oc_tune_situation_t *situation, const oc_rules_t *rules,
                       char name[OC_RULE_NAME_SIZE])
{
    int length = snprintf(name, OC_RULE_NAME_SIZE, "%ux%u+%u", situation->hosts,
                          situation->ranks_per_host, situation->servers);

    for (unsigned number = 2; is_taken(name, rules, situation); number++) {
        snprintf(name + length, (size_t) (OC_RULE_NAME_SIZE - length), "-%u", number);
    }
}

static const char *plural(unsigned number)
{
    return 1 == number ? "" : "s";
}

static void write_facts(FILE *out, const oc_tune_facts_t *facts)
{
    const oc_tune_situation_t *s = &facts->situation;

    fprintf(out, "# Measured on %s with optcast-tune %s and %.*s:\n", facts->date, facts->version,
            MAX_TEXT, facts->mpi);
    fprintf(out, "# %u host%s with up to %u rank%s, servers %.*s%s;\n", s->hosts, plural(s->hosts),
            s->ranks_per_host, plural(s->ranks_per_host), MAX_TEXT, facts->servers,
            strlen(facts->servers) > MAX_TEXT ? "..." : "");
    fprintf(out, "# %s%s%smedians of %d rounds. A ratio above 1: optcast was faster.\n",
            NULL == facts->type ? "" : "sums of ", NULL == facts->type ? "" : facts->type,
            NULL == facts->type ? "" : ", ", facts->rounds);
}

static const char *judgement(const oc_tune_finding_t *finding)
{
    static const char *const words[] = {
        [OC_TUNE_SLOWER] = "slower", [OC_TUNE_ALIKE] = "alike", [OC_TUNE_FASTER] = "faster"};

    return finding->offloaded ? words[finding->verdict] : "not offloaded";
}

static void write_table(FILE *out, const oc_tune_finding_t *findings, size_t count)
{
    fprintf(out, "#\n#      bytes  optcast us previous us   ratio  quartiles      optcast is\n");
    for (size_t i = 0; i < count; i++) {
        const oc_tune_finding_t *f = &findings[i];

        fprintf(out, "# %10" PRIu64 " %11.2f %11.2f %7.3f  %.3f to %.3f %s\n", f->bytes,
                f->ours * MICROSECONDS, f->previous * MICROSECONDS, f->ratio, f->low, f->high,
                judgement(f));
    }
}

void oc_tune_write_rule(FILE *out, const oc_tune_facts_t *facts, const char *name,
                        const oc_tune_finding_t *findings, size_t count)
{
    char offload[256];
    oc_sizes_t sizes;

    oc_tune_ranges(findings, count, &sizes);
    oc_tune_ranges_text(&sizes, offload, sizeof(offload));
    write_facts(out, facts);
    write_table(out, findings, count);
    fprintf(out, "[%s %s]\nhosts = %u\nranks_per_host = %u\nservers = %u\noffload = %s\n",
            oc_ruled_name(facts->situation.ruled), name, facts->situation.hosts,
            facts->situation.ranks_per_host, facts->situation.servers, offload);
}
