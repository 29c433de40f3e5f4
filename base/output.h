/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines for people that never wait for them: what nobody makes room for is lost and counted. The
 * descriptors are other programs' too (a terminal, the pipe of a launcher), so nothing about them
 * is changed. Any thread, and no memory of the heap.
 */
#ifndef OC_BASE_OUTPUT_H
#define OC_BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* The longest text: what a pipe takes as a whole or not at all. */
#define OC_OUTPUT_MAX 4096

/*
 * At most OC_OUTPUT_MAX bytes. false: there was no room for all of it; pipes and local sockets have
 * then got nothing, terminals may have got the beginning.
 */
bool oc_output_write(int fd, const char *text, size_t length);

/* Who speaks in the sentence about lost lines; "optcast" unless it is set. Not copied. */
void oc_output_set_name(const char *name);

/* One line to stderr, whose end is put there; what is longer than OC_OUTPUT_MAX is cut. */
void oc_output_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Says how many lines were lost, if any were and there is room now. Each line does so before it;
 * this is for programs that may have nothing more to say.
 */
void oc_output_catch_up(void);

#endif
