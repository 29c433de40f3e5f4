/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last rank comes late to Allreduces, in which the others go to sleep. Their last sleep has to
 * be the one that the result ends: who sleeps once more, until a time limit, finds it only then.
 *
 * usage: woken ROUNDS
 */
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

#include "check.h"
#include "pvars.h"

#define LATE_NS 30000000

/* What the last call has returned; 0: its time was over. */
static int last;

/* Instead of libc's, also for the component. */
int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *signals)
{
    int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

    *(void **) &real = dlsym(RTLD_NEXT, "ppoll");
    last = real(fds, count, limit, signals);
    return last;
}

/* Whether this rank slept, and something ended its last sleep. */
static int is_woken(int rank, int size)
{
    const struct timespec late = {.tv_nsec = LATE_NS};
    int32_t sum = 0, one = 1;

    last = 0;
    if (size - 1 == rank) {
        nanosleep(&late, NULL);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size) {
        wrong("the sum is %d instead of %d", sum, size);
    }
    return last > 0;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 0, woken = 0, rank, size, status;
    unsigned long long offloaded;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    (void) is_woken(rank, size); /* with the set-up */
    offloaded = pvar_read("allreduce_offloaded");
    for (int i = 0; i < rounds; i++) {
        woken += is_woken(rank, size);
    }
    if (pvar_read("allreduce_offloaded") - offloaded != (unsigned long long) rounds) {
        wrong("%llu of %d operations were offloaded", pvar_read("allreduce_offloaded") - offloaded, rounds);
    }
    if (size - 1 != rank && 4 * woken < 3 * rounds) {
        wrong("%d of %d waits ended when the result was there", woken, rounds);
    }
    pvars_end();
    status = conclude("woken");
    MPI_Finalize();
    return status;
}
