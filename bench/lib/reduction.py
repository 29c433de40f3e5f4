# SPDX-License-Identifier: BSD-3-Clause
"""Owns the experiment that needs no MPI: the speed of the reduction beside that of memory."""
import statistics

from lib import paths, program, text

NAME = "reduction"
# In a result file.
KEY = "reduction"
# What a quick run passes in memory, in MiB.
QUICK_MEMORY = 256
# Of a full run on a busy machine.
MOST_SECONDS = 3600
PLACES = (("memory", "in memory, {} MiB"), ("L2", "in half of the L2 cache, {} KiB"))


def measure(options, rounds):
    """What the program has measured."""
    less = ["--memory", QUICK_MEMORY] if options.quick else []
    return program.play(paths.REDUCTION, ["--rounds", rounds, *less], MOST_SECONDS,
                        "measuring the reduction")


def limits_of(row):
    """Of each round, the rate of the fastest loop."""
    return [max(rates) for rates in zip(*(loop["gbytes_s"] for loop in row["limits"]))]


def usual_loop(row):
    """The name of the loop that was the fastest most often."""
    rounds = zip(*(loop["gbytes_s"] for loop in row["limits"]))
    fastest = [max(range(len(rates)), key=rates.__getitem__) for rates in rounds]
    return row["limits"][statistics.mode(fastest)]["name"]


def cell(rates, limits):
    """Gigabytes per second, and the ratio to the limit with its spread over rounds."""
    ratios = [rate / limit for rate, limit in zip(rates, limits)]
    return (f"{text.digits(statistics.median(rates))}: {statistics.median(ratios):.2f} "
            f"({text.spread_of_ratio(min(ratios), max(ratios))})")


def place_table(rows):
    """A line for each type, a column for each number of inputs."""
    limits = [limits_of(row) for row in rows]
    lines = [["**limit**", *(text.digits(statistics.median(rates)) for rates in limits)]]
    for index, kernel in enumerate(rows[0]["types"]):
        lines.append([kernel["name"], *(cell(row["types"][index]["gbytes_s"], rates)
                                        for row, rates in zip(rows, limits))])
    lines.append(["fastest loop", *(usual_loop(row) for row in rows)])
    return text.table(["type", *(f"{row['inputs']} inputs" for row in rows)], lines)


def section(measured):
    """Markdown."""
    lines = [f"Kernels: {measured['isa']}; loops with vectors of {measured['vector_bytes']} bytes; "
             f"{measured['rounds']} rounds. GB/s of inputs, then the ratio to the limit of the "
             "same round: median (min–max). Sums, of pairs MINLOC. Times are those of the "
             "processor: what other programs take of it does not count.", ""]
    for place, title in PLACES:
        rows = [row for row in measured["rows"] if row["place"] == place]
        size = max(row["working_set"] for row in rows)
        lines += [f"## Reduction {title.format(size >> (20 if place == 'memory' else 10))}", "",
                  *place_table(rows), ""]
    return lines
