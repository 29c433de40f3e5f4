/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops Allgathers, Allgathervs and Bcasts with MPI_ERRORS_RETURN, checks every result, and tells
 * of the first error.
 *
 * usage: cast_loop NAME=VALUE...
 *   operations=N   how many (default 100)
 *   count=N        elements of 4 bytes of a block (default 1000)
 *   late=R         this rank sleeps after its first operations, while the others wait for it...
 *   late_for=S     ...so long (default 5)
 *   kill=R         this rank kills itself, in the middle of an operation: others have entered it
 *   start=FILE     begins when FILE exists
 *   nonblocking=1  the nonblocking forms and Wait; from=1: but not the first
 *
 * Each rank prints "rank R: begins at TIME", perhaps "rank R: late at TIME", and "rank R: error
 * after N operations at TIME: TEXT", or "rank R: N offloaded, L lost, V recovered, D doubled,
 * F foreign, B shared, P repaired", the last two in bytes: received through shared memory, and
 * given to others in any way (TIME is that of the clock on the wall).
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "collectives.h"
#include "offered.h"
#include "options.h"
#include "tell.h"

typedef struct {
    double late_for;
    int operations, count, late, kill, nonblocking, from;
    const char *start;
} options_t;

static int rank;
static unsigned long long offloaded_before;

static unsigned long long count_offloaded(void)
{
    return pvar_read("allgather_offloaded") + pvar_read("bcast_offloaded");
}

/* The time limit of the job is that of this, too. */
static void await_start(const char *path)
{
    while (NULL != path && 0 != access(path, F_OK)) {
        usleep(1000);
    }
}

/* A little after it has begun: the others are in the operation, and blocks are under way. */
static void die_soon(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec in = {.it_value.tv_nsec = 100 * 1000 * 1000};

    tell("dies");
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &in, NULL);
}

static void disturb(const options_t *o, int number)
{
    if (o->late == rank && 3 == number) {
        usleep((useconds_t) (o->late_for * 1e6));
        tell("late");
    }
    if (o->kill == rank && o->operations / 2 == number) {
        die_soon();
    }
}

static int operate(const options_t *o, int number, collective_t *c)
{
    MPI_Request request;
    int rc;

    collective_make(c, (collective_kind_t) (ALLGATHER + number % 3), MPI_COMM_WORLD, number,
                    o->count);
    if (!o->nonblocking || number < o->from) {
        return collective_do(c);
    }
    rc = collective_begin(c, &request);
    return MPI_SUCCESS == rc ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

/* true: no error. */
static bool loop(const options_t *o)
{
    for (int number = 0; number < o->operations; number++) {
        collective_t c;
        int rc;

        disturb(o, number);
        rc = operate(o, number, &c);
        if (MPI_SUCCESS != rc) {
            tell_error(rc, number);
            return false;
        }
        collective_check("loop", &c);
    }
    printf("rank %d: %llu offloaded, %llu lost, %llu recovered, %llu doubled, %llu foreign, "
           "%llu shared, %llu repaired, %llu unicast\n", rank,
           count_offloaded() - offloaded_before,
           pvar_read("fragments_lost"), pvar_read("fragments_recovered"),
           pvar_read("fragments_duplicated"),
           pvar_read("datagrams_foreign") + pvar_read("fragments_foreign"),
           pvar_read("bytes_shared"), pvar_read("repair_bytes"), pvar_read("groups_unicast"));
    fflush(stdout);
    return true;
}

int main(int argc, char **argv)
{
    options_t o = {.operations = 100, .count = 1000, .late_for = 5, .late = -1, .kill = -1};
    const option_t options[] = {
        OPTION_NUMBER(o, operations), OPTION_NUMBER(o, count), OPTION_NUMBER(o, late),
        OPTION_SECONDS(o, late_for), OPTION_NUMBER(o, kill),
        OPTION_NUMBER(o, nonblocking), OPTION_NUMBER(o, from),
        OPTION_TEXT(o, start), OPTIONS_END};
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    options_read(argc, argv, options);
    if (o.nonblocking && 0 == o.from) {
        meet_first(MPI_COMM_WORLD);
    }
    offloaded_before = count_offloaded();
    tell("begins");
    await_start(o.start);
    if (!loop(&o)) {
        /* some ranks are gone: nothing that needs them all */
        sleep(3);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    pvars_end();
    status = conclude("cast_loop");
    MPI_Finalize();
    return status;
}
