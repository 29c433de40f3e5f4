/* SPDX-License-Identifier: BSD-3-Clause */
/* What test programs need of the CUDA driver, or of what stands in for it. */
#ifndef TESTS_MPI_CUDA_H
#define TESTS_MPI_CUDA_H

#include <stddef.h>
#include <stdint.h>

/* The driver's. */
int cuMemAlloc_v2(uint64_t *address, size_t length);
int cuMemFree_v2(uint64_t address);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t length);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t length);

/* The stand-in's own. What is under way: copies and events. */
unsigned long standin_copies(void);
unsigned long standin_leftovers(void);
/* How often the primary context was. */
unsigned long standin_retained(void);
/* The copy that comes after so many fails, and all that follow; negative: none does. */
void standin_fail_after(long copies);
/* So many events cannot be recorded. */
void standin_fail_records(unsigned count);
/* Another context is where that of the program was; nobody may use what belonged to that one. */
void standin_renew_context(void);

#endif
