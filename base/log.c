/* SPDX-License-Identifier: BSD-3-Clause */
/* Level filter and formatting of log lines. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/output.h"

static const char *const level_names[] = {"error", "warn", "info", "debug"};

static void sink_stderr(oc_log_level_t level, const char *line)
{
    oc_output_line("optcast: %s: %s", level_names[level], line);
}

static oc_log_sink_t log_sink = sink_stderr;
static oc_log_level_t log_level = OC_LOG_WARN;

void oc_log_set_sink(oc_log_sink_t sink)
{
    log_sink = sink;
}

void oc_log_set_level(oc_log_level_t level)
{
    log_level = level;
}

void oc_log(oc_log_level_t level, const char *format, ...)
{
    char line[1024];
    va_list args;

    if (level > log_level) {
        return;
    }
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    log_sink(level, line);
}
