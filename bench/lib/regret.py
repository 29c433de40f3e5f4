# SPDX-License-Identifier: BSD-3-Clause
"""Owns the experiment about what mode auto gives away: against Open MPI's default, and against itself
if it offloaded everything."""
import itertools
import statistics
from dataclasses import dataclass

from lib import facts, measure, paths, text
from lib.cluster import Cluster
from lib.contestants import beside
from lib.experiments import KiB, MiB, Setup
from lib.launch import launch
from lib.tell import Teller

NAME = "regret"
# In a result file.
KEY = "regret"
# Of one size in a launch, in which both sides take turns.
MILLISECONDS = 600
TIME_LIMIT = 300
MODES = ("auto", "always")
SIZES = tuple(4 * KiB << 2 * i for i in range(7))
# Below, operations are reported only.
JUDGED_FROM = 64 * KiB
# What most cells must keep to, how many of them, and what all must.
USUAL, SHARE, WORST = 1.10, 0.95, 1.25
RATES = ((100, (2, 4, 8)), (1000, (2, 4)))


# Results that go to owners are measured on fewer clusters: the slower links, and these numbers of servers.
OWNED = ("reduce", "reduce_scatter_block")
OWNED_SERVERS = (0, 4)


def kinds_of(rate, hosts, servers):
    """Collectives that are measured there; without servers there are no other ones by multicast."""
    kinds = ("allreduce",) if servers else ("allreduce", "allgather", "bcast")
    measured = rate == RATES[0][0] and hosts > 2 and servers in OWNED_SERVERS
    return kinds + OWNED if measured else kinds


def setups():
    """All of them, those of one cluster one after the other."""
    found = []
    for rate, counts in RATES:
        for hosts in counts:
            for servers, per_host in itertools.product(sorted({0, 2, hosts}), (1, 4)):
                found += [Setup(f"{kind}-{hosts}x{per_host}+{servers}-{rate}", kind, hosts, (),
                                SIZES, servers=servers, rate=rate, per_host=per_host)
                          for kind in kinds_of(rate, hosts, servers)]
    return found


@dataclass
class Cell:
    """One size of one setup: lists of the medians of launches, in seconds."""
    setup: dict
    size: int
    auto: list
    always: list
    default: list

    @property
    def best(self):
        """The launches of who is faster without our choosing."""
        return min(self.always, self.default, key=statistics.median)

    @property
    def regret(self):
        """Of auto, times that of the better one."""
        return statistics.median(self.auto) / statistics.median(self.best)

    @property
    def gain(self):
        """How many times as fast as Open MPI's default."""
        return statistics.median(self.default) / statistics.median(self.auto)

    def misses(self, factor):
        """If it is surely slower than FACTOR times the better one."""
        return self.regret > factor and min(self.auto) > max(self.best)

    def name(self):
        """For a list."""
        return f"{describe(self.setup)}, {text.size(self.size)}"


def describe(setup):
    """Without the collective's own heading."""
    servers = f" + {setup['servers']} servers" if setup["servers"] else ""
    return (f"{setup['collective']}, {setup['hosts']} hosts × {setup['per_host']}{servers}, "
            f"{setup['rate']} Mbit/s")


# ---- measuring ----

class Runner:
    """One setup, on a cluster that is up."""

    def __init__(self, setup, cluster, tell):
        self.setup, self.cluster, self.tell = setup, cluster, tell

    def launch(self, mode):
        """[row] of one launch."""
        rules = paths.WORK / "regret.ini"
        rules.write_text(f"version = 1\n[model]\nlink_rate = {self.setup.rate}\n",
                         encoding="utf-8")
        contestant = beside(mode, mode, f"mode={mode}", f"rules={rules}",
                            embedded=not self.setup.servers)
        command = [*self.cluster.command(contestant, self.setup),
                   str(paths.PERF["openmpi"]), self.setup.collective, "-b", str(SIZES[0]),
                   "-e", str(SIZES[-1]), "-f", "4", "-n", "50", "--time", str(MILLISECONDS),
                   "--interface", "none", "--compare"]
        outcome = launch(command, paths.WORK, self.cluster.environment, TIME_LIMIT)
        if not outcome.ended:
            self.cluster.renew(self.setup)
        if outcome.numbers is None or outcome.error:
            raise measure.MeasureError(f"{self.setup.name}, mode {mode}: {outcome.error}\n"
                                       f"{outcome.output}")
        self.tell.line(f"{self.setup.name} {mode}: {outcome.seconds:.1f} s")
        return [{"bytes": size, "seconds": row["median_s"], "iterations": row["iterations"],
                 "offloaded": row["offloaded"], "previous": row["previous"]["median_s"]}
                for size, row in zip(SIZES, outcome.numbers["rows"])]


