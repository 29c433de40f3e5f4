/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two MPI sessions in a row, without MPI_Init: the component is opened and closed twice, and there
 * is no MPI_COMM_WORLD. Arguments: what has to become of every Allreduce, offloaded or fallback; and
 * an empty file for the ranks, all on one host, to meet at.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pvars.h"

#define SESSIONS 2
#define SMALL    3
#define LARGE    300000 /* elements: many chunks */

static int rank = -1, size;
static bool offloaded_wanted;
static unsigned long failures;

static void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void wrong(const char *format, ...)
{
    va_list args;

    failures++;
    va_start(args, format);
    printf("not ok: rank %d: ", rank);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    fflush(stdout);
}

static long contribution(int of, int session, int i)
{
    return (long) of * 1000003 + (long) session * 101 + (long) i * 7;
}

static long expected_sum(int session, int i)
{
    long sum = 0;

    for (int r = 0; r < size; r++) {
        sum += contribution(r, session, i);
    }
    return sum;
}

static void count(const char *what, int session, unsigned long long offloaded,
                  unsigned long long fallbacks)
{
    offloaded = pvar_read("allreduce_offloaded") - offloaded;
    fallbacks = pvar_read("fallbacks_setup") - fallbacks;
    if ((offloaded_wanted ? 1 : 0) != offloaded || (offloaded_wanted ? 0 : 1) != fallbacks) {
        wrong("session %d, %s: %llu offloaded and %llu without service", session, what, offloaded,
              fallbacks);
    }
}

static void reduce(const char *what, MPI_Comm comm, int session, int elements, bool nonblocking)
{
    unsigned long long offloaded = pvar_read("allreduce_offloaded");
    unsigned long long fallbacks = pvar_read("fallbacks_setup");
    long *in = malloc((size_t) elements * sizeof(*in));
    long *out = calloc((size_t) elements, sizeof(*out));
    MPI_Request request;

    for (int i = 0; i < elements; i++) {
        in[i] = contribution(rank, session, i);
    }
    if (nonblocking) {
        MPI_Iallreduce(in, out, elements, MPI_LONG, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(in, out, elements, MPI_LONG, MPI_SUM, comm);
    }
    for (int i = 0; i < elements; i++) {
        if (expected_sum(session, i) != out[i]) {
            wrong("session %d, %s: element %d is %ld", session, what, i, out[i]);
            break;
        }
    }
    count(what, session, offloaded, fallbacks);
    free(out);
    free(in);
}

static MPI_Comm make_comm(MPI_Session session, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;

    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    return comm;
}

static void in_session(int number)
{
    MPI_Session session;
    MPI_Comm comm, copy;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    comm = make_comm(session, "optcast.test.sessions");
    reduce("small", comm, number, SMALL, false);
    reduce("large", comm, number, LARGE, false);
    reduce("nonblocking", comm, number, LARGE, true);
    MPI_Comm_dup(comm, &copy);
    reduce("first of the copy, nonblocking", copy, number, SMALL, true);
    reduce("copy", copy, number, LARGE, false);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
    pvars_end();
    MPI_Session_finalize(&session);
}

/*
 * Between sessions nothing of MPI is there to wait with. Without waiting, a rank may begin the next
 * one while others have not left this one, and the fence of PMIx 5.0.5 does not wait for those: it
 * then looks for shared memory that they have not made again.
 */
static void meet(const char *path, int number)
{
    int fd = open(path, O_WRONLY | O_APPEND);
    struct stat info = {0};

    if (fd < 0 || 1 != write(fd, "x", 1)) {
        wrong("%s cannot be written", path);
    }
    for (int i = 0; fd >= 0 && i < 10000 && info.st_size < (off_t) size * number; i++) {
        usleep(1000);
        (void) fstat(fd, &info);
    }
    close(fd);
}

int main(int argc, char **argv)
{
    if (3 != argc) {
        fprintf(stderr, "usage: sessions offloaded|fallback FILE\n");
        return 2;
    }
    offloaded_wanted = 0 == strcmp(argv[1], "offloaded");
    for (int number = 1; number <= SESSIONS; number++) {
        in_session(number);
        meet(argv[2], number);
    }
    if (0 == failures) {
        printf("ok %d\n", rank);
        fflush(stdout);
    }
    return 0 == failures ? EXIT_SUCCESS : EXIT_FAILURE;
}
