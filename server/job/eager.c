/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much a process may send to an aggregator without having been asked. It lies in memory of UCX
 * until its chunk has memory, beside the limit: a quarter of an aggregator's memory is offered, in
 * equal parts, to as many processes as are known or announced. A process keeps to the least that it
 * was ever offered. Those that came when fewer were known have more, the k-th of n no more than the
 * k-th part: together, processes never have more than 1 + ln n times that quarter.
 */
#include "server/job/eager.h"

uint64_t oc_eager_offer(oc_session_t *session, uint32_t num_ranks)
{
    oc_job_server_t *job = session->job;
    uint64_t all = job->config.memory_limit / job->num_aggregators / 4;
    uint64_t part = all / (num_ranks > job->num_sessions ? num_ranks : job->num_sessions);

    if (!session->has_offer || part < session->eager_window) {
        job->eager_windows += part - (session->has_offer ? session->eager_window : 0);
        session->eager_window = part;
        session->has_offer = true;
    }
    return session->eager_window;
}

void oc_eager_forget(oc_session_t *session)
{
    session->job->eager_windows -= session->eager_window;
    session->eager_window = 0;
}
