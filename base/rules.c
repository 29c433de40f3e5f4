/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading of rules. inih splits lines; it gets them from memory, one after the other, so that their
 * number is known here, and a line that would not fit its buffer is not taken for two.
 */
#include "base/rules.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define VERSION     1
#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define MAX_RATE    100000000    /* Mbit/s */
#define MAX_TIME    1000000000000 /* ns */
#define MAX_HOSTS   65536
#define MAX_SERVERS 256000       /* 256 of weight 1000 */
#define VALUE_SIZE  192

static const char *const ruled_names[OC_NUM_RULED] = {
    [OC_RULED_ALLREDUCE] = "allreduce",
    [OC_RULED_REDUCE] = "reduce",
    [OC_RULED_REDUCE_SCATTER] = "reduce_scatter",
    [OC_RULED_REDUCE_SCATTER_BLOCK] = "reduce_scatter_block",
    [OC_RULED_BARRIER] = "barrier",
};

/* For messages. */
#define SECTIONS "[allreduce NAME], [reduce NAME], [reduce_scatter NAME], [reduce_scatter_block " \
                 "NAME] and [barrier NAME]"

static const struct {
    const char *name;
    size_t offset;
    uint64_t nominal, tcp, min, max;
} constants[] = {
#define CONSTANT(field) #field, offsetof(oc_constants_t, field)
    {CONSTANT(link_rate), 100000, 0, 1, MAX_RATE},
    {CONSTANT(link_latency), 2000, 30000, 0, MAX_TIME},
    {CONSTANT(offload_latency), 20000, 60000, 0, MAX_TIME},
    {CONSTANT(message_cost), 300, 5000, 0, MAX_TIME},
    {CONSTANT(server_rate), 100000, 10000, 1, MAX_RATE},
    {CONSTANT(memory_rate), 80000, 40000, 1, MAX_RATE},
#undef CONSTANT
};

