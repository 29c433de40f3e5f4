/* SPDX-License-Identifier: BSD-3-Clause */
/* proc_pid_cgroup(5), proc_pid_mountinfo(5), and Control Group v2 of the kernel's documentation. */
#include "server/daemon/cgroup_text.h"

#include <stdlib.h>
#include <string.h>

/* Words of a line of mountinfo before the optional ones. */
#define MOUNT_WORDS 6

#define MOUNT_ROOT  3
#define MOUNT_POINT 4

static bool cgroup_text_copy(char *to, size_t size, const char *from)
{
    size_t length = strlen(from);

    if (length >= size) {
        return false;
    }
    memcpy(to, from, length + 1);
    return true;
}

/* Of a cgroup that is not below the root of this process's namespace. */
static bool leads_out(const char *path)
{
    return 0 == strcmp(path, "/..") || 0 == strncmp(path, "/../", 4);
}

bool oc_cgroup_read_path(FILE *file, char *path, size_t size)
{
    char *line = NULL;
    size_t line_size = 0;
    bool found = false;

    while (!found && getline(&line, &line_size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (0 == strncmp(line, "0::/", 4)) {
            found = !leads_out(line + 3) && cgroup_text_copy(path, size, line + 3);
            break;
        }
    }
    free(line);
    return found;
}

static bool is_octal(const char *text)
{
    return text[0] >= '0' && text[0] <= '3' && text[1] >= '0' && text[1] <= '7' && text[2] >= '0'
           && text[2] <= '7';
}

/* Blanks and backslashes are written as \ooo. */
static void unescape(char *text)
{
    char *to = text;

    while ('\0' != *text) {
        if ('\\' == text[0] && is_octal(text + 1)) {
            *to++ = (char) ((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
            text += 4;
        } else {
            *to++ = *text++;
        }
    }
    *to = '\0';
}

/* root: what of the hierarchy is mounted. NULL: this path is not in it. */
static const char *below(const char *root, const char *path)
{
    size_t length = 0 == strcmp(root, "/") ? 0 : strlen(root);

    if (0 != strncmp(root, path, length) || ('/' != path[length] && '\0' != path[length])) {
        return NULL;
    }
    return path + length;
}

static bool folder_of(char *line, const char *path, char *folder, size_t size)
{
    char *words[MOUNT_WORDS], *rest, *state = NULL;
    const char *part;
    int written;

    rest = strstr(line, " - ");
    if (NULL == rest || 0 != strncmp(rest + 3, "cgroup2 ", 8)) {
        return false;
    }
    *rest = '\0';
    for (unsigned i = 0; i < MOUNT_WORDS; i++) {
        words[i] = strtok_r(0 == i ? line : NULL, " ", &state);
        if (NULL == words[i]) {
            return false;
        }
    }
    unescape(words[MOUNT_ROOT]);
    unescape(words[MOUNT_POINT]);
    part = below(words[MOUNT_ROOT], path);
    if (NULL == part) {
        return false;
    }
    written = snprintf(folder, size, "%s%s", words[MOUNT_POINT], part);
    if (written < 0 || (size_t) written >= size) {
        return false;
    }
    /* of the root itself */
    if (written > 1 && '/' == folder[written - 1]) {
        folder[written - 1] = '\0';
    }
    return true;
}

bool oc_cgroup_read_folder(FILE *mountinfo, const char *path, char *folder, size_t size)
{
    char *line = NULL;
    size_t line_size = 0;
    bool found = false;

    while (!found && getline(&line, &line_size, mountinfo) > 0) {
        found = folder_of(line, path, folder, size);
    }
    free(line);
    return found;
}

bool oc_cgroup_has_word(const char *list, const char *word)
{
    static const char blanks[] = " \t\n";
    size_t length = strlen(word), here;

    for (list += strspn(list, blanks); '\0' != *list; list += strspn(list, blanks)) {
        here = strcspn(list, blanks);
        if (here == length && 0 == strncmp(list, word, length)) {
            return true;
        }
        list += here;
    }
    return false;
}

/* Digits to the end of the line, and not more of them than fit. */
static bool cgroup_text_parse_number(const char *text, uint64_t *number)
{
    uint64_t value = 0;
    size_t digits = strspn(text, "0123456789");

    if (0 == digits || ('\n' != text[digits] && '\0' != text[digits])) {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        if (__builtin_mul_overflow(value, 10, &value)
            || __builtin_add_overflow(value, (uint64_t) (text[i] - '0'), &value)) {
            return false;
        }
    }
    *number = value;
    return true;
}

bool oc_cgroup_number(const char *lines, const char *name, uint64_t *number)
{
    size_t length = strlen(name);

    while (NULL != lines && '\0' != *lines) {
        if (0 == strncmp(lines, name, length) && ' ' == lines[length]) {
            return cgroup_text_parse_number(lines + length + 1, number);
        }
        lines = strchr(lines, '\n');
        lines += NULL != lines;
    }
    return false;
}
