/* SPDX-License-Identifier: BSD-3-Clause */
/* What UCX answers, in words of this project. */
#include "ucx_backend/ucx_status.h"

oc_status_t oc_status_from_ucs(ucs_status_t status)
{
    switch (status) {
    case UCS_OK:
        return OC_OK;
    case UCS_INPROGRESS:
        return OC_IN_PROGRESS;
    case UCS_ERR_NO_MEMORY:
        return OC_ERR_NO_MEMORY;
    case UCS_ERR_CANCELED:
        return OC_ERR_CANCELED;
    case UCS_ERR_MESSAGE_TRUNCATED:
        return OC_ERR_TRUNCATED;
    case UCS_ERR_INVALID_PARAM:
    case UCS_ERR_INVALID_ADDR:
        return OC_ERR_INVALID;
    case UCS_ERR_UNREACHABLE:
    case UCS_ERR_NOT_CONNECTED:
    case UCS_ERR_CONNECTION_RESET:
    case UCS_ERR_ENDPOINT_TIMEOUT:
    case UCS_ERR_REJECTED:
        return OC_ERR_UNREACHABLE;
    default:
        return OC_ERR_SYSTEM;
    }
}