/* What a rule looks at; a range that is missing is from the least number of default on. */
static const struct {
    const char *name;
    size_t offset;
    uint64_t from, min, max;
} conditions[] = {
    {"hosts", offsetof(oc_rule_t, hosts), 2, 1, MAX_HOSTS},
    {"ranks_per_host", offsetof(oc_rule_t, ranks_per_host), 1, 1, MAX_HOSTS},
    {"servers", offsetof(oc_rule_t, servers), 0, 0, MAX_SERVERS},
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Bits of what stood in a section: a condition's or constant's number, and these. */
#define SEEN_OFFLOAD 31
#define SEEN_VERSION 30

typedef struct {
    const char *source;
    const char *at, *end;      /* what was not read yet */
    unsigned line;             /* the number of the one that was read last */
    oc_rules_t *rules;
    oc_rule_t *rule;           /* whose section it is; NULL: another one */
    unsigned rule_line;
    uint32_t seen;             /* of the rule */
    uint32_t seen_before;      /* outside of rules */
    bool failed;               /* the parser goes on after an error; the first one counts */
    unsigned failed_line;
    char *error;
    size_t error_size;
} parser_t;

void oc_rules_default(oc_rules_t *rules)
{
    memset(rules, 0, sizeof(*rules));
    for (size_t i = 0; i < LENGTH(constants); i++) {
        *(uint64_t *) ((char *) &rules->constants + constants[i].offset) = constants[i].nominal;
    }
}

void oc_rules_constants(const oc_rules_t *rules, const oc_network_t *network, oc_constants_t *to)
{
    *to = rules->constants;
    if (OC_FABRIC_UNKNOWN == network->fabric) {
        return;
    }
    for (size_t i = 0; OC_FABRIC_TCP == network->fabric && i < LENGTH(constants); i++) {
        if (0 == (rules->given >> i & 1)) {
            *(uint64_t *) ((char *) to + constants[i].offset) = constants[i].tcp;
        }
    }
    if (0 == (rules->given & 1)) {
        to->link_rate = network->rate;
    }
}

static bool fail_at(parser_t *p, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Always false. */
static bool fail_at(parser_t *p, unsigned line, const char *format, ...)
{
    va_list args;
    int length;

    if (p->failed) {
        return false;
    }
    p->failed = true;
    p->failed_line = line;
    length = snprintf(p->error, p->error_size, "%s, line %u: ", p->source, line);
    if (length > 0 && (size_t) length < p->error_size) {
        va_start(args, format);
        vsnprintf(p->error + length, p->error_size - (size_t) length, format, args);
        va_end(args);
    }
    return false;
}

#define FAIL(p, ...) fail_at((p), (p)->line, __VA_ARGS__)

/* Without spaces at both ends. */
static char *rules_trim(char *text)
{
    size_t length;

    text += strspn(text, " \t");
    length = strlen(text);
    while (length > 0 && isspace((unsigned char) text[length - 1])) {
        text[--length] = '\0';
    }
    return text;
}

/* "A-B" or "A-"; also "A", if that is allowed. */
static bool parse_range(char *text, bool single, oc_range_t *range)
{
    char *dash = strchr(text, '-');

    if (NULL == dash) {
        if (!single || OC_OK != oc_parse_size(text, &range->first)) {
            return false;
        }
        range->last = range->first;
        return true;
    }
    *dash = '\0';
    range->last = UINT64_MAX;
    return OC_OK == oc_parse_size(rules_trim(text), &range->first)
           && ('\0' == *rules_trim(dash + 1)
               || OC_OK == oc_parse_size(rules_trim(dash + 1), &range->last))
           && range->first <= range->last;
}

static bool copy_value(const char *value, char copy[VALUE_SIZE])
{
    return snprintf(copy, VALUE_SIZE, "%s", value) < VALUE_SIZE;
}

static bool parse_offload(char *text, oc_sizes_t *sizes)
{
    char *rest = text, *item;

    memset(sizes, 0, sizeof(*sizes));
    if (0 == strcmp(text, "never")) {
        return true;
    }
    if (0 == strcmp(text, "always")) {
        sizes->ranges[sizes->count++] = (oc_range_t) {.last = UINT64_MAX};
        return true;
    }
    while (NULL != (item = strsep(&rest, ","))) {
        oc_range_t range;

        if (OC_MAX_SIZES == sizes->count || !parse_range(rules_trim(item), false, &range)
            || (sizes->count > 0 && range.first <= sizes->ranges[sizes->count - 1].last)) {
            return false;
        }
        sizes->ranges[sizes->count++] = range;
    }
    return true;
}

/* Whether it is there for the first time. */
static bool rules_mark(parser_t *p, uint32_t *seen, unsigned bit, const char *name)
{
    if (0 != (*seen >> bit & 1)) {
        return FAIL(p, "%s stands there twice", name);
    }
    *seen |= 1u << bit;
    return true;
}

static bool set_constant(parser_t *p, const char *name, const char *value)
{
    for (unsigned i = 0; i < LENGTH(constants); i++) {
        uint64_t number = 0;

        if (0 != strcmp(name, constants[i].name)) {
            continue;
        }
        if (OC_OK != oc_parse_size(value, &number) || number < constants[i].min
            || number > constants[i].max) {
            return FAIL(p, "\"%.40s\" is not a value of %s: a whole number from %llu to %llu is "
                        "needed", value, name, (unsigned long long) constants[i].min,
                        (unsigned long long) constants[i].max);
        }
        *(uint64_t *) ((char *) &p->rules->constants + constants[i].offset) = number;
        p->rules->given |= 1ull << i;
        return rules_mark(p, &p->seen_before, i, name);
    }
    return FAIL(p, "\"%.40s\" is not known in [model]: link_rate, link_latency, offload_latency, "
                "message_cost, server_rate and memory_rate are", name);
}

static bool set_condition(parser_t *p, unsigned i, const char *value)
{
    oc_range_t *range = (oc_range_t *) ((char *) p->rule + conditions[i].offset);
    char copy[VALUE_SIZE];

    if (!copy_value(value, copy) || !parse_range(copy, true, range)
        || range->first < conditions[i].min || range->first > conditions[i].max) {
        return FAIL(p, "\"%.40s\" is not a value of %s: N, N-M or N- with numbers from %llu to "
                    "%llu is needed", value, conditions[i].name,
                    (unsigned long long) conditions[i].min,
                    (unsigned long long) conditions[i].max);
    }
    return rules_mark(p, &p->seen, i, conditions[i].name);
}

static bool set_offload(parser_t *p, const char *value)
{
    char copy[VALUE_SIZE];

    if (OC_RULED_BARRIER == p->rule->ruled && 0 != strcmp(value, "always")
        && 0 != strcmp(value, "never")) {
        return FAIL(p, "\"%.80s\" is not a value of offload of a barrier, which has no bytes: "
                    "always or never is needed", value);
    }
    if (!copy_value(value, copy) || !parse_offload(copy, &p->rule->offload)) {
        return FAIL(p, "\"%.80s\" is not a value of offload: always, never, or up to %d ranges of "
                    "bytes from small to large, such as 64K-1M, 4M-, is needed", value,
                    OC_MAX_SIZES);
    }
    return rules_mark(p, &p->seen, SEEN_OFFLOAD, "offload");
}

static bool set_in_rule(parser_t *p, const char *name, const char *value)
{
    for (unsigned i = 0; i < LENGTH(conditions); i++) {
        if (0 == strcmp(name, conditions[i].name)) {
            return set_condition(p, i, value);
        }
    }
    return 0 == strcmp(name, "offload")
               ? set_offload(p, value)
               : FAIL(p, "\"%.40s\" is not known in a rule: hosts, ranks_per_host, servers and "
                      "offload are", name);
}

static bool set_version(parser_t *p, const char *name, const char *value)
{
    uint64_t number = 0;

    if (0 != strcmp(name, "version")) {
        return FAIL(p, "\"%.40s\" stands in no section: [model] or that of a rule, such as "
                    "[allreduce NAME], is needed before it", name);
    }
    if (OC_OK != oc_parse_size(value, &number) || VERSION != number) {
        return FAIL(p, "version \"%.40s\" of rules is not known to this version of Optcast, but %d "
                    "is: write the file anew, with optcast-tune for example", value, VERSION);
    }
    return rules_mark(p, &p->seen_before, SEEN_VERSION, name);
}

static bool finish_rule(parser_t *p)
{
    if (NULL != p->rule && 0 == (p->seen >> SEEN_OFFLOAD & 1)) {
        return fail_at(p, p->rule_line, "the rule \"%s\" does not say offload", p->rule->name);
    }
    p->rule = NULL;
    return true;
}

static bool begin_rule(parser_t *p, oc_ruled_t ruled, const char *name)
{
    size_t length = strlen(name);

    if (!finish_rule(p)) {
        return false;
    }
    if (0 == length || length >= OC_RULE_NAME_SIZE) {
        return FAIL(p, "\"%.48s\" is not a name of a rule: up to %d letters are needed", name,
                    OC_RULE_NAME_SIZE - 1);
    }
    for (uint64_t i = 0; i < p->rules->count; i++) {
        if (ruled == p->rules->rules[i].ruled && 0 == strcmp(name, p->rules->rules[i].name)) {
            return FAIL(p, "a rule \"%s\" was there before: each needs a name of its own", name);
        }
    }
    if (OC_MAX_RULES == p->rules->count) {
        return FAIL(p, "these are more than %d rules", OC_MAX_RULES);
    }
    p->rule = &p->rules->rules[p->rules->count++];
    p->rule_line = p->line;
    p->seen = 0;
    p->rule->ruled = ruled;
    memcpy(p->rule->name, name, length);
    for (unsigned i = 0; i < LENGTH(conditions); i++) {
        *(oc_range_t *) ((char *) p->rule + conditions[i].offset) =
            (oc_range_t) {.first = conditions[i].from, .last = UINT64_MAX};
    }
    return true;
}

/* inih calls back for values only: a section that has none would not be seen. */
static bool begin_section(parser_t *p, const char *line)
{
    const char *end = strchr(line, ']');
    char section[VALUE_SIZE + 16];

    if (NULL == end) {
        return true; /* inih says that it is none */
    }
    snprintf(section, sizeof(section), "%.*s", (int) (end - line - 1), line + 1);
    for (unsigned ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        size_t length = strlen(ruled_names[ruled]);

        if (0 == strncmp(section, ruled_names[ruled], length) && ' ' == section[length]) {
            return begin_rule(p, (oc_ruled_t) ruled, section + length + 1);
        }
    }
    return finish_rule(p)
           && (0 == strcmp(section, "model")
               || FAIL(p, "[%.48s] is not known: [model], " SECTIONS " are", section));
}

static int on_value(void *user, const char *section, const char *name, const char *value)
{
    parser_t *p = user;

    if (p->failed) {
        return 0;
    }
    if (NULL == name) {
        return 1; /* inih can be built to tell sections, too */
    }
    if (NULL != p->rule) {
        return set_in_rule(p, name, value);
    }
    return '\0' == section[0] ? set_version(p, name, value) : set_constant(p, name, value);
}

/* As fgets. A line that does not fit, or that is no text, ends it. */
static char *next_line(char *buffer, int size, void *stream)
{
    parser_t *p = stream;
    const char *end;
    size_t length;

    if (p->failed || p->at == p->end) {
        return NULL;
    }
    end = memchr(p->at, '\n', (size_t) (p->end - p->at));
    length = (size_t) ((NULL == end ? p->end : end) - p->at);
    p->line++;
    if (length >= (size_t) size || NULL != memchr(p->at, '\0', length)) {
        (void) FAIL(p, length >= (size_t) size ? "it is longer than %d characters"
                                               : "it is not text of up to %d characters", size - 1);
        return NULL;
    }
    memcpy(buffer, p->at, length);
    buffer[length] = '\0';
    p->at = NULL == end ? p->end : end + 1;
    /* inih takes an indented line for more of the one before */
    memmove(buffer, buffer + strspn(buffer, " \t"), strlen(buffer + strspn(buffer, " \t")) + 1);
    return '[' != buffer[0] || begin_section(p, buffer) ? buffer : NULL;
}

/* The end of a long path says more. */
static void set_source(oc_rules_t *rules, const char *source)
{
    size_t length = strlen(source), most = sizeof(rules->source) - 1;

    memcpy(rules->source, source + (length > most ? length - most : 0),
           length > most ? most : length);
}

oc_status_t oc_rules_parse(const char *source, const char *text, size_t length, oc_rules_t *rules,
                           char *error, size_t error_size)
{
    parser_t p = {.source = source, .at = text, .end = text + length, .rules = rules,
                  .error = error, .error_size = error_size};
    int line;

    oc_rules_default(rules);
    set_source(rules, source);
    if (length >= strlen(BYTE_ORDER_MARK)
        && 0 == memcmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK))) {
        p.at += strlen(BYTE_ORDER_MARK);
    }
    line = ini_parse_stream(next_line, &p, on_value, &p);
    if (line > 0 && (!p.failed || (unsigned) line < p.failed_line)) {
        p.failed = false;
        (void) fail_at(&p, (unsigned) line, "a \"name = value\" line or a [section] is needed");
    } else if (0 != line && !p.failed) {
        (void) FAIL(&p, "out of memory");
    }
    (void) finish_rule(&p);
    if (p.failed) {
        oc_rules_default(rules);
        return OC_ERR_INVALID;
    }
    return OC_OK;
}

