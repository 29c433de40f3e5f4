/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes, shared memory, and scalar reference results of the engine's tests. */
#include "tests/engine/harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define MAX_OPTIONS 16

/* Times what a rank takes at most: machines are shared, and this is only to end what hangs. */
#define PATIENCE 4

/* ---- servers ---- */

static void __attribute__((noreturn)) give_up(const char *what)
{
    fprintf(stderr, "harness: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static const char *server_path(void)
{
    const char *path = getenv("OPTCAST_SERVER");

    if (NULL != path) {
        return path;
    }
    /* make check runs in the build folder */
    return "./optcast-server";
}

static void __attribute__((noreturn)) become_server(const char *listen,
                                                    const char *const *options, int output)
{
    const char *argv[MAX_OPTIONS + 4] = {"optcast-server", "--listen", listen};
    int count = 3;

    while (NULL != options && NULL != *options && count < MAX_OPTIONS) {
        argv[count++] = *options++;
    }
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execv(server_path(), (char **) argv);
    fprintf(stderr, "%s: %s\n", server_path(), strerror(errno));
    _exit(127);
}

/* One line of the server's output; false at the end or after timeout_ms. */
static bool read_line(int fd, char *line, size_t size, int timeout_ms)
{
    struct pollfd event = {.fd = fd, .events = POLLIN};
    size_t length = 0;

    while (length + 1 < size && poll(&event, 1, timeout_ms) > 0) {
        if (1 != read(fd, line + length, 1)) {
            break;
        }
        if ('\n' == line[length]) {
            line[length] = '\0';
            return true;
        }
        length++;
    }
    line[length] = '\0';
    return false;
}

void server_start(test_server_t *server, const char *const *options)
{
    server_start_at(server, "127.0.0.1:0", options);
}

void server_start_at(test_server_t *server, const char *listen, const char *const *options)
{
    static const char prefix[] = "optcast-server: ready on ";
    char line[512];
    int output[2];

    if (0 != pipe2(output, O_CLOEXEC)) {
        give_up("pipe");
    }
    fflush(NULL);
    server->pid = fork();
    if (server->pid < 0) {
        give_up("fork");
    }
    if (0 == server->pid) {
        become_server(listen, options, output[1]);
    }
    close(output[1]);
    server->output = output[0];
    /* a log that nobody reads must not stop the server */
    (void) fcntl(server->output, F_SETPIPE_SZ, 1 << 20);
    if (!read_line(server->output, line, sizeof(line), 10000)
        || 0 != strncmp(line, prefix, sizeof(prefix) - 1)) {
        fprintf(stderr, "harness: the server said \"%s\"\n", line);
        (void) kill(server->pid, SIGKILL);
        exit(EXIT_FAILURE);
    }
    snprintf(server->address, sizeof(server->address), "%.63s", line + sizeof(prefix) - 1);
    server->port = (uint16_t) atoi(strrchr(server->address, ':') + 1);
}

static bool reap(pid_t pid, int *status, uint64_t patience)
{
    uint64_t end = oc_clock_ns() + patience;

    while (oc_clock_ns() < end) {
        if (pid == waitpid(pid, status, WNOHANG)) {
            return true;
        }
        usleep(2000);
    }
    return false;
}

static bool is_stopped(pid_t pid)
{
    char path[40], state = '?';
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
    file = fopen(path, "r");
    if (NULL != file) {
        (void) !fscanf(file, "%*d (%*[^)]) %c", &state);
        fclose(file);
    }
    return 'T' == state;
}

int server_stop(test_server_t *server)
{
    int status = -1;

    if (server->pid <= 0) {
        return -1;
    }
    /* LeakSanitizer stops a server that ends, and waits for ever if SIGCONT comes in between */
    if (is_stopped(server->pid)) {
        (void) kill(server->pid, SIGCONT);
    }
    (void) kill(server->pid, SIGTERM);
    if (!reap(server->pid, &status, 5 * OC_SECOND)) {
        (void) kill(server->pid, SIGKILL);
        (void) waitpid(server->pid, &status, 0);
        status = -1;
    }
    server->pid = -1;
    close(server->output);
    return status;
}

void server_kill(test_server_t *server)
{
    int status;

    if (server->pid <= 0) {
        return;
    }
    (void) kill(server->pid, SIGKILL);
    (void) waitpid(server->pid, &status, 0);
    server->pid = -1;
    close(server->output);
}

/* Below those that the system chooses. */
#define FIRST_PORT 10000
#define NUM_PORTS  20000

uint16_t free_port(void)
{
    static unsigned next;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    for (unsigned tries = 0; tries < NUM_PORTS; tries++) {
        unsigned port = FIRST_PORT + ((unsigned) getpid() * 8 + next++) % NUM_PORTS;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool is_free;

        address.sin_port = htons((uint16_t) port);
        is_free = fd >= 0 && 0 == bind(fd, (struct sockaddr *) &address, sizeof(address));
        close(fd);
        if (is_free) {
            return (uint16_t) port;
        }
    }
    give_up("no port is free");
}

pid_t server_data_process(const test_server_t *server)
{
    uint64_t end = oc_clock_ns() + 5 * OC_SECOND;
    pid_t pid;

    while (oc_clock_ns() < end) {
        pid = child_of(server->pid);
        if (pid > 0) {
            return pid;
        }
        usleep(2000);
    }
    return -1;
}

bool server_line(test_server_t *server, char *line, size_t size, int timeout_ms)
{
    return read_line(server->output, line, size, timeout_ms);
}

bool server_said(test_server_t *server, const char *text, int timeout_ms)
{
    char line[2048];

    while (read_line(server->output, line, sizeof(line), timeout_ms)) {
        if (NULL != strstr(line, text)) {
            return true;
        }
    }
    return false;
}

/* ---- what the ranks agree by ---- */

void board_give(board_t *board, uint32_t rank, int step, bool is_record, const oc_exchange_t *exchange)
{
    if (is_record) {
        memcpy(board->records[rank], exchange->record, exchange->size);
        memcpy(board->contacts[rank], exchange->contact, exchange->contact_size);
    } else {
        memcpy(board->votes[step][rank], exchange->vote, sizeof(board->votes[0][0]));
    }
    atomic_store(&board->given[step][rank], 1);
}

void board_take_contacts(const board_t *board, const oc_exchange_t *exchange)
{
    for (unsigned i = 0; i < *exchange->num_neighbours; i++) {
        memcpy((uint8_t *) exchange->contacts + i * exchange->contact_size,
               board->contacts[exchange->neighbours[i]], exchange->contact_size);
    }
}

void board_take(const board_t *board, uint32_t num_ranks, int step, bool is_record, const oc_exchange_t *exchange)
{
    memcpy(exchange->outcome, exchange->vote, sizeof(board->votes[0][0]));
    for (uint32_t i = 0; i < num_ranks; i++) {
        if (is_record) {
            memcpy((uint8_t *) exchange->records + i * exchange->size, board->records[i],
                   exchange->size);
        } else {
            oc_vote_take(exchange->outcome, board->votes[step][i]);
        }
    }
}

static oc_status_t meeting_job(void *context, oc_job_t *job)
{
    *job = ((meeting_t *) context)->rank->job;
    return OC_OK;
}

static oc_status_t meeting_begin(void *context, const oc_exchange_t *exchange)
{
    meeting_t *meeting = context;

    meeting->exchange = *exchange;
    meeting->step = -1;
    return exchange->size <= MAX_RECORD_SIZE ? OC_OK : OC_ERR_LIMIT;
}

static oc_status_t meeting_start(void *context, oc_exchange_step_t step)
{
    meeting_t *meeting = context;

    if (OC_EXCHANGE_CONTACTS == step) {
        board_take_contacts(meeting->board, &meeting->exchange);
        return OC_OK;
    }
    meeting->step++;
    meeting->is_record = OC_EXCHANGE_RECORDS == step;
    board_give(meeting->board, meeting->rank->rank, meeting->step, meeting->is_record, &meeting->exchange);
    return OC_OK;
}

static oc_status_t meeting_test(void *context)
{
    meeting_t *meeting = context;

    if (0 != atomic_load(&meeting->board->hold)) {
        return OC_IN_PROGRESS;
    }
    for (uint32_t i = 0; i < meeting->rank->num_ranks; i++) {
        if (0 == atomic_load(&meeting->board->given[meeting->step][i])) {
            return OC_IN_PROGRESS;
        }
    }
    board_take(meeting->board, meeting->rank->num_ranks, meeting->step, meeting->is_record, &meeting->exchange);
    return OC_OK;
}

static void meeting_end(void *context)
{
    ((meeting_t *) context)->step = -1;
}

static const oc_bootstrap_t bootstrap = {.job = meeting_job, .begin = meeting_begin,
                                         .start = meeting_start, .test = meeting_test,
                                         .end = meeting_end};

/* ---- ranks ---- */

void rank_failed(const rank_t *rank, const char *file, int line, const char *what)
{
    const char *base = strrchr(file, '/');

    fprintf(stderr, "rank %u: %s:%d: %s is not so\n", rank->rank, NULL != base ? base + 1 : file,
            line, what);
    for (int i = 0; i < MAX_TEST_GROUPS; i++) {
        if (NULL != rank->groups[i]) {
            fprintf(stderr, "rank %u: group %d: state %d, reason \"%s\"\n", rank->rank, i,
                    (int) oc_group_state(rank->groups[i]), oc_group_reason(rank->groups[i]));
        }
    }
    _exit(EXIT_FAILURE);
}

static void meet(rank_t *rank, bool progress)
{
    shared_t *shared = rank->shared;
    unsigned generation = atomic_load(&shared->generation);
    uint64_t end = oc_clock_ns() + PATIENCE * 20 * OC_SECOND;

    if (atomic_fetch_add(&shared->arrived, 1) + 1 == rank->num_ranks) {
        atomic_store(&shared->arrived, 0);
        atomic_fetch_add(&shared->generation, 1);
        return;
    }
    while (generation == atomic_load(&shared->generation)) {
        CHECK(oc_clock_ns() < end);
        if (progress) {
            (void) oc_client_progress(rank->client);
        }
        usleep(200);
    }
}

void rank_barrier(rank_t *rank)
{
    meet(rank, true);
}

void rank_compute(rank_t *rank)
{
    meet(rank, false);
}

void rank_linger(rank_t *rank, unsigned ms)
{
    uint64_t end = oc_clock_ns() + ms * OC_MILLISECOND;

    while (oc_clock_ns() < end) {
        (void) oc_client_progress(rank->client);
        usleep(100);
    }
}

void rank_settle(rank_t *rank)
{
    uint64_t end = oc_clock_ns() + PATIENCE * 20 * OC_SECOND;

    while (oc_client_pending(rank->client) > 0) {
        CHECK(oc_clock_ns() < end);
        if (0 == oc_client_progress(rank->client)) {
            oc_client_wait(rank->client, 500);
        }
    }
}

static void find_host(const rank_t *rank, oc_group_params_t *params)
{
    params->node = rank->hosts[rank->rank];
    params->lowest_on_host = true;
    params->max_hosts = rank->num_ranks;
    for (uint32_t i = 0; i < rank->num_ranks; i++) {
        if (i != rank->rank && rank->hosts[i] == rank->hosts[rank->rank]) {
            params->shares_host = true;
            params->lowest_on_host = params->lowest_on_host && i > rank->rank;
        }
    }
}

oc_group_t *rank_group(rank_t *rank, unsigned index)
{
    meeting_t *meeting = &rank->meetings[index];
    uint32_t per_host = rank->per_host > 0 ? rank->per_host : rank->num_ranks;
    char name[32];
    oc_group_params_t params = {.num_ranks = rank->num_ranks, .rank = rank->rank, .name = name,
                                .lowest_on_host = 0 == rank->rank % per_host,
                                .max_hosts = rank->num_ranks - per_host + 1,
                                .bootstrap = &bootstrap, .context = meeting,
                                .service = rank->service, .patient = rank->patient,
                                .rules = rank->rules, .least = {rank->least},
                                .only_type = OC_TYPE_UINT8, .only_bytes = rank->only};

    if (NULL != rank->hosts) {
        find_host(rank, &params);
    }
    if (NULL == rank->groups[index]) {
        snprintf(name, sizeof(name), "group %u", index);
        meeting->rank = rank;
        meeting->board = &rank->shared->boards[index];
        CHECK(OC_OK == oc_group_create(rank->client, &params, &rank->groups[index]));
    }
    return rank->groups[index];
}

void rank_on_finished(void *arg, oc_status_t status)
{
    outcome_t *outcome = arg;

    if (outcome->done) {
        fprintf(stderr, "finished was called twice\n");
        _exit(EXIT_FAILURE);
    }
    outcome->status = status;
    outcome->done = true;
}

void rank_renew_group(rank_t *rank, unsigned index)
{
    board_t *board = &rank->shared->boards[index];

    oc_group_destroy(rank->groups[index]);
    rank->groups[index] = NULL;
    rank_barrier(rank);
    if (0 == rank->rank) {
        memset(board, 0, sizeof(*board));
    }
    rank_barrier(rank);
}

oc_status_t rank_start(rank_t *rank, unsigned group, unsigned op, unsigned type, const void *send,
                       void *recv, size_t count, outcome_t *outcome)
{
    oc_allreduce_args_t args = {.send = send, .recv = recv, .count = count, .op = op,
                                .type = type, .finished = rank_on_finished, .arg = outcome};
    oc_status_t status;

    *outcome = (outcome_t) {0};
    status = oc_allreduce_start(rank_group(rank, group), &args);
    if (OC_OK != status) {
        *outcome = (outcome_t) {.done = true, .status = status};
    }
    return status;
}

bool rank_wait(rank_t *rank, const outcome_t *outcomes, unsigned num, unsigned seconds)
{
    uint64_t end = oc_clock_ns() + PATIENCE * seconds * OC_SECOND;
    unsigned idle = 0, at = 0;

    while (at < num) {
        if (outcomes[at].done) {
            at++;
        } else if (oc_client_progress(rank->client) > 0) {
            idle = 0;
        } else if (oc_clock_ns() > end) {
            return false;
        } else if (++idle > 20) {
            oc_client_wait(rank->client, 500);
        }
    }
    return true;
}

oc_status_t rank_allreduce(rank_t *rank, unsigned group, unsigned op, unsigned type,
                           const void *send, void *recv, size_t count)
{
    outcome_t outcome;

    (void) rank_start(rank, group, op, type, send, recv, count, &outcome);
    CHECK(rank_wait(rank, &outcome, 1, 12));
    atomic_fetch_add(&rank->shared->operations, 1);
    return outcome.status;
}

void rank_set_up_groups(rank_t *rank, unsigned groups)
{
    static outcome_t outcomes[MAX_TEST_GROUPS];
    float one = 1, sums[MAX_TEST_GROUPS];

    for (unsigned group = 0; group < groups; group++) {
        CHECK(OC_OK == rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sums[group], 1,
                                  &outcomes[group]));
    }
    CHECK(rank_wait(rank, outcomes, groups, 40));
    for (unsigned group = 0; group < groups; group++) {
        CHECK(OC_OK == outcomes[group].status && (float) rank->num_ranks == sums[group]);
    }
    rank_barrier(rank);
}

void rank_expect_declined(rank_t *rank, unsigned group, const char *reason)
{
    float one = 1, sum = 0;

    CHECK(OC_DECLINED == rank_allreduce(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK(OC_GROUP_DECLINED == oc_group_state(rank->groups[group]));
    CHECK(!oc_group_tells(rank->groups[group])
          || NULL != strstr(oc_group_reason(rank->groups[group]), reason));
}

/* cmocka's handlers would go on with the next test, in each rank: these were there before. */
static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};

#define NUM_DEADLY (sizeof(deadly) / sizeof(deadly[0]))

static struct sigaction original[NUM_DEADLY];

static void __attribute__((constructor)) keep_handlers(void)
{
    for (size_t i = 0; i < NUM_DEADLY; i++) {
        (void) sigaction(deadly[i], NULL, &original[i]);
    }
}

static void __attribute__((noreturn)) become_rank(ranks_t *ranks, uint32_t number,
                                                  const oc_job_settings_t *settings,
                                                  void (*body)(rank_t *rank), unsigned seconds)
{
    static rank_t self;
    rank_t *rank = &self;
    oc_client_config_t config = {.settings = &self.settings, .counters = &self.counters,
                                 .process = number};

    for (size_t i = 0; i < NUM_DEADLY; i++) {
        (void) sigaction(deadly[i], &original[i], NULL);
    }
    alarm(PATIENCE * seconds);
    self = (rank_t) {.rank = number, .num_ranks = ranks->num_ranks, .shared = ranks->shared,
                     .settings = *settings, .job = ranks->shared->job};
    CHECK(OC_OK == oc_client_create(&config, &self.client));
    body(rank);
    rank_barrier(rank);
    for (int i = 0; i < MAX_TEST_GROUPS; i++) {
        oc_group_destroy(self.groups[i]);
    }
    oc_client_destroy(self.client);
    exit(EXIT_SUCCESS);
}

void fill_random(void *bytes, size_t length)
{
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

    if (fd < 0 || (ssize_t) length != read(fd, bytes, length)) {
        give_up("/dev/urandom");
    }
    close(fd);
}

void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (MAP_FAILED == memory) {
        give_up("mmap");
    }
    return memory;
}

void ranks_start(ranks_t *ranks, uint32_t num_ranks, const oc_job_settings_t *settings,
                 void (*body)(rank_t *rank), unsigned seconds)
{
    ranks->num_ranks = num_ranks;
    ranks->shared = shared_memory(sizeof(shared_t));
    fill_random(&ranks->shared->job, sizeof(ranks->shared->job));
    fflush(NULL);
    for (uint32_t i = 0; i < num_ranks; i++) {
        ranks->pids[i] = fork();
        if (ranks->pids[i] < 0) {
            give_up("fork");
        }
        if (0 == ranks->pids[i]) {
            become_rank(ranks, i, settings, body, seconds);
        }
    }
}

unsigned ranks_wait(ranks_t *ranks)
{
    unsigned failed = 0;
    int status;

    /* each has an alarm of its own */
    for (uint32_t i = 0; i < ranks->num_ranks; i++) {
        if (ranks->pids[i] != waitpid(ranks->pids[i], &status, 0) || 0 != status) {
            fprintf(stderr, "rank %u ended with status 0x%x%s\n", i, status,
                    WIFSIGNALED(status) && SIGALRM == WTERMSIG(status) ? ": it hung" : "");
            failed++;
        }
    }
    munmap(ranks->shared, sizeof(shared_t));
    return failed;
}

bool ranks_reach(ranks_t *ranks, unsigned operations)
{
    uint64_t end = oc_clock_ns() + 30 * OC_SECOND;

    while (atomic_load(&ranks->shared->operations) < operations) {
        if (oc_clock_ns() > end) {
            return false;
        }
        usleep(1000);
    }
    return true;
}

unsigned ranks_run(uint32_t num_ranks, const oc_job_settings_t *settings,
                   void (*body)(rank_t *rank), unsigned seconds)
{
    ranks_t ranks;

    ranks_start(&ranks, num_ranks, settings, body, seconds);
    return ranks_wait(&ranks);
}

bool ranks_succeed(test_server_t *server, uint32_t num_ranks, const oc_job_settings_t *settings,
                   void (*body)(rank_t *rank), unsigned seconds)
{
    unsigned failed = ranks_run(num_ranks, settings, body, seconds);
    int status = server_stop(server);

    if (0 != status) {
        fprintf(stderr, "the server ended with status 0x%x\n", (unsigned) status);
    }
    return 0 == failed && 0 == status;
}

/* ---- vectors ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x7fb5d329728ea185ull;
    x = (x ^ x >> 27) * 0x81dadef4bc2dd44dull;
    return x ^ x >> 33;
}

/* Values whose sums and products round, so that the order of the operations shows. */
static void put_value(void *vector, unsigned type, size_t i, uint64_t bits)
{
    double fraction = 0.5 + (double) (bits >> 12) / (double) (1ull << 52);

    switch (type) {
    case OC_TYPE_FLOAT:
        ((float *) vector)[i] = (float) (bits & 1 ? fraction : -1e4 * fraction);
        break;
    case OC_TYPE_DOUBLE:
        ((double *) vector)[i] = bits & 1 ? fraction : -1e8 * fraction;
        break;
    default:
        memcpy((uint8_t *) vector + i * oc_type_size(type), &bits, oc_type_size(type));
    }
}

void fill_contribution(void *vector, unsigned type, size_t count, uint32_t number, unsigned seed)
{
    uint64_t start = mix(((uint64_t) seed << 32 | number) + 1);

    for (size_t i = 0; i < count; i++) {
        put_value(vector, type, i, mix(start + i));
    }
}

#define FOLD(kind, expression) \
    do { \
        kind *a = to; \
        const kind *b = from; \
        for (size_t i = 0; i < count; i++) { \
            a[i] = (kind) (expression); \
        } \
    } while (0)

static void fold(void *to, const void *from, unsigned op, unsigned type, size_t count)
{
    if (OC_OP_SUM == op && OC_TYPE_FLOAT == type) {
        FOLD(float, a[i] + b[i]);
    } else if (OC_OP_SUM == op && OC_TYPE_DOUBLE == type) {
        FOLD(double, a[i] + b[i]);
    } else if (OC_OP_PROD == op && OC_TYPE_DOUBLE == type) {
        FOLD(double, a[i] * b[i]);
    } else if (OC_OP_SUM == op && OC_TYPE_INT32 == type) {
        FOLD(int32_t, (uint32_t) a[i] + (uint32_t) b[i]);
    } else if (OC_OP_MIN == op && OC_TYPE_INT64 == type) {
        FOLD(int64_t, a[i] < b[i] ? a[i] : b[i]);
    } else if (OC_OP_MAX == op && OC_TYPE_UINT16 == type) {
        FOLD(uint16_t, a[i] > b[i] ? a[i] : b[i]);
    } else if (OC_OP_BXOR == op && OC_TYPE_UINT8 == type) {
        FOLD(uint8_t, a[i] ^ b[i]);
    } else {
        fprintf(stderr, "harness: no reference for %s of %s\n", oc_op_name(op),
                oc_type_name(type));
        _exit(EXIT_FAILURE);
    }
}

void fill_expected(void *vector, unsigned op, unsigned type, size_t count, uint32_t num_ranks,
                   unsigned seed)
{
    void *other = malloc(count * oc_type_size(type) + 1);

    fill_contribution(vector, type, count, 0, seed);
    for (uint32_t number = 1; number < num_ranks; number++) {
        fill_contribution(other, type, count, number, seed);
        fold(vector, other, op, type, count);
    }
    free(other);
}

oc_job_settings_t test_settings(const char *servers)
{
    oc_job_settings_t settings;

    oc_settings_default(&oc_job_settings_table, &settings);
    settings.servers = servers;
    settings.small_size = 4096;
    settings.chunk_size = 16384;
    settings.window = 3;
    settings.connect_timeout = 5;
    settings.heartbeat_timeout = 5;
    settings.recovery = 0; /* what goes wrong ends the job, and tests see that */
    settings.progress = OC_PROGRESS_MPI; /* tests look into clients without their locks */
    return settings;
}
