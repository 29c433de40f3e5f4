# SPDX-License-Identifier: BSD-3-Clause
"""Owns the experiment about a program that shards its training: the time of a step, and what of it is waiting."""
import re
import statistics

from lib import contestants, experiments, paths, text
from lib.cluster import Cluster, PlaceError
from lib.launch import launch

NAME = "training"
# In a result file.
KEY = "training"
# Debian's Python is the one that has the packaged mpi4py.
PYTHON = "/usr/bin/python3"
EXAMPLE = paths.REPO / "examples/fsdp.py"
# Of one launch: eight Pythons on few processors take long to begin.
MOST_SECONDS = 180
HOSTS = 8
# A matrix of weights is 1 MiB, and what a layer computes takes longer than what moves meanwhile.
LAYERS, STEPS = 5, 10
WORDS = ("--layers", str(LAYERS), "--width", "512", "--steps", str(STEPS), "--compute", "50")
# In a step each layer is gathered for the forward pass, all but the last one again for the backward pass, and reduced.
COLLECTIVES = STEPS * (3 * LAYERS - 1)
# What rank 0 says at the end, with verbose=1. What Open MPI does by itself falls back for reasons of order.
SUMMARY = re.compile(r"optcast: rank 0: (\d+) collectives offloaded, .*, (\d+) fell back .*, order (\d+)\)")
TIMES = ("seconds", "computing", "exposed", "waiting_least", "waiting")

SETUPS = tuple(experiments.Setup(f"{HOSTS}+{servers}", "training", HOSTS, (), (), servers=servers, nap=False,
                                 snooping=True) for servers in (HOSTS, 0))


def who(servers):
    """Contestants with so many servers. All reduce in rank order or as they like; losses tell."""
    ours = ("multicast=udp", "reproducible=rank_order", "verbose=1")
    return (contestants.DEFAULT,
            contestants.Contestant("optcast-progress-mpi", "optcast, progress=mpi", kind="ours", embedded=not servers,
                                   settings=(*ours, "progress=mpi")),
            contestants.Contestant("optcast", "optcast", kind="ours", embedded=not servers, settings=ours))


def offloaded(contestant, output):
    """How many collectives were; ends the experiment if these are not all."""
    found = SUMMARY.search(output)
    count, left = (int(found[1]), int(found[2]) - int(found[3])) if found else (0, 0)
    if contestant.kind == "ours" and (count < COLLECTIVES or left):
        raise PlaceError(f"{contestant.label}: {count} collectives were offloaded and {left} left, of at least {COLLECTIVES}")
    return count


def numbers_of(contestant, outcome):
    """What is kept of a launch: medians over its steps but the first, which sets up."""
    numbers = outcome.numbers
    if numbers is None:
        return {"error": outcome.error}
    return {"losses": numbers["losses"], "accuracy": numbers["accuracy"], "offloaded": offloaded(contestant, outcome.output),
            **{name: statistics.median(numbers[name][1:]) for name in TIMES}}


def measure_setup(setup, place, rounds):
    """{contestants: [{name, label, kind, launches}]} of one cluster, launches in turns."""
    place.prepare(setup)
    rows = [{"name": c.name, "label": c.label, "kind": c.kind, "launches": []} for c in who(setup.servers)]
    for _ in range(rounds):
        for contestant, row in zip(who(setup.servers), rows):
            command = [*place.command(contestant, setup), PYTHON, "-m", "mpi4py", str(EXAMPLE), *WORDS]
            outcome = launch(command, paths.WORK, place.environment, MOST_SECONDS)
            row["launches"].append(numbers_of(contestant, outcome))
            if not outcome.ended:
                place.renew(setup)
    return {"servers": setup.servers, "rate": setup.rate, "rows": rows}


def reference(rounds):
    """Losses of the same without sharding, on this host; nothing without launches."""
    if not rounds:
        return []
    place = Cluster()
    command = ["mpirun", "--oversubscribe", "-np", str(HOSTS), "--mca", "coll", "^optcast", PYTHON, "-m", "mpi4py",
               str(EXAMPLE), *WORDS[:-2], "--unsharded"]
    outcome = launch(command, paths.WORK, place.environment, MOST_SECONDS)
    if outcome.numbers is None:
        raise PlaceError(f"training without sharding failed: {outcome.error}")
    return outcome.numbers["losses"]


