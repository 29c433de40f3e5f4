#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints what two runs of examples/fsdp.py have written, for people.

usage: fsdp_demo.py NEVER.json ALWAYS.json OFFLOADED_IN_NEVER OFFLOADED_IN_ALWAYS
"""
import json
import statistics
import sys

# Of a loss: more than another order of additions makes of it in a few steps.
MOST = 1e-3


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def usual(run, name):
    """The median over the steps but the first, which sets up."""
    return statistics.median(run[name][1:] or run[name])


def print_row(title, cells):
    print(f"  {title:<24}" + "".join(f"{cell:>18}" for cell in cells))


def milliseconds(seconds):
    return f"{1e3 * seconds:.1f} ms"


def exposed(run):
    """What a step takes longer than it computes, and how much of it that is."""
    seconds = usual(run, "exposed")
    return f"{milliseconds(seconds)} ({100 * seconds / usual(run, 'seconds'):.0f} %)"


def print_losses(runs):
    """Returns by how much they differ, as a part of a loss."""
    apart = max(abs(a - b) / max(abs(a), abs(b), 1e-9) for a, b in zip(*(run["losses"] for run in runs)))
    if runs[0]["losses"] == runs[1]["losses"]:
        print(f"The losses of all {len(runs[0]['losses'])} steps are the same, in all digits.")
    else:
        print(f"The losses are not the same in all digits; they differ by at most {apart:.1e} of a loss. Open MPI adds in an\n"
              "order of its own. Optcast adds in rank order here (coll_optcast_reproducible=rank_order), so that its losses\n"
              "are those of training without sharding.")
    return apart


def main():
    runs, offloaded = [read(path) for path in sys.argv[1:3]], [int(word) for word in sys.argv[3:5]]
    print()
    print_row("", ("without Optcast", "with Optcast"))
    print_row("time per step", [milliseconds(usual(run, "seconds")) for run in runs])
    print_row("computing", [milliseconds(usual(run, "computing")) for run in runs])
    print_row("exposed communication", [exposed(run) for run in runs])
    print_row("offloaded collectives", offloaded)
    print()
    if len(runs[0]["losses"]) != len(runs[1]["losses"]):
        sys.exit("fsdp_demo: there are not as many losses in both runs")
    if print_losses(runs) > MOST:
        sys.exit("fsdp_demo: the losses differ by more than rounding")
    if offloaded[0] or not offloaded[1]:
        sys.exit("fsdp_demo: all collectives should be left to Open MPI without Optcast, and offloaded with it")


if __name__ == "__main__":
    main()
