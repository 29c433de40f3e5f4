/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for people: levels, one line each, to a sink that the program chooses. */
#ifndef OC_BASE_LOG_H
#define OC_BASE_LOG_H

typedef enum { OC_LOG_ERROR, OC_LOG_WARN, OC_LOG_INFO, OC_LOG_DEBUG } oc_log_level_t;

/* Takes one line without its newline, and must not wait for its readers. Called from any thread. */
typedef void (*oc_log_sink_t)(oc_log_level_t level, const char *line);

/* Both are set once, before threads are started. The default: warnings and worse to stderr
 * (base/output.h). */
void oc_log_set_sink(oc_log_sink_t sink);
void oc_log_set_level(oc_log_level_t level);

/* Any thread; lines of up to 1023 bytes, the rest is cut. */
void oc_log(oc_log_level_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define oc_error(...) oc_log(OC_LOG_ERROR, __VA_ARGS__)
#define oc_warn(...)  oc_log(OC_LOG_WARN, __VA_ARGS__)
#define oc_info(...)  oc_log(OC_LOG_INFO, __VA_ARGS__)
#define oc_debug(...) oc_log(OC_LOG_DEBUG, __VA_ARGS__)

#endif
