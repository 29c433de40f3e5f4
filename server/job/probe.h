/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tries once, when a leaf starts, whether its parent can be reached, so that the administrator
 * learns of a mistake before the first job.
 */
#ifndef OC_SERVER_JOB_PROBE_H
#define OC_SERVER_JOB_PROBE_H

#include "base/clock.h"

/*
 * How long a job waits for the parent's address. Clients wait longer by default, and so hear why.
 */
#define OC_NAME_PATIENCE (3 * OC_SECOND)

/*
 * Looks HOST[:PORT] up and connects, however long the name server and the host take; the outcome is
 * logged, also that jobs would not have waited so long for the name. For a process that has nothing
 * else to do.
 */
void oc_probe_run(const char *parent);

#endif
