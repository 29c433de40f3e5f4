/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info keys of communicators: one that all ranks give, one that has no such value, and one that
 * only rank 0 gives, which makes all of them do without the service. What rank 0 says later, with
 * MPI_Comm_set_info, changes nothing.
 *
 * usage: hints
 */
#include "check.h"
#include "counters.h"
#include "persistent.h"
#include "to_owners.h"

#define KEY "optcast_reduce_scatter_beside"

/* value NULL: without the key */
static MPI_Comm make(const char *name, const char *value)
{
    MPI_Comm comm;
    MPI_Info info;

    MPI_Info_create(&info);
    if (NULL != value) {
        MPI_Info_set(info, KEY, value);
    }
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Comm_set_name(comm, name);
    MPI_Info_free(&info);
    return comm;
}

/* Its own set-up asks for the key as well. */
static void persistent(MPI_Comm comm)
{
    int one = 1, sum = 0, size, rank;
    MPI_Request request;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Reduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, 0, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    if (0 == rank && size != sum) {
        wrong("persistent: the sum is %d", sum);
    }
}

/* Three reductions on it: whether they are offloaded, or fall back for want of a service. */
static void run(const char *name, const char *value, bool offloaded)
{
    counters_t before = counters_read();
    unsigned long long reduces = pvar_read("reduce_offloaded"), expected = offloaded ? 2 : 0;
    MPI_Comm comm = make(name, value);

    persistent(comm);
    reduce_to_owners(comm, MPI_SUM, 1, 1000);
    if (pvar_read("reduce_offloaded") - reduces != expected) {
        wrong("%s: %llu Reduces are offloaded", name, pvar_read("reduce_offloaded") - reduces);
    }
    counters_moved(name, &before, (counters_t) {.fallbacks_order = ANY, .groups = ANY,
                                                .fallbacks_setup = offloaded ? 0 : 3});
    MPI_Comm_free(&comm);
}

static void later(int rank)
{
    unsigned long long reduces = pvar_read("reduce_offloaded");
    MPI_Comm comm = make("later", NULL);
    MPI_Info info;

    if (0 == rank) {
        MPI_Info_create(&info);
        MPI_Info_set(info, KEY, "allgather");
        MPI_Comm_set_info(comm, info);
        MPI_Info_free(&info);
    }
    reduce_to_owners(comm, MPI_SUM, 1, 1000);
    if (pvar_read("reduce_offloaded") - reduces != 1) {
        wrong("later: %llu Reduces are offloaded", pvar_read("reduce_offloaded") - reduces);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int rank, status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    run("without", NULL, true);
    run("allgather", "allgather", true);
    run("nothing", "nothing", true);
    run("other", "bcast", true);
    run("unequal", 0 == rank ? "allgather" : NULL, false);
    later(rank);
    status = conclude("hints");
    pvars_end();
    MPI_Finalize();
    return status;
}
