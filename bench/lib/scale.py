# SPDX-License-Identifier: BSD-3-Clause
"""Owns the experiment that needs no MPI: what an aggregator uses of a processor."""
import statistics

from lib import paths, program, text

NAME = "scale"
# In a result file.
KEY = "scale"
# Of a full run on a busy machine.
MOST_SECONDS = 1800
TITLES = {"chunks": "for a chunk of 16 KiB from each rank",
          "small": "for a vector of 1 KiB from each rank"}


def measure(_options, rounds):
    """What the program has measured."""
    return program.play(paths.SCALE, ["--rounds", rounds], MOST_SECONDS, "measuring an aggregator")


def each(row, factor=1.0):
    """Seconds for each unit of a row, of all rounds."""
    return [seconds / row["units"] * factor for seconds in row["seconds"]]


def cell(values):
    """Median and spread of times."""
    return (f"{text.seconds(statistics.median(values))} "
            f"({text.spread(min(values), max(values))})")


def instructions(row):
    """For each unit, or that nobody counts them."""
    if not min(row["instructions"]):
        return "not counted here"
    return f"{statistics.median(row['instructions']) / row['units']:.0f}"


def groups_table(rows):
    """A line for each number of groups."""
    lines = []
    for row in rows:
        first = next(other for other in rows if other["load"] == row["load"])
        ratio = statistics.median(each(row)) / statistics.median(each(first))
        lines.append([TITLES[row["load"]], row["groups"], cell(each(row)), text.ratio(ratio),
                      instructions(row)])
    return text.table(["processor time", "groups", "time (min–max)", "× one group",
                       "instructions"], lines)


def per_gigabyte(row):
    """[seconds, of them user, system] for each GB of contributions, of all rounds."""
    gigabytes = row["bytes"] / 1e9
    return [(seconds / gigabytes, seconds * user / gigabytes, seconds * (1 - user) / gigabytes)
            for seconds, user in zip(row["seconds"], row["user"])]


def tcp_table(row):
    """One line."""
    everything, user, system = zip(*per_gigabyte(row))
    return text.table(["ranks", "processor time for each GB", "of it user", "of it kernel"],
                      [[row["ranks"], cell(everything), text.seconds(statistics.median(user)),
                        text.seconds(statistics.median(system))]])


def section(measured):
    """Markdown."""
    many = [row for row in measured["rows"] if not row["tcp"]]
    tcp = next(row for row in measured["rows"] if row["tcp"])
    return [f"{measured['rounds']} rounds.", "",
            "## One aggregator, 4 ranks in 1, 8 and 64 groups", "",
            "64 Allreduces are under way, in one group or spread over many, with 64 chunks of each "
            "rank: that is `window` of one group, or of all together.", "",
            *groups_table(many), "",
            "## One aggregator, 8 ranks over TCP", "",
            "Vectors of 16 MiB in chunks of 64 KiB, through the loopback device. Each GB that comes "
            "in is received, reduced, and as much goes out as results.", "",
            *tcp_table(tcp), ""]
