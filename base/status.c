/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of the status codes. */
#include "base/status.h"

const char *oc_status_string(oc_status_t status)
{
    switch (status) {
    case OC_OK:
        return "success";
    case OC_IN_PROGRESS:
        return "in progress";
    case OC_DECLINED:
        return "declined";
    case OC_ERR_NO_MEMORY:
        return "out of memory";
    case OC_ERR_INVALID:
        return "invalid value";
    case OC_ERR_UNREACHABLE:
        return "unreachable";
    case OC_ERR_TIMEOUT:
        return "timed out";
    case OC_ERR_REFUSED:
        return "refused";
    case OC_ERR_VERSION:
        return "no common protocol version";
    case OC_ERR_MISMATCH:
        return "ranks disagree";
    case OC_ERR_TRUNCATED:
        return "message too long";
    case OC_ERR_CANCELED:
        return "canceled";
    case OC_ERR_LIMIT:
        return "limit reached";
    case OC_ERR_SYSTEM:
        return "system error";
    }
    return "unknown status";
}
