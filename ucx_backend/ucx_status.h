/* SPDX-License-Identifier: BSD-3-Clause */
/* What UCX answers, as a status of this project. A pure function, any thread. */
#ifndef OC_UCX_BACKEND_UCX_STATUS_H
#define OC_UCX_BACKEND_UCX_STATUS_H

#include <ucs/type/status.h>

#include "base/status.h"

/* Of errors that mean nothing particular here: OC_ERR_SYSTEM. */
oc_status_t oc_status_from_ucs(ucs_status_t status);

#endif