def begin(setup):
    """What a result file has of a setup before its first launch."""
    return {"name": setup.name, "collective": setup.collective, "hosts": setup.hosts,
            "per_host": setup.per_host, "servers": setup.servers, "rate": setup.rate,
            "commit": facts.commit(), "launches": []}


def measure_all(options, launches, old, keep):
    """{"setups": [...]}: what OLD has is not measured again; KEEP is called with what there is after
    each setup."""
    known = {setup["name"]: setup for setup in old["setups"]} if old else {}
    chosen = setups()
    chosen = chosen[:2] if options.quick else chosen
    wanted = [setup for setup in chosen
              if len(known.get(setup.name, {}).get("launches", [])) < launches]
    with Teller(paths.WORK / "run.log") as tell:
        for _, group in itertools.groupby(wanted, key=lambda s: (s.rate, s.hosts, s.servers)):
            group = list(group)
            cluster = Cluster(options.set, options.keep, not options.unchecked)
            try:
                cluster.prepare(group[0])
                for setup in group:
                    known[setup.name] = measure_setup(Runner(setup, cluster, tell), launches,
                                                      known.get(setup.name))
                    keep(sort(known, chosen))
            finally:
                cluster.close()
    return sort(known, chosen)


def sort(known, chosen):
    """In the order of the page."""
    return {"setups": [known[setup.name] for setup in chosen if setup.name in known]}


def measure_setup(runner, launches, found):
    """Both modes in turns, until there are enough launches."""
    found = found or begin(runner.setup)
    while len(found["launches"]) < launches:
        found["launches"].append({mode: runner.launch(mode) for mode in MODES})
    return found


# ---- what comes out ----

def cells(measured):
    """[Cell] of everything."""
    found = []
    for setup in measured["setups"]:
        for index, size in enumerate(SIZES):
            rows = [[turn[mode][index] for turn in setup["launches"]] for mode in MODES]
            auto, always = [[row["seconds"] for row in side] for side in rows]
            # of the launches in which it took turns with auto: after a pause an emulated link is faster
            default = [row["previous"] for row in rows[0]]
            found.append(Cell(setup, size, auto, always, default))
    return found


def fewest_launches(measured):
    """Of any setup."""
    return min(len(setup["launches"]) for setup in measured["setups"])


def gain_line(found):
    """Geometric mean, by collective."""
    said = []
    for kind in dict.fromkeys(cell.setup["collective"] for cell in found):
        gains = [cell.gain for cell in found if cell.setup["collective"] == kind]
        said.append(f"{kind} {statistics.geometric_mean(gains):.2f}")
    return ", ".join(said)


def summary(found):
    """What the targets say, and who misses them."""
    judged = [cell for cell in found if cell.size >= JUDGED_FROM]
    usual = [cell for cell in judged if cell.misses(USUAL)]
    worst = [cell for cell in judged if cell.misses(WORST)]
    share = 1 - len(usual) / len(judged)
    lines = [f"{len(judged)} combinations of collective, hosts, ranks, servers, link and size from "
             f"{text.size(JUDGED_FROM)} on were measured. Mode auto takes at most {USUAL:.2f} of the time "
             f"of the better choice in **{100 * share:.1f} %** of them (target: {100 * SHARE:.0f} %), "
             f"and at most {WORST:.2f} in all but **{len(worst)}**. Geometric means of the speed-up "
             f"over Open MPI's default: {gain_line(judged)}.", ""]
    lines += [f"* {cell.name()}: {cell.regret:.2f}"
              for cell in sorted(usual, key=lambda cell: -cell.regret)]
    return [*lines, ""]


def setup_row(setup, found):
    """Speed-up over the default, and regret."""
    mine = [cell for cell in found if cell.setup is setup]
    servers = f" + {setup['servers']}" if setup["servers"] else ""
    return [f"{setup['hosts']} × {setup['per_host']}{servers}", setup["rate"],
            *(f"{cell.gain:.2f} ({cell.regret:.2f})" for cell in mine)]


def section(measured):
    """Markdown."""
    found = cells(measured)
    if not found:
        return ["Nothing was measured.", ""]
    lines = summary(found)
    head = ["hosts × ranks + servers", "Mbit/s", *map(text.size, SIZES)]
    for kind in dict.fromkeys(setup["collective"] for setup in measured["setups"]):
        rows = [setup_row(setup, found) for setup in measured["setups"]
                if setup["collective"] == kind]
        lines += [f"## {kind}", "", "How many times as fast as Open MPI's default; in brackets its time as "
                  "a part of that of the better of default and mode always.", "",
                  *text.table(head, rows), ""]
    commits = sorted({setup["commit"] or "?" for setup in measured["setups"]})
    return [*lines, f"Commits: {', '.join(commits)}; at least "
            f"{fewest_launches(measured)} launches of each.", ""]
