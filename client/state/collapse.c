/* SPDX-License-Identifier: BSD-3-Clause */
/* That all service of a client is given up. */
#include "client/state/collapse.h"

#include <stdarg.h>
#include <stdio.h>

void oc_client_collapse(oc_client_t *client, oc_status_t status, const char *format, ...)
{
    va_list args;

    if (OC_OK != client->collapse) {
        return;
    }
    /* a number from the wire may be anything; only errors are errors */
    client->collapse = status >= OC_OK ? OC_ERR_REFUSED : status;
    va_start(args, format);
    vsnprintf(client->collapse_reason, sizeof(client->collapse_reason), format, args);
    va_end(args);
}
