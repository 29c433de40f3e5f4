/* SPDX-License-Identifier: BSD-3-Clause */
/* optcast-server: options, then the supervisor. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/output.h"
#include "base/settings_text.h"
#include "server/daemon/configuration.h"
#include "server/daemon/data_process.h"
#include "server/daemon/spawn.h"
#include "server/daemon/supervisor.h"

static void daemon_log_to_stderr(oc_log_level_t level, const char *line)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};

    oc_output_line("optcast-server: %s: %s", names[level], line);
}

static void print_help(void)
{
    printf(
        "Usage: optcast-server [OPTION]...\n"
        "Aggregation server of Optcast for MPI: reduces the vectors of offloaded Allreduces.\n\n");
    oc_settings_print(&oc_server_settings_table, "--", stdout);
    printf(
        "  --config FILE\n      File of \"name = value\" lines with the settings above; options on the "
        "command line\n      win over it.\n"
        "  --help, --version\n\n"
        "OPTCAST_UCX_* in the environment are the UCX settings of the server.\n"
        "SIGTERM: no new jobs; ends when the running ones have, or after drain-timeout.\n");
}

static int parse_options(int argc, char **argv, oc_server_settings_t *settings)
{
    char error[512];

    if (OC_OK != oc_configuration_read(argc, argv, settings, error, sizeof(error))) {
        fprintf(stderr, "optcast-server: %s\nTry 'optcast-server --help'.\n", error);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    oc_server_settings_t settings;

    oc_output_set_name("optcast-server: warning");
    oc_log_set_sink(daemon_log_to_stderr);
    if (oc_is_spawned(argc, argv)) {
        return oc_data_process_run();
    }
    for (int i = 1; i < argc; i++) {
        if (0 == strcmp(argv[i], "--help")) {
            print_help();
            return EXIT_SUCCESS;
        }
        if (0 == strcmp(argv[i], "--version")) {
            printf("optcast-server %s\n", PACKAGE_VERSION);
            return EXIT_SUCCESS;
        }
    }
    if (EXIT_SUCCESS != parse_options(argc, argv, &settings)) {
        return EXIT_FAILURE;
    }
    oc_log_set_level((oc_log_level_t) settings.log_level);
    return oc_supervisor_run(&settings);
}
