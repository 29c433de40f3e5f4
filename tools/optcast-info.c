/* SPDX-License-Identifier: BSD-3-Clause */
/* optcast-info: what this installation is and can do, and whether Open MPI will load it. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/settings.h"
#include "base/settings_text.h"
#include "base/text.h"
#include "multicast/transport/verbs.h"
#include "net/admission.h"
#include "reduction/reduction.h"
#include "tools/info_servers.h"
#include "tools/info_tell.h"
#include "tools/info_values.h"
#include "tools/survey/survey_run.h"
#include "tools/survey/survey_types.h"
#include "ucx_backend/worker.h"

#define COMPONENT_FILE "mca_coll_optcast.so"

/* Components may be of another build than this program: they say what they are for. */
#define BUILT_FOR "optcast-info: built for Open MPI "

/* What is kept of the output of ompi_info, and how long it may take. */
#define OUTPUT_SIZE  (256 * 1024)
#define TIME_LIMIT_S 60

#define EXIT_USAGE 2

typedef struct {
    const char *component;  /* folder or file */
    const char *ompi_info;  /* NULL: the one in PATH */
    const char *servers;    /* NULL: none is asked, and the rest is told */
    bool multicast;         /* the network is tried, and nothing else is told */
    oc_survey_options_t survey;
    const char *survey_only;/* an option that goes with --multicast; NULL: there was none */
} options_t;

extern char **environ;

static void print_survey_help(void)
{
    printf("  --multicast\n      Tries what the network offers for multicast. Runs on several "
           "hosts at once, as with\n      mpirun --map-by ppr:1:node optcast-info --multicast.\n"
           "    --coordinator HOST[:PORT] --token WORD\n      Where there is no launcher with "
           "PMIx: one of these hosts (port %d by TCP), and any\n      word, both the same on all hosts.\n"
           "    --hosts N\n      How many take part (default: as many as the launcher starts). "
           "Without a coordinator\n      this host is it, and says what to run on the others.\n"
           "    --wait SECONDS\n      For all to come (default %d).\n"
           "    --set NAME=VALUE\n      A setting of multicast, such as multicast_interface=eth1; "
           "may come several times.\n", OC_SURVEY_PORT, OC_SURVEY_WAIT);
}

static void print_help(void)
{
    printf("Usage: optcast-info [OPTION]...\n"
           "Tells what this Optcast for MPI is and can do, and whether Open MPI will load it;\n"
           "with --servers or --multicast, what servers or the network offer.\n\n"
           "  --component PATH\n      The component, or its folder, that is to be checked (default "
           "%s).\n"
           "  --ompi-info PATH\n      The ompi_info of the Open MPI that is to load it (default: "
           "the one in PATH).\n"
           "  --parsable\n      Writes optcast:KEY:VALUE, one a line, for programs.\n"
           "  --servers LIST\n      Asks these servers (as in coll_optcast_servers) whether they "
           "would serve a job,\n      measures round trips, and does nothing else.\n",
           OPTCAST_COMPONENTDIR);
    print_survey_help();
    printf("  --help, --version\n\n"
           "Exit status: 0 if the component will load, or all servers would serve; 1 if not; 2 "
           "after a wrong option.\n"
           "With --multicast: 0 if it can be used; 1 if it can, with flaws; 3 if not between all "
           "hosts;\n4 if that could not be found out.\n");
}

/* ---- what it is ---- */

static void print_build(void)
{
    if (oc_info_is_parsable()) {
        oc_info_tell("", "version", "%s", PACKAGE_VERSION);
        oc_info_tell("", "ompi:built", "%s", OPTCAST_OMPI_VERSION);
        oc_info_tell("", "mpich:built", "%s", OPTCAST_MPICH_VERSION);
        oc_info_tell("", "ucx:built", "%s", OPTCAST_UCX_VERSION);
        oc_info_tell("", "ucx:loaded", "%s", oc_ucx_version());
        oc_info_tell("", "hwloc:built", "%s", OPTCAST_HWLOC_VERSION);
        oc_info_tell("", "component:installed", "%s", OPTCAST_COMPONENTDIR);
        return;
    }
    printf("Optcast for MPI %s\n", PACKAGE_VERSION);
    oc_info_title("Build");
    oc_info_say("Open MPI", "built for %s", OPTCAST_OMPI_VERSION);
    if ('\0' != OPTCAST_MPICH_VERSION[0]) {
        oc_info_say("MPICH", "liboptcast-mpich.so, with the headers of %s", OPTCAST_MPICH_VERSION);
    } else {
        oc_info_say("MPICH", "not built for it");
    }
    oc_info_say("UCX", "built with %s, %s is loaded", OPTCAST_UCX_VERSION, oc_ucx_version());
    oc_info_say("hwloc", "built with %s", OPTCAST_HWLOC_VERSION);
    oc_info_say("component", "installed in %s", OPTCAST_COMPONENTDIR);
}

