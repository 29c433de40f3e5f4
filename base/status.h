/* SPDX-License-Identifier: BSD-3-Clause */
/* The one status type of all parts below the MPI adapter. */
#ifndef OC_BASE_STATUS_H
#define OC_BASE_STATUS_H

typedef enum {
    OC_OK = 0,
    OC_IN_PROGRESS = 1,        /* not finished, nothing wrong */
    OC_DECLINED = 2,           /* not done, on no rank: somebody else has to do it */
    OC_ERR_NO_MEMORY = -1,
    OC_ERR_INVALID = -2,       /* a setting, an argument or a message that makes no sense */
    OC_ERR_UNREACHABLE = -3,   /* nobody there, or the connection ended */
    OC_ERR_TIMEOUT = -4,       /* somebody there who does not answer */
    OC_ERR_REFUSED = -5,       /* the peer said no; its text says why */
    OC_ERR_VERSION = -6,       /* no protocol version in common */
    OC_ERR_MISMATCH = -7,      /* ranks disagree about what they are doing */
    OC_ERR_TRUNCATED = -8,     /* a message longer than its receive buffer */
    OC_ERR_CANCELED = -9,
    OC_ERR_LIMIT = -10,        /* a documented limit would be passed */
    OC_ERR_SYSTEM = -11,       /* the operating system or a library failed */
} oc_status_t;

/* A short lower-case text; never NULL. Any thread. */
const char *oc_status_string(oc_status_t status);

#endif
