/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops Allreduces with MPI_ERRORS_RETURN, checks every result, and tells of the first error.
 *
 * usage: faults NAME=VALUE...
 *   seconds=S    how long to loop (default 5)
 *   count=N      elements of 8 bytes (default 100)
 *   late=R       this rank sleeps after its first operations, while the others wait for it...
 *   late_for=S   ...so long (default 5)
 *   kill=R       this rank kills itself after a second, between two operations of its own
 *   idle=S       after the loop all ranks sleep so long, outside of MPI
 *   nonblocking=1  Iallreduce and Wait
 *
 * Each rank prints "rank R: begins at TIME", perhaps "rank R: late at TIME" or "rank R: sleeps at
 * TIME", and "rank R: error after N operations at TIME: TEXT" or "rank R: N operations,
 * O offloaded" (TIME is that of the clock on the wall).
 */
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "offered.h"
#include "options.h"
#include "pvars.h"
#include "tell.h"

typedef struct {
    double seconds, late_for, idle;
    int count, late, kill, nonblocking;
} options_t;

static int rank, size;

static int reduce(const options_t *o, const int64_t *send, int64_t *recv)
{
    MPI_Request request;
    int rc;

    if (!o->nonblocking) {
        return MPI_Allreduce(send, recv, o->count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    }
    rc = MPI_Iallreduce(send, recv, o->count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
    return MPI_SUCCESS == rc ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

/* What rank 0 adds to the first element of the last operation: no other message is needed. */
#define STOP ((int64_t) 1 << 40)

static bool take_stop(int64_t *recv)
{
    bool stop = recv[0] >= STOP;

    recv[0] -= stop ? STOP : 0;
    return stop;
}

static void check(const options_t *o, int number, const int64_t *recv)
{
    int64_t first = (int64_t) size * (size - 1) / 2 + (int64_t) size * number;

    for (int i = 0; i < o->count; i++) {
        if (recv[i] != first + (int64_t) size * i) {
            wrong("operation %d: element %d is %lld instead of %lld", number, i,
                  (long long) recv[i], (long long) (first + (int64_t) size * i));
            break;
        }
    }
}

static void fill(const options_t *o, int number, int64_t *send, bool stop)
{
    for (int i = 0; i < o->count; i++) {
        send[i] = rank + number + i;
    }
    send[0] += 0 == rank && stop ? STOP : 0;
}

static void disturb(const options_t *o, int number, double begin)
{
    if (o->late == rank && 3 == number) {
        usleep((useconds_t) (o->late_for * 1e6));
        tell("late");
    }
    if (o->kill == rank && wall_time() > begin + 1) {
        raise(SIGKILL);
    }
}

/* true: no error. */
static bool loop(const options_t *o)
{
    int64_t *send = must(malloc((size_t) o->count * sizeof(*send)));
    int64_t *recv = must(malloc((size_t) o->count * sizeof(*recv)));
    double begin = wall_time();
    int number, rc = MPI_SUCCESS;
    bool stop = false;

    for (number = 0; !stop && MPI_SUCCESS == rc; number++) {
        disturb(o, number, begin);
        fill(o, number, send, wall_time() > begin + o->seconds);
        rc = reduce(o, send, recv);
        if (MPI_SUCCESS != rc) {
            tell_error(rc, number);
        } else {
            stop = take_stop(recv);
            check(o, number, recv);
        }
    }
    if (MPI_SUCCESS == rc) {
        printf("rank %d: %d operations, %llu offloaded\n", rank, number,
               pvar_read("allreduce_offloaded"));
        fflush(stdout);
    }
    free(send);
    free(recv);
    return MPI_SUCCESS == rc;
}

int main(int argc, char **argv)
{
    options_t o = {.seconds = 5, .late_for = 5, .count = 100, .late = -1, .kill = -1};
    const option_t options[] = {
        OPTION_SECONDS(o, seconds), OPTION_SECONDS(o, late_for), OPTION_SECONDS(o, idle),
        OPTION_NUMBER(o, count), OPTION_NUMBER(o, late), OPTION_NUMBER(o, kill),
        OPTION_NUMBER(o, nonblocking), OPTIONS_END};
    bool fine;
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    options_read(argc, argv, options);
    if (o.nonblocking) {
        meet_first(MPI_COMM_WORLD);
    }
    tell("begins");
    fine = loop(&o);
    if (o.idle > 0) {
        tell("sleeps");
        usleep((useconds_t) (o.idle * 1e6));
    }
    pvars_end();
    status = conclude("faults");
    MPI_Finalize();
    return fine ? status : EXIT_FAILURE;
}
