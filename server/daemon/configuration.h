/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's settings from defaults, file and command line, in this order. */
#ifndef OC_SERVER_DAEMON_CONFIGURATION_H
#define OC_SERVER_DAEMON_CONFIGURATION_H

#include "base/settings.h"

/*
 * Options are --NAME VALUE or --NAME=VALUE of oc_server_settings_table, and --config FILE.
 * Texts in settings live as long as argv, those from a file for ever. On failure error says
 * which value, why and where it stands.
 */
oc_status_t oc_configuration_read(int argc, char **argv, oc_server_settings_t *settings,
                                  char *error, size_t error_size);

#endif