/* At most size bytes; -1 with errno. Nothing that would wait for a writer is a file. */
static ssize_t read_all(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), failure = 0;
    size_t length = 0;
    struct stat status = {0};
    ssize_t got = 1;

    if (fd < 0) {
        return -1;
    }
    if (0 != fstat(fd, &status) || !S_ISREG(status.st_mode)) {
        failure = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    }
    while (0 == failure && got > 0 && length < size) {
        got = read(fd, text + length, size - length);
        length += got > 0 ? (size_t) got : 0;
        failure = got < 0 && EINTR != errno ? errno : 0;
        got = got < 0 ? 1 : got;
    }
    close(fd);
    errno = failure;
    return 0 == failure ? (ssize_t) length : -1;
}

oc_status_t oc_rules_read(const char *path, oc_rules_t *rules, char *error, size_t error_size)
{
    char *text = malloc(OC_MAX_RULES_FILE + 1);
    oc_status_t status = OC_ERR_INVALID;
    ssize_t length;

    oc_rules_default(rules);
    if (NULL == text) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    length = read_all(path, text, OC_MAX_RULES_FILE + 1);
    if (length < 0) {
        status = ENOENT == errno ? OC_ERR_UNREACHABLE : OC_ERR_INVALID;
        snprintf(error, error_size, "cannot read the rules in \"%s\": %s", path, strerror(errno));
    } else if (length > (ssize_t) OC_MAX_RULES_FILE) {
        snprintf(error, error_size, "the rules in \"%s\" are longer than %u bytes", path,
                 OC_MAX_RULES_FILE);
    } else {
        status = oc_rules_parse(path, text, (size_t) length, rules, error, error_size);
    }
    free(text);
    return status;
}