static void print_multicast(void)
{
    size_t datagram_size;
    char text[256];

    oc_info_title("Multicast");
    if (oc_verbs_available("", &datagram_size, text, sizeof(text))) {
        oc_info_tell("verbs", "multicast:verbs", "%s, datagrams of %zu bytes", text,
                     datagram_size);
    } else {
        oc_info_tell("verbs", "multicast:verbs", "not here: %s", text);
    }
    oc_info_say("udp", "wherever the network carries IP multicast");
}

/* Of whoever runs this: ranks of the same user get the same answer. */
static void print_filter(void)
{
    int error = oc_admission_try();

    oc_info_title("Data ports");
    if (0 == error) {
        oc_info_tell("filter", "filter", "on: they admit hosts of the job only");
    } else {
        oc_info_tell("filter", "filter", "off: %s%s", strerror(error), oc_admission_hint(error));
    }
}

static void print_protocol(void)
{
    oc_info_title("Protocol");
    oc_info_tell("versions", "protocol:versions", "%d to %d", OC_PROTOCOL_VERSION_MIN,
                 OC_PROTOCOL_VERSION_MAX);
    oc_info_tell("port", "protocol:port", oc_info_is_parsable() ? "%d"
                                                                : "%d, unless said otherwise",
                 OC_DEFAULT_PORT);
    oc_info_say("limits", "%d ranks in a communicator", OC_MAX_RANKS);
    oc_info_say("", "%d communicators of a job on a server", OC_MAX_GROUPS);
    oc_info_say("", "%d Allreduces of a communicator under way", OC_MAX_IN_FLIGHT);
    oc_info_say("", "%d aggregators of a server, %d of a communicator", OC_MAX_AGGREGATORS,
                OC_MAX_GROUP_AGGREGATORS);
    oc_info_say("", "chunks of %u to %u bytes, %d in flight", OC_MIN_CHUNK, OC_MAX_CHUNK,
                OC_MAX_WINDOW);
    oc_info_say("", "%u bytes in one message", OC_MAX_SMALL);
}

/* The column of an operation in the table is as wide as its name. */
static void print_operations(void)
{
    printf("\nOperations (x: offloaded, -: left to Open MPI)\n  %-14s", "");
    for (unsigned op = 1; op < OC_OP_END; op++) {
        printf(" %s", oc_op_name(op));
    }
    printf("\n");
    for (unsigned type = 1; type < OC_TYPE_END; type++) {
        printf("  %-14s", oc_type_name(type));
        for (unsigned op = 1; op < OC_OP_END; op++) {
            printf(" %*s", (int) strlen(oc_op_name(op)),
                   NULL != oc_reduce_kernel(op, type) ? "x" : "-");
        }
        printf("\n");
    }
}

/* A line for each type, with the names of its operations. */
static void tell_operations(void)
{
    for (unsigned type = 1; type < OC_TYPE_END; type++) {
        char names[256] = "", key[64];

        for (unsigned op = 1; op < OC_OP_END; op++) {
            size_t used = strlen(names);

            if (NULL != oc_reduce_kernel(op, type)) {
                snprintf(names + used, sizeof(names) - used, "%s%s", 0 == used ? "" : ",",
                         oc_op_name(op));
            }
        }
        snprintf(key, sizeof(key), "type:%s:operations", oc_type_name(type));
        oc_info_tell("", key, "%s", names);
    }
}

static void print_reduction(void)
{
    char names[128] = "";

    oc_info_title("Reduction");
    oc_info_tell("in use", "isa:used", "%s", oc_isa_name(oc_reduce_isa()));
    for (int isa = 0; isa < OC_ISA_END; isa++) {
        size_t used = strlen(names);

        if (NULL != oc_reduce_kernel_isa(OC_OP_SUM, OC_TYPE_FLOAT, (oc_isa_t) isa)) {
            snprintf(names + used, sizeof(names) - used, "%s%s", 0 == used ? "" : " ",
                     oc_isa_name((oc_isa_t) isa));
        }
    }
    oc_info_tell("available", "isa:available", "%s", names);
    if (oc_info_is_parsable()) {
        tell_operations();
    } else {
        print_operations();
    }
}

