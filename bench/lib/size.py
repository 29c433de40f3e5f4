# SPDX-License-Identifier: BSD-3-Clause
"""Owns the experiment about thousands of ranks: how many a server takes, and what they cost."""
from lib import paths, program, text

NAME = "size"
# In a result file.
KEY = "size"
# Of a full run on a busy machine.
MOST_SECONDS = 1800


def measure(_options, _rounds):
    """What the program has measured."""
    return program.play(paths.SIZE, [], MOST_SECONDS, "measuring a server")


def connect_table(rows):
    """A line for each number of clients."""
    return text.table(["clients at once", "welcomed", "refused", "not within 5 s", "the last after"],
                      [[row["clients"], row["welcomed"], row["refused"], row["late"],
                        text.seconds(row["seconds"])] for row in rows])


def ping_table(rows):
    """A line for each number of sessions."""
    return text.table(["sessions", "all answered after", "processor time of the server, each"],
                      [[row["sessions"], text.seconds(row["seconds"]),
                        text.seconds(row["processor"] / row["sessions"])] for row in rows])


def communicators_table(rows):
    """A line for each number of aggregators."""
    return text.table(["hosts", "ranks of each", "aggregators", "communicators live at once"],
                      [[row["hosts"], row["per_host"], row["aggregators"],
                        f"{row['live']}" + (" (no more were tried)"
                                            if row["live"] == row["tried"] else "")]
                       for row in rows])


def flat_table(rows):
    """A line for each number of aggregators."""
    return text.table(["ranks", "aggregators", "largest chunk", "an Allreduce of a chunk of each"],
                      [[row["ranks"], row["aggregators"],
                        f"{row['chunk']} bytes" if row["chunk"] else "refused",
                        text.seconds(row["seconds"]) if row["chunk"] else "-"] for row in rows])


def server_table(rows):
    """A line for each number of ranks."""
    return text.table(["ranks", "KiB when they are connected", "with a communicator",
                       "as many endpoints of UCX alone"],
                      [[row["ranks"], f"{row['connected']:.0f}", f"{row['joined']:.0f}",
                        f"{row['endpoints']:.0f}"] for row in rows])


def rank_table(rows):
    """A line for each number of ranks."""
    return text.table(["ranks", "KiB more during its set-up", "when it is live",
                       "the process before", "of it UCX's worker"],
                      [[row["ranks"], f"{row['setup']:.0f}", f"{row['live']:.0f}",
                        f"{row['process']:.0f}", f"{row['worker']:.0f}"] for row in rows])


def section(measured):
    """Markdown."""
    rows = {}
    for row in measured["rows"]:
        rows.setdefault(row["what"], []).append(row)
    return ["Default settings but for the number of aggregators; the clients are on the same "
            "machine.", "",
            "## Clients that connect at once", "", *connect_table(rows["connect"]), "",
            "## One heartbeat of each session", "", *ping_table(rows["ping"]), "",
            "## Communicators of many ranks on each host", "",
            *communicators_table(rows["communicators"]), "",
            "## One communicator without shared memory", "", *flat_table(rows["flat"]), "",
            "## Memory of a server", "",
            "Resident memory of its processes. All clients here share one worker, in the same host; "
            "connections to workers of other hosts take more.", "",
            *server_table(rows["server"]), "",
            "## Memory of a rank", "",
            "Heap of one process for a communicator of so many ranks, each on a host of its own, "
            "through one server.", "", *rank_table(rows["rank"]), ""]
