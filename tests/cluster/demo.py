#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints what optcast-perf --compare has measured as a table with bars, for people.

usage: demo.py CSV...
"""
import csv
import sys

WIDTH = 28
NAMES = {"allreduce": "Allreduce", "allgather": "Allgather", "bcast": "Bcast"}


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def bar(share):
    """A line of at most WIDTH characters, in eighths of one."""
    eighths = max(1, round(share * WIDTH * 8))
    return "█" * (eighths // 8) + ("▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else "")


def milliseconds(seconds):
    return f"{seconds * 1000:.1f} ms"


def print_row(row):
    ours, theirs = float(row["median_s"]), float(row["previous_median_s"])
    longest = max(ours, theirs)
    print(f"{NAMES[row['collective']]:>11} {size_text(int(row['bytes'])):>8}"
          f"{milliseconds(theirs):>12}{milliseconds(ours):>12}{theirs / ours:>8.2f} x")
    print(f"{'':21}{bar(theirs / longest)} Open MPI")
    print(f"{'':21}{bar(ours / longest)} Optcast")


def main():
    offloaded = True
    print(f"\n{'':20}{'Open MPI':>12}{'Optcast':>12}{'faster':>10}")
    for path in sys.argv[1:]:
        with open(path, encoding="ascii") as file:
            for row in csv.DictReader(file):
                print_row(row)
                offloaded = offloaded and int(row["offloaded"]) > 0
    print("\nAll of these were offloaded (coll_optcast_mode always). In mode auto, the default, what is not expected to be\n"
          "faster is left to Open MPI; small vectors, for example.")
    if not offloaded:
        sys.exit("demo: not everything was offloaded")


if __name__ == "__main__":
    main()
