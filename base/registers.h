/* SPDX-License-Identifier: BSD-3-Clause */
/* The state in which functions have to leave vector registers. Any thread. */
#ifndef OC_BASE_REGISTERS_H
#define OC_BASE_REGISTERS_H

/*
 * After code of others that may leave upper halves of vector registers in use, as libcrypto 3.0's Poly1305 does: on x86
 * each instruction of SSE has to keep these from then on, and programs that are not compiled for AVX compute many times
 * as slowly, until somebody clears them.
 */
void oc_registers_clean(void);

#endif