const char *oc_ruled_name(oc_ruled_t ruled)
{
    return ruled_names[ruled];
}

/* "64 KiB", "65535 bytes" */
static void print_size(uint64_t bytes, char text[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    unsigned unit = 0;

    while (unit < 3 && 0 != bytes && 0 == bytes % 1024) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, 32, "%llu %s", (unsigned long long) bytes, units[unit]);
}

void oc_sizes_print(const oc_sizes_t *sizes, char *buffer, size_t buffer_size)
{
    size_t length = 0;

    snprintf(buffer, buffer_size, "%s", 0 == sizes->count ? "nothing" : "everything");
    if (0 == sizes->count || (sizes->ranges[0].first <= 1 && UINT64_MAX == sizes->ranges[0].last)) {
        return;
    }
    for (uint64_t i = 0; i < sizes->count && length < buffer_size; i++) {
        const oc_range_t *range = &sizes->ranges[i];
        const char *comma = i > 0 ? ", " : "";
        char first[32], last[32];

        print_size(range->first, first);
        print_size(range->last, last);
        length += (size_t) (UINT64_MAX == range->last
                                ? snprintf(buffer + length, buffer_size - length, "%s%s and more",
                                           comma, first)
                                : snprintf(buffer + length, buffer_size - length, "%s%s to %s",
                                           comma, first, last));
    }
}