def measure(options, rounds):
    """All setups, and the losses that ours should have."""
    measured = {"words": " ".join(WORDS), "hosts": HOSTS, "losses": reference(rounds), "setups": []}
    for setup in SETUPS:
        place = Cluster(options.set, options.keep, not options.unchecked)
        try:
            measured["setups"].append(measure_setup(setup, place, rounds))
        finally:
            place.close()
    return measured


def as_kept_now(launch):
    """A launch out of a result file: in older ones, exposed is what the rank waits that waits least."""
    if "waiting_least" in launch:
        return launch
    return {**launch, "exposed": launch["seconds"] - launch["computing"], "waiting_least": launch["exposed"]}


def cell(launches, name):
    """Median (min–max)."""
    values = [launch[name] for launch in launches]
    return f"{text.seconds(statistics.median(values))} ({text.spread(min(values), max(values))})"


def good_launches(setup, name):
    """Of the contestant of that name, as they are kept now."""
    return [as_kept_now(launch) for row in setup["rows"] if row["name"] == name
            for launch in row["launches"] if "seconds" in launch]


def usual(launches, name):
    """The median."""
    return statistics.median(launch[name] for launch in launches)


def summary(measured, page):
    """A line for each setup in which ours has the losses of training without sharding in all launches."""
    lines = []
    for setup in measured["setups"]:
        ours, default = (good_launches(setup, name) for name in ("optcast", "default"))
        if ours and default and all(launch["losses"] == measured["losses"] for launch in ours):
            step, other = usual(ours, "seconds"), usual(default, "seconds")
            lines.append([f"[`fsdp.py`]({page})", measured["hosts"], setup["servers"], setup["rate"], text.seconds(step),
                          text.seconds(usual(ours, "exposed")), f"{text.seconds(other)} ({text.ratio(other / step)} ×)",
                          text.seconds(usual(default, "exposed"))])
    return lines


def line(row, default, losses):
    """One contestant."""
    good = [as_kept_now(launch) for launch in row["launches"] if "seconds" in launch]
    if not good:
        return [row["label"], *["—"] * 8]
    step = usual(good, "seconds")
    same = sum(launch["losses"] == losses for launch in good)
    return [row["label"], cell(good, "seconds"), text.ratio(step / default) if default else "—",
            cell(good, "computing"), cell(good, "exposed"), f"{100 * usual(good, 'exposed') / step:.1f} %",
            cell(good, "waiting_least"), cell(good, "waiting"), f"{same} of {len(good)}"]


def table(setup, losses):
    """All contestants of a setup."""
    by_default = good_launches(setup, "default")
    default = usual(by_default, "seconds") if by_default else None
    return text.table(["contestant", "time of a step (min–max)", "× default", "computing", "exposed communication",
                       "of the step", "waiting, least", "waiting, most", "launches with the losses of training without sharding"],
                      [line(row, default, losses) for row in setup["rows"]])


def section(measured):
    """Markdown."""
    lines = [f"`examples/fsdp.py {measured['words']}` on {measured['hosts']} hosts, one rank on each. What a layer computes "
             "is mostly a timed sleep, since all ranks share few processors here. Times are medians over steps. Those of a step "
             "and of computing are of the slowest rank; exposed is what the first is longer than the second. Waiting is what the "
             "rank waits that waits least, and the one that waits most: for communication, and for slower ranks. Losses "
             f"are compared bit for bit, and all {COLLECTIVES} gathers and reductions of a launch of ours were offloaded.", ""]
    for setup in measured["setups"]:
        servers = f" + {setup['servers']} with servers" if setup["servers"] else ", embedded servers"
        lines += [f"## {measured['hosts']} hosts{servers}, links of {setup['rate']} Mbit/s", "",
                  *table(setup, measured["losses"]), ""]
    return lines
