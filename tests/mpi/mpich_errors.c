/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong arguments, and a library that has no communicators left: MPI's own errors, under the name of the function
 * that was called, and right results wherever there is no error.
 */
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "pvars.h"

#define LENGTH 5000
#define MOST   4096     /* more communicators than MPICH has room for */

static int rank, size;

/* Of the class, and its text begins with the function. */
static void expect_error(const char *what, int rc, int class, const char *function)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, found = MPI_SUCCESS;

    MPI_Error_class(rc, &found);
    MPI_Error_string(rc, text, &length);
    if (class != found || NULL == strstr(text, function)) {
        wrong("%s: an error of class %d instead of %d, without \"%s\": %s", what, found, class,
              function, text);
    }
}

static void try_wrong_arguments(void)
{
    int in[1] = {1}, out[64], ones[64];
    MPI_Comm comm = MPI_COMM_WORLD;

    for (int i = 0; i < size; i++) {
        ones[i] = 1;
    }
    expect_error("no type", MPI_Bcast(out, 1, (MPI_Datatype) 77, 0, comm), MPI_ERR_TYPE, "MPI_Bcast");
    expect_error("no type", MPI_Allgather(in, 1, MPI_INT, out, 1, (MPI_Datatype) 77, comm), MPI_ERR_TYPE,
                 "MPI_Allgather");
    /* that is how MPICH has it */
    expect_error("no type", MPI_Allreduce(in, out, 1, (MPI_Datatype) 77, MPI_SUM, comm), MPI_ERR_OP,
                 "MPI_Allreduce");
    expect_error("no operation", MPI_Reduce(in, out, 1, MPI_INT, (MPI_Op) 12345, 0, comm), MPI_ERR_OP,
                 "MPI_Reduce");
    expect_error("a type as operation",
                 MPI_Reduce_scatter_block(in, out, 1, MPI_INT, (MPI_Op) MPI_INT, comm), MPI_ERR_OP,
                 "MPI_Reduce_scatter_block");
    expect_error("no buffer", MPI_Allreduce(MPI_IN_PLACE, NULL, 1, MPI_INT, MPI_SUM, comm),
                 MPI_ERR_BUFFER, "MPI_Allreduce");
    expect_error("nothing to send", MPI_Allreduce(NULL, out, 1, MPI_INT, MPI_SUM, comm),
                 MPI_ERR_BUFFER, "MPI_Allreduce");
    expect_error("no vector", MPI_Reduce_scatter(NULL, out, ones, MPI_INT, MPI_SUM, comm),
                 MPI_ERR_BUFFER, "MPI_Reduce_scatter");
    expect_error("no blocks", MPI_Allgather(in, 1, MPI_INT, NULL, 1, MPI_INT, comm), MPI_ERR_BUFFER,
                 "MPI_Allgather");
    expect_error("nothing to broadcast", MPI_Bcast(NULL, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER,
                 "MPI_Bcast");
    expect_error("a negative count", MPI_Allgather(in, -1, MPI_INT, out, 1, MPI_INT, comm),
                 MPI_ERR_COUNT, "MPI_Allgather");
}

/* Every second int: no row of bytes. */
static MPI_Datatype every_second(int count)
{
    MPI_Datatype type;

    MPI_Type_vector(count, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Rank 1 says that it sends twice as much as there is room for. */
static void try_too_long(void)
{
    MPI_Datatype type = every_second(1 == rank ? 2 * LENGTH : LENGTH);
    int *in = must(calloc(4 * LENGTH, sizeof(*in)));
    int *out = must(calloc((size_t) size * LENGTH, sizeof(*out)));
    int rc, class;

    for (int i = 0; i < 2 * LENGTH; i++) {
        in[2 * i] = rank * LENGTH + i;
    }
    rc = MPI_Allgather(in, 1, type, out, LENGTH, MPI_INT, MPI_COMM_WORLD);
    MPI_Error_class(rc, &class);
    if (class != (1 == rank ? MPI_ERR_TRUNCATE : MPI_SUCCESS)) {
        wrong("a block that is too long: an error of class %d", class);
    }
    for (int i = 0; i < size * LENGTH; i++) {
        if (i != out[i]) {
            wrong("a block that is too long: element %d is %d", i, out[i]);
            break;
        }
    }
    MPI_Type_free(&type);
    free(in);
    free(out);
}

/* Of the program, which set-ups do not concern. */
static void handler_on_error(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    (void) code;
    wrong("an error of a set-up reaches the program");
}

/* All that the library has room for. Returns how many. */
static int make_all(MPI_Comm *comms)
{
    MPI_Errhandler handler;
    int number = 0;

    while (number < MOST && MPI_SUCCESS == MPI_Comm_dup(MPI_COMM_WORLD, &comms[number])) {
        number++;
    }
    MPI_Comm_create_errhandler(handler_on_error, &handler);
    for (int i = 0; i < number; i++) {
        MPI_Comm_set_errhandler(comms[i], handler);
    }
    MPI_Errhandler_free(&handler);
    return number;
}

static void expect_sum(const char *what, MPI_Comm comm, unsigned long long offloaded)
{
    unsigned long long before = pvar_read("allreduce_offloaded");
    int sum = rank;

    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (size * (size - 1) / 2 != sum) {
        wrong("%s: the sum is %d", what, sum);
    }
    if (pvar_read("allreduce_offloaded") - before != offloaded) {
        wrong("%s: %llu operations were offloaded instead of %llu", what,
              pvar_read("allreduce_offloaded") - before, offloaded);
    }
}

/* A set-up needs a communicator for itself. Where there is none, MPICH does all; later ones are offloaded again. */
static void try_no_communicators(void)
{
    MPI_Comm *comms = must(malloc(MOST * sizeof(*comms)));
    int number = make_all(comms);

    if (number < 2 || number == MOST) {
        wrong("%d communicators could be made", number);
    }
    expect_sum("none left", comms[0], 0);
    MPI_Comm_free(&comms[number - 1]);
    expect_sum("one left", comms[1], 1);
    expect_sum("none left, again", comms[0], 0);
    for (int i = 0; i < number - 1; i++) {
        MPI_Comm_free(&comms[i]);
    }
    free(comms);
}

int main(int argc, char **argv)
{
    int sum = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    try_wrong_arguments();
    try_too_long();
    if (1 != pvar_read("allgather_offloaded")) {
        wrong("%llu Allgathers were offloaded", pvar_read("allgather_offloaded"));
    }
    expect_sum("after all", MPI_COMM_WORLD, 1);
    try_no_communicators();
    if (EXIT_SUCCESS != conclude("wrong arguments")) {
        MPI_Finalize();
        return EXIT_FAILURE;
    }
    return MPI_Finalize();
}
