/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets things happen to RDMA devices that cannot be made to happen to Soft-RoCE: what libibverbs
 * and librdmacm say comes through here, because transport_probe is linked with --wrap. The queue
 * pairs are real, and so is what the transport does then.
 */
#ifndef OC_TESTS_RDMA_INJECT_H
#define OC_TESTS_RDMA_INJECT_H

#include <stdbool.h>

/* What can happen, one word each, for messages. */
extern const char inject_kinds[];

bool inject_knows(const char *kind);

/* Happens now, to what the only transport of this process uses; it is noticed when it looks. */
void inject(const char *kind);

#endif
