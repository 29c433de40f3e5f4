/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc says of a process: its threads, its child, its memory. */
#ifndef OC_TESTS_ENGINE_PROCESS_H
#define OC_TESTS_ENGINE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Sanitizers need more memory, and keep what was freed. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEASURES_MEMORY false
#else
#define MEASURES_MEMORY true
#endif

/* The first that its first thread made, or -1. */
pid_t child_of(pid_t pid);

/* The one that it made last. */
pid_t last_child_of(pid_t pid);

/* The thread of that name, or -1. */
pid_t thread_of(pid_t pid, const char *name);

/* In KiB, "VmRSS" for what is resident, "VmHWM" for the most that ever was; 0: it is gone. */
unsigned long long memory_kib_of(pid_t pid, const char *field);

#endif
