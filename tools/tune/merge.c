/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of a file of rules. The parser has accepted it before; what belongs to a section is read
 * by the same parser, so that there is one grammar.
 */
#include "tools/tune/merge.h"

#include <string.h>

#define HEAD \
    "# Rules for mode auto of coll/optcast, see optcast-tune(1): the first that fits decides.\n" \
    "# Used with coll_optcast_rules (with MPICH OPTCAST_RULES) set to the name of this file.\n" \
    "version = 1\n"

typedef struct {
    const char *at, *end;
} text_t;

typedef enum { LINE_BLANK, LINE_COMMENT, LINE_SECTION, LINE_VALUE } line_kind_t;

typedef struct {
    const char *begin, *end;    /* the end is behind the line break, if there is one */
    line_kind_t kind;
} line_t;

/* A section with the comments directly above it, up to the last of its values. */
typedef struct {
    const char *begin, *end;
    bool is_rule;
} section_t;

static line_kind_t kind_of(const line_t *line)
{
    const char *at = line->begin;

    while (at < line->end && NULL != strchr(" \t\r\n", *at) && '\0' != *at) {
        at++;
    }
    if (at == line->end) {
        return LINE_BLANK;
    }
    return '[' == *at ? LINE_SECTION : '#' == *at || ';' == *at ? LINE_COMMENT : LINE_VALUE;
}

static bool next_line(text_t *text, line_t *line)
{
    const char *end;

    if (text->at == text->end) {
        return false;
    }
    end = memchr(text->at, '\n', (size_t) (text->end - text->at));
    *line = (line_t) {.begin = text->at, .end = NULL == end ? text->end : end + 1};
    line->kind = kind_of(line);
    text->at = line->end;
    return true;
}

/* Whether the line opens a rule: all that is accepted but [model]. */
static bool opens_rule(const line_t *line)
{
    static const char word[] = "[model]";
    const char *at = memchr(line->begin, '[', (size_t) (line->end - line->begin));

    return (size_t) (line->end - at) < strlen(word) || 0 != memcmp(at, word, strlen(word));
}

/* The next section; false: there is none. Reads on behind the last line of it. */
static bool next_section(text_t *text, section_t *section)
{
    const char *comments = NULL; /* where those directly above begin */
    bool found = false;
    line_t line;

    while (next_line(text, &line)) {
        if (LINE_SECTION == line.kind && found) {
            break;
        }
        if (LINE_SECTION == line.kind) {
            found = true;
            *section = (section_t) {NULL != comments ? comments : line.begin, line.end,
                                    opens_rule(&line)};
        } else if (LINE_VALUE == line.kind && found) {
            section->end = line.end;
        }
        comments = LINE_COMMENT != line.kind ? NULL : NULL != comments ? comments : line.begin;
    }
    if (found) {
        text->at = section->end;
    }
    return found;
}

static bool is_replaced(const section_t *section, const oc_tune_situation_t *situation)
{
    oc_rules_t rules;
    char error[256];

    return section->is_rule
           && OC_OK == oc_rules_parse("", section->begin,
                                      (size_t) (section->end - section->begin), &rules, error,
                                      sizeof(error))
           && 1 == rules.count && oc_tune_is_for(&rules.rules[0], situation);
}

/* Ends with a line break, if it is not empty; after a gap that is wanted. */
static void copy(FILE *out, bool *gap, const char *begin, const char *end)
{
    if (begin < end) {
        fputs(*gap ? "\n" : "", out);
        *gap = false;
        fwrite(begin, 1, (size_t) (end - begin), out);
        if ('\n' != end[-1]) {
            putc('\n', out);
        }
    }
}

/* Behind blank lines. */
static const char *skip_blank(const char *at, const char *end)
{
    text_t text = {at, end};
    line_t line;

    while (next_line(&text, &line) && LINE_BLANK == line.kind) {
        at = line.end;
    }
    return at;
}

void oc_tune_merge(FILE *out, const char *content, size_t length,
                   const oc_tune_situation_t *situation, const char *rule)
{
    text_t text = {content, content + length};
    const char *done = text.at;
    bool written = false, gap = false;
    section_t section;

    if (0 == length) {
        fprintf(out, HEAD "\n%s", rule);
        return;
    }
    while (next_section(&text, &section)) {
        if (section.is_rule && !written) {
            copy(out, &gap, done, section.begin);
            fputs(rule, out);
            done = section.begin;
            written = gap = true;
        }
        if (is_replaced(&section, situation)) {
            copy(out, &gap, done, section.begin);
            done = skip_blank(section.end, text.end);
        }
    }
    copy(out, &gap, done, text.end);
    if (!written) {
        fprintf(out, "\n%s", rule);
    }
}
