/* SPDX-License-Identifier: BSD-3-Clause */
/* What is settled is done: collectives end, or go on in the new epoch. Under the lock of the client. */
#ifndef OC_CLIENT_RECOVERY_RESUMING_H
#define OC_CLIENT_RECOVERY_RESUMING_H

#include "client/state/types.h"

/* Of a group whose renewal is settled. */
void oc_resume(oc_group_t *group);

#endif