static void print_settings(void)
{
    if (oc_info_is_parsable()) {
        return;
    }
    oc_info_title("Settings of a job");
    oc_settings_print(&oc_job_settings_table, "coll_optcast_", stdout);
    oc_info_title("Settings of optcast-server");
    oc_settings_print(&oc_server_settings_table, "--", stdout);
}

/* ---- running ompi_info ---- */

/* A program of that name in PATH, or NULL. */
static const char *find_in_path(const char *name, char *buffer, size_t size)
{
    const char *path = getenv("PATH");

    while (NULL != path && '\0' != path[0]) {
        size_t length = strcspn(path, ":");

        if (snprintf(buffer, size, "%.*s/%s", (int) length, path, name) < (int) size
            && 0 == access(buffer, X_OK)) {
            return buffer;
        }
        path += length + (':' == path[length]);
    }
    return NULL;
}

static bool is_replaced(const char *variable, const char *const *replacements)
{
    for (; NULL != *replacements; replacements++) {
        size_t length = strcspn(*replacements, "=") + 1;

        if (0 == strncmp(variable, *replacements, length)) {
            return true;
        }
    }
    return false;
}

/* This process's environment but for the replacements; freed by the caller. */
static char **make_environment(const char *const *replacements)
{
    size_t count = 0, used = 0;
    char **result;

    while (NULL != environ[count]) {
        count++;
    }
    for (const char *const *r = replacements; NULL != *r; r++) {
        count++;
    }
    result = calloc(count + 1, sizeof(*result));
    if (NULL == result) {
        return NULL;
    }
    for (char **variable = environ; NULL != *variable; variable++) {
        if (!is_replaced(*variable, replacements)) {
            result[used++] = *variable;
        }
    }
    for (; NULL != *replacements; replacements++) {
        result[used++] = (char *) *replacements;
    }
    return result;
}

static int spawn(char *const argv[], char *const environment[], int output, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);

    if (0 != rc) {
        return rc;
    }
    rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (0 == rc) {
        rc = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    }
    if (0 == rc) {
        rc = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    }
    if (0 == rc) {
        rc = posix_spawn(pid, argv[0], &actions, NULL, argv, environment);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* Everything the program writes, as far as there is room. false: it takes too long. */
static bool read_all(int fd, char *output, size_t size)
{
    uint64_t deadline = oc_clock_ns() + TIME_LIMIT_S * OC_SECOND;
    struct pollfd event = {.fd = fd, .events = POLLIN};
    size_t used = 0;
    char rest[4096];
    ssize_t got = 1;

    while (0 != got) {
        bool room = used < size - 1;
        uint64_t now = oc_clock_ns();

        if (now > deadline || 0 == poll(&event, 1, (int) ((deadline - now) / OC_MILLISECOND))) {
            break;
        }
        got = read(fd, room ? output + used : rest, room ? size - 1 - used : sizeof(rest));
        if (got < 0 && EINTR != errno) {
            break;
        }
        used += room && got > 0 ? (size_t) got : 0;
    }
    output[used] = '\0';
    return 0 == got;
}

/* Output and errors of a program; false with a sentence in output. */
static bool run(char *const argv[], const char *const *replacements, char *output, size_t size)
{
    char **environment = make_environment(replacements);
    int ends[2], status = 0, rc;
    bool complete;
    pid_t pid;

    if (NULL == environment || 0 != pipe2(ends, O_CLOEXEC)) {
        snprintf(output, size, "no memory or no pipe to run %s with", argv[0]);
        free(environment);
        return false;
    }
    rc = spawn(argv, environment, ends[1], &pid);
    close(ends[1]);
    free(environment);
    if (0 != rc) {
        snprintf(output, size, "%s cannot be run: %s", argv[0], strerror(rc));
        close(ends[0]);
        return false;
    }
    complete = read_all(ends[0], output, size);
    close(ends[0]);
    if (!complete) {
        kill(pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && EINTR == errno) {
        continue;
    }
    if (!complete) {
        snprintf(output, size, "%s did not end within %d seconds", argv[0], TIME_LIMIT_S);
    }
    return complete;
}

/* ---- will it load? ---- */

static bool fails(const char *what, const char *advice)
{
    oc_info_tell("result", "component:loads", oc_info_is_parsable() ? "no: %s"
                                                                   : "the component will not load: %s",
                 what);
    oc_info_tell("what to do", "component:advice", "%s", advice);
    return false;
}

/* The component's folder without a final slash; the file may have been given. */
static void component_folder(const char *path, char *folder, size_t size)
{
    size_t length;
    struct stat info;

    snprintf(folder, size, "%s", path);
    if (0 == stat(folder, &info) && !S_ISDIR(info.st_mode) && NULL != strrchr(folder, '/')) {
        *strrchr(folder, '/') = '\0';
    }
    length = strlen(folder);
    while (length > 1 && '/' == folder[length - 1]) {
        folder[--length] = '\0';
    }
}

static bool component_is_there(const char *folder)
{
    char file[PATH_MAX + sizeof(COMPONENT_FILE) + 1], what[PATH_MAX + 128];

    snprintf(file, sizeof(file), "%s/%s", folder, COMPONENT_FILE);
    oc_info_tell("component", "component:file", "%s", file);
    if (0 == access(file, R_OK)) {
        return true;
    }
    snprintf(what, sizeof(what), "%s: %s", file, strerror(errno));
    return fails(what, "\"make install\", or name the folder with --component (in a build tree: "
                 "ompi/mca/coll/optcast/.libs)");
}

/* What the component's file says; this program's own if it says nothing. */
static void component_version(const char *folder, char *version, size_t size)
{
    char file[PATH_MAX + sizeof(COMPONENT_FILE) + 1];
    const char *content, *found = NULL;
    struct stat info = {0};
    int fd;

    snprintf(version, size, "%s", OPTCAST_OMPI_VERSION);
    snprintf(file, sizeof(file), "%s/%s", folder, COMPONENT_FILE);
    fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || 0 != fstat(fd, &info)) {
        info.st_size = 0;
    }
    content = info.st_size > 0 ? mmap(NULL, (size_t) info.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                               : MAP_FAILED;
    if (MAP_FAILED != content) {
        found = memmem(content, (size_t) info.st_size, BUILT_FOR, strlen(BUILT_FOR));
    }
    if (NULL != found) {
        found += strlen(BUILT_FOR);
        snprintf(version, size, "%.*s",
                 (int) strnlen(found, (size_t) (content + info.st_size - found)), found);
    }
    if (MAP_FAILED != content) {
        (void) munmap((void *) content, (size_t) info.st_size);
    }
    if (fd >= 0) {
        close(fd);
    }
}

static const char *find_ompi_info(const options_t *options, char *buffer, size_t size)
{
    const char *path = options->ompi_info;
    char what[PATH_MAX + 128];
    struct stat info;

    if (NULL == path) {
        path = find_in_path("ompi_info", buffer, size);
        if (NULL == path) {
            fails("ompi_info was not found in PATH", "install Open MPI (Debian: openmpi-bin), "
                  "load its module, or name its ompi_info with --ompi-info");
        }
        return path;
    }
    if (0 != stat(path, &info)) {
        snprintf(what, sizeof(what), "%s: %s", path, strerror(errno));
    } else if (!S_ISREG(info.st_mode) || 0 != access(path, X_OK)) {
        snprintf(what, sizeof(what), "%s is not executable", path);
    } else {
        return path;
    }
    fails(what, "name the ompi_info of your Open MPI with --ompi-info");
    return NULL;
}

/* "4.1" of "4.1.4": what two Open MPIs must share to load the same component. */
static size_t series_length(const char *version)
{
    size_t length = strspn(version, "0123456789");

    return '.' == version[length] ? length + 1 + strspn(version + length + 1, "0123456789")
                                  : length;
}

static bool version_fits(char *ompi_info, const char *built, char *output)
{
    static const char begin[] = "Open MPI v";
    static const char *const nothing[] = {NULL};
    char *const argv[] = {ompi_info, "--version", NULL};
    char what[PATH_MAX + 256];
    const char *version;

    if (!run(argv, nothing, output, OUTPUT_SIZE)) {
        return fails(output, "name the ompi_info of your Open MPI with --ompi-info");
    }
    version = strstr(output, begin);
    if (NULL == version) {
        snprintf(what, sizeof(what), "%s does not tell an Open MPI version", ompi_info);
        return fails(what, "name the ompi_info of your Open MPI with --ompi-info");
    }
    version += strlen(begin);
    output[version - output + (ptrdiff_t) strcspn(version, " \t\r\n")] = '\0';
    oc_info_tell("Open MPI", "ompi:found", "%s, %s", version, ompi_info);
    if (series_length(version) != series_length(built)
        || 0 != strncmp(version, built, series_length(built))) {
        snprintf(what, sizeof(what), "it was built for Open MPI %.64s, and this is %.64s",
                 built, version);
        return fails(what, "build Optcast for this Open MPI (./configure --with-ompi=PREFIX), or "
                     "name the other one's ompi_info with --ompi-info");
    }
    if (0 != strcmp(version, built)) {
        oc_info_say("note", "built for %s; another release of the same series usually works",
                    built);
    }
    return true;
}

/* The rest of the line on which Open MPI says why it could not load the component, or NULL. */
static char *load_error(char *output)
{
    static const char name[] = "mca_coll_optcast: ";
    char *reason = strstr(output, name);

    if (NULL == reason) {
        return NULL;
    }
    reason += strlen(name);
    reason[strcspn(reason, "\r\n")] = '\0';
    return reason;
}

/* Open MPI's own opinion. Selections in the environment do not count: this is about loading. */
static bool loads(char *ompi_info, const char *folder, char *output)
{
    static const char prefix[] = "OMPI_MCA_mca_base_component_path=";
    char path[sizeof(prefix) + PATH_MAX + 32], what[1024];
    const char *const replacements[] = {
        path, "OMPI_MCA_mca_base_component_show_load_errors=1", "OMPI_MCA_coll=",
        "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", NULL};
    char *const argv[] = {ompi_info, "--parsable", "--param", "coll", "optcast", "--level", "9",
                          NULL};
    const char *reason;

    snprintf(path, sizeof(path), "%s%s:SYSTEM_DEFAULT", prefix, folder);
    if (!run(argv, replacements, output, OUTPUT_SIZE)) {
        return fails(output, "run it by hand, with mca_base_component_path set as below");
    }
    if (NULL != strstr(output, "mca:coll:optcast:")) {
        return true;
    }
    reason = load_error(output);
    snprintf(what, sizeof(what), "Open MPI does not list it%s%.512s", NULL != reason ? ": " : "",
             NULL != reason ? reason : "");
    return fails(what, "see \"ldd " COMPONENT_FILE "\" for libraries that are missing, and build "
                 "Optcast for this Open MPI");
}

static void print_use(const char *folder)
{
    const char *selection = getenv("OMPI_MCA_coll");

    oc_info_tell("result", "component:loads", oc_info_is_parsable() ? "yes"
                                                                   : "the component loads");
    oc_info_say("use it", "mpirun -x OMPI_MCA_mca_base_component_path=%s:SYSTEM_DEFAULT PROGRAM",
                folder);
    if (NULL != selection && NULL == strstr(selection, "optcast")) {
        oc_info_tell("note", "component:note", "OMPI_MCA_coll=%s is set, and that does not name "
                     "optcast", selection);
    }
}

static bool check(const options_t *options)
{
    static char output[OUTPUT_SIZE];
    char folder[PATH_MAX], found[PATH_MAX], built[64];
    const char *ompi_info;

    oc_info_title("Will it load?");
    component_folder(options->component, folder, sizeof(folder));
    if (!component_is_there(folder)) {
        return false;
    }
    component_version(folder, built, sizeof(built));
    ompi_info = find_ompi_info(options, found, sizeof(found));
    if (NULL == ompi_info || !version_fits((char *) ompi_info, built, output)
        || !loads((char *) ompi_info, folder, output)) {
        return false;
    }
    print_use(folder);
    oc_info_values(output);
    return true;
}

static void print_advice(void)
{
    if (oc_info_is_parsable()) {
        return;
    }
    printf("\nThe default, coll_optcast_servers=embedded, is for trying out: it reduces with "
           "threads of the\njob itself. Faster large Allreduces need servers (optcast-server) on "
           "other hosts; as many\nas the job has hosts are best, and fewer help too.\n");
}

/* A whole number in a range; false, after a complaint, if it is none. */
static bool parse_number(const char *option, const char *text, unsigned min, unsigned max,
                         unsigned *number)
{
    uint64_t value;

    if (OC_OK != oc_parse_size(text, &value) || value < min || value > max) {
        fprintf(stderr, "optcast-info: --%s: \"%s\" is not a number from %u to %u\n", option, text,
                min, max);
        return false;
    }
    *number = (unsigned) value;
    return true;
}

/* --multicast and what goes with it; false, after a complaint, if a value makes no sense. */
static bool parse_survey(int option, const char *name, const char *text, options_t *options)
{
    char error[512];

    if ('m' == option) {
        options->multicast = true;
        return true;
    }
    options->survey_only = name;
    switch (option) {
    case 'C':
        options->survey.coordinator = text;
        return true;
    case 'T':
        options->survey.token = text;
        if ('\0' != text[0] && strlen(text) < OC_SURVEY_TOKEN) {
            return true;
        }
        fprintf(stderr, "optcast-info: --token: \"%s\" does not have 1 to %u characters\n", text,
                OC_SURVEY_TOKEN - 1);
        return false;
    case 'H':
        return parse_number(name, text, 2, OC_SURVEY_HOSTS, &options->survey.hosts);
    case 'W':
        return parse_number(name, text, 1, OC_SURVEY_MOST_WAIT, &options->survey.wait);
    default:
        if (OC_OK == oc_survey_options_set(&options->survey, text, error, sizeof(error))) {
            return true;
        }
        fprintf(stderr, "optcast-info: --%s: %s\n", name, error);
        return false;
    }
}

/* Nothing may be without effect. */
static int check_options(const options_t *options)
{
    if (options->multicast && NULL != options->servers) {
        fprintf(stderr, "optcast-info: --multicast and --servers are two questions: ask one\n");
        return EXIT_USAGE;
    }
    if (NULL != options->survey_only && !options->multicast) {
        fprintf(stderr, "optcast-info: --%s goes with --multicast only\n", options->survey_only);
        return EXIT_USAGE;
    }
    return -1;
}

static const struct option known[] = {
    {"component", required_argument, NULL, 'c'}, {"ompi-info", required_argument, NULL, 'o'},
    {"parsable", no_argument, NULL, 'p'}, {"servers", required_argument, NULL, 's'},
    {"multicast", no_argument, NULL, 'm'}, {"coordinator", required_argument, NULL, 'C'},
    {"token", required_argument, NULL, 'T'}, {"hosts", required_argument, NULL, 'H'},
    {"wait", required_argument, NULL, 'W'}, {"set", required_argument, NULL, 'S'},
    {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'v'}, {0}};

/* -1: go on; otherwise the exit status. */
static int parse_options(int argc, char **argv, options_t *options)
{
    int option, at = 0;

    while (-1 != (option = getopt_long(argc, argv, "", known, &at))) {
        switch (option) {
        case 'c':
            options->component = optarg;
            break;
        case 'o':
            options->ompi_info = optarg;
            break;
        case 'p':
            oc_info_be_parsable();
            break;
        case 's':
            options->servers = optarg;
            break;
        case 'h':
            print_help();
            return EXIT_SUCCESS;
        case 'v':
            printf("optcast-info %s\n", PACKAGE_VERSION);
            return EXIT_SUCCESS;
        case '?':
            fprintf(stderr, "Try 'optcast-info --help'.\n");
            return EXIT_USAGE;
        default:
            if (!parse_survey(option, known[at].name, optarg, options)) {
                return EXIT_USAGE;
            }
        }
    }
    if (optind < argc) {
        fprintf(stderr, "optcast-info: unexpected argument '%s'\nTry 'optcast-info --help'.\n",
                argv[optind]);
        return EXIT_USAGE;
    }
    return check_options(options);
}

int main(int argc, char **argv)
{
    options_t options = {.component = OPTCAST_COMPONENTDIR};
    char error[512] = "";
    /* what the environment has is wrong only for whom it is for */
    oc_status_t usable = oc_survey_options_init(&options.survey, error, sizeof(error));
    int status = parse_options(argc, argv, &options);
    bool good;

    if (status >= 0) {
        return status;
    }
    if (options.multicast && OC_OK != usable) {
        fprintf(stderr, "optcast-info: --multicast: %s\n", error);
        return EXIT_USAGE;
    }
    if (options.multicast) {
        return oc_survey_run(&options.survey);
    }
    if (NULL != options.servers) {
        if (!oc_info_is_parsable()) {
            printf("Would it serve?\n");
        }
        return oc_info_servers(options.servers) ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    print_build();
    print_multicast();
    print_filter();
    print_protocol();
    print_reduction();
    print_settings();
    good = check(&options);
    print_advice();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
