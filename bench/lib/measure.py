# SPDX-License-Identifier: BSD-3-Clause
"""Owns the order of launches in a setup: verify all, then launch in turns; what is kept."""
import re
import statistics
from dataclasses import dataclass

from lib import build, contestants, limits, paths, text
from lib.launch import launch

LATENCY_ITERATIONS = 300
# Of the iterations of a launch; where they take longer, two have to do.
MOST_SECONDS = 4

# Each rank on a processor of its own, whatever it takes for its host.
PINNED = ["bash", "-c", 'exec taskset -c "$OMPI_COMM_WORLD_RANK" "$@"', "bash"]


class MeasureError(Exception):
    """A result was wrong, or ours cannot be measured."""


@dataclass(frozen=True)
class Effort:
    """How much is done."""
    launches: int = 5
    budget: float = 1.0         # seconds that the iterations of a launch should take
    least: int = 3
    most: int = 100
    time_limit: int = 120       # seconds that a launch may take

    @staticmethod
    def quick():
        """For trying it out."""
        return Effort(launches=2, budget=0.5, least=2, most=50, time_limit=60)

    def iterations(self, estimate):
        """(timed, warm-up) iterations of an operation that takes ESTIMATE seconds."""
        count = int(self.budget / max(estimate, 1e-9))
        least = self.least if estimate * self.least < MOST_SECONDS else 2
        count = max(least, min(count, self.most))
        # the first one sets up, and the second is slower than later ones where it was
        return count, max(2, count // 10)


def counted_between(counters):
    """{host: (sent, received)} between two readings of the counters of links."""
    before, after = counters
    return {host: tuple(b - a for a, b in zip(before[host], after[host])) for host in after}


def less(counted, more):
    """The difference of two results of counted_between."""
    return {host: tuple(a - b for a, b in zip(counted[host], more[host])) for host in counted}


def wire_of_counters(counted, setup, operations):
    """Bytes of one operation: means over hosts with ranks and over hosts with servers."""
    def mean(hosts, way):
        return statistics.mean(counted[host][way] for host in hosts) / operations if hosts else None
    ranks = [f"h{k}" for k in range(1, setup.hosts + 1)]
    servers = [f"h{k}" for k in range(setup.hosts + 1, setup.hosts + setup.servers + 1)]
    return {"sent": mean(ranks, 0), "received": mean(ranks, 1),
            "server_sent": mean(servers, 0), "server_received": mean(servers, 1)}


def wire_of_row(row):
    """The same from the counters that optcast-perf reads; it knows nothing of servers."""
    wire = row["wire"]
    if not wire:
        return None
    return {"sent": wire["tx_sum"] / wire["hosts"], "received": wire["rx_sum"] / wire["hosts"],
            "server_sent": None, "server_received": None}


def rate_of_link(row, stream):
    """Bytes per second that came over the link of a host, whoever sent them; None if nobody counted. They are counted
    in further operations, after those that are timed; STREAM is how many of these take the time of an iteration."""
    wire = wire_of_row(row)
    return wire and wire["received"] * stream / statistics.mean(row["seconds"])


def keep_row(row, numbers, wire, link=None):
    """What a result file has of one size in one launch."""
    at_once = 2 if limits.is_pair(numbers.get("collective", "")) else numbers.get("stream", 1)
    kept = {"seconds": row["seconds"], "offloaded": row["offloaded"],
            "fallbacks": row["fallbacks"], "operations": numbers["iterations"] * at_once,
            "processor": row.get("processor_s"), "wakes": row.get("helper_wakes"), "wire": wire}
    if link is not None:
        kept["link"] = link
    if row.get("hidden") is not None:
        kept |= {"own": row["own_median_s"], "hidden": row["hidden"]}
    if row.get("slowdown") is not None:
        kept |= {"alone": row["alone_median_s"], "slowdown": row["slowdown"], "threads": row["threads_s"]}
    if row.get("previous"):
        kept["previous"] = row["previous"]["seconds"]
    return kept


class Runner:
    """Measures one setup at one place."""

    def __init__(self, setup, place, effort, tell):
        self.setup, self.place, self.effort, self.tell = setup, place, effort, tell
        self.contestants = [contestants.find(setup.collective, name) for name in setup.contestants]
        self.absent = {}        # name: why it was not measured
        self.errors = {}        # name: [what went wrong in a launch]
        self.estimates = {}     # (name, size): seconds
        self.commands = {}      # name: as a person would type it
        self.rows = {}          # (name, size): [of each launch]
        self.mpi = {}           # name: version, as the library says
        self.counted = None     # counters of the links after the last launch
        self.first = {}         # (name, size): bytes of a launch with one iteration

    def arguments(self, contestant, sizes, iterations, warmup, more=()):
        """Those of optcast-perf."""
        factor = sizes[1] // sizes[0] if len(sizes) > 1 else 2
        counted = self.setup.rate and (contestant.streams or not self.place.exact_counters)
        exact = [] if counted else ["--interface", "none"]
        if self.setup.first is not None:
            exact += ["--first", str(self.setup.first)]
        if self.setup.overlap:
            exact += ["--overlap", str(self.setup.overlap)]
        if self.setup.compute:
            exact += ["--compute"]
        if self.setup.stream > 1:
            exact += ["--stream", str(self.setup.stream)]
        data = ["-b", str(sizes[0]), "-e", str(sizes[-1]), "-f", str(factor)] if sizes[-1] else []
        pinned = PINNED if self.setup.compute else []
        return [*pinned, str(paths.PERF[contestant.mpi]), self.setup.collective, *data, "-n", str(iterations),
                "-w", str(warmup), *exact, *contestant.program, *more]

    def start(self, contestant, program, more=()):
        """One launch, and the counters of links before and after it, or None.

        The cluster is made anew if something of the launch may remain.
        """
        command = [*self.place.command(contestant, self.setup), *more, *program]
        self.place.arrange(contestant, self.setup)
        # nothing is sent between launches
        before = self.counted or self.place.counters()
        outcome = launch(command, paths.WORK, self.place.environment, self.effort.time_limit)
        self.counted = self.place.counters()
        counters = (before, self.counted) if before else None
        if not outcome.ended:
            self.place.renew(self.setup)
            self.counted = None
        return outcome, counters

    def verify(self):
        """Every contestant once, with all elements checked. Also tells how long things take."""
        present = []
        for contestant in self.contestants:
            why = build.absence(contestant) or self.verify_one(contestant)
            if why:
                self.absent[contestant.name] = why
                self.tell.line(f"{self.setup.name} {contestant.label}: left out: {why}")
            else:
                present.append(contestant)
        self.contestants = present

    def verify_one(self, contestant):
        """Why it cannot be measured; "" if it can. Wrong results are an error."""
        proof, pattern = contestant.proof or ((), "")
        check = ("--check",) if self.setup.sizes[-1] else ()    # a Barrier has no result
        program = self.arguments(contestant, self.setup.sizes, 1, 1, check)
        self.commands[contestant.name] = paths.anonymous(
            [*self.place.command(contestant, self.setup),
             *self.arguments(contestant, self.setup.sizes, "N", "W")])
        self.tell.progress(f"{self.setup.name} {contestant.label}: verifying")
        outcome, _ = self.start(contestant, program, proof)
        self.tell.line(f"{self.setup.name} {contestant.label}: verifying took "
                       f"{outcome.seconds:.1f} s {outcome.error}")
        if outcome.numbers is None:
            if contestant.kind == "ours":
                raise MeasureError(f"{contestant.label} cannot be launched: {outcome.error}\n"
                                   f"{outcome.output}")
            return outcome.error
        wrong = [row["bytes"] for row in outcome.numbers["rows"] if row["wrong"]]
        if wrong:
            raise MeasureError(f"{contestant.label} gave wrong results at {wrong} bytes: "
                               f"{outcome.error}")
        if not re.search(pattern, outcome.output):
            return "Open MPI did not use it"
        self.mpi[contestant.name] = outcome.numbers["mpi"]
        # a size may have been rounded down, to a multiple of the ranks
        for size, row in zip(self.setup.sizes, outcome.numbers["rows"]):
            self.estimates[contestant.name, size] = row["min_s"]
        return ""

    def calls(self, contestant):
        """[(sizes, iterations, warm-up)] of the launches of one turn."""
        if self.setup.latency:
            count = min(LATENCY_ITERATIONS, self.effort.most * 3)
            return [(self.setup.sizes, count, count // 10)]
        return [((size,), *self.effort.iterations(self.estimates[contestant.name, size]))
                for size in self.setup.sizes]

    def measure(self):
        """All launches, in turns."""
        self.verify()
        if self.setup.operations_only:
            for contestant in self.contestants:
                for size in self.setup.sizes:
                    self.measure_first(contestant, size)
        todo = [(turn, contestant, call) for turn in range(self.effort.launches)
                for index in range(len(self.setup.sizes) if not self.setup.latency else 1)
                for contestant in self.contestants
                for call in [self.calls(contestant)[index]]]
        for done, (turn, contestant, call) in enumerate(todo):
            self.tell.progress(f"{self.setup.name} {done + 1}/{len(todo)}: launch {turn + 1}, "
                               f"{text.size(call[0][-1])}, {contestant.label}")
            self.measure_once(turn, contestant, *call)

    def wire(self, counters, which, iterations):
        """Bytes of one operation of a launch with so many iterations; WHICH is of whom, and of what size. None: nobody
        knows what else the launch has sent. Two operations at once are one here."""
        counted = counted_between(counters)
        if self.setup.operations_only:
            if which not in self.first:
                return None
            counted = less(counted, self.first[which])
            iterations -= 1
        return wire_of_counters(counted, self.setup, iterations * self.setup.stream)

    def measure_first(self, contestant, size):
        """A launch of one iteration, for what else launches send."""
        outcome, counters = self.start(contestant, self.arguments(contestant, (size,), 1, 0))
        self.tell.line(f"{self.setup.name} {contestant.label}, {text.size(size)}: one iteration {outcome.error}")
        if counters and outcome.numbers is not None and not outcome.error:
            self.first[contestant.name, size] = counted_between(counters)

    def measure_once(self, turn, contestant, sizes, iterations, warmup):
        """One launch, and a line of the log."""
        outcome, counters = self.start(
            contestant, self.arguments(contestant, sizes, iterations, warmup))
        name = f"{self.setup.name} launch {turn + 1} {contestant.label}, {text.size(sizes[-1])}"
        if outcome.error:
            self.errors.setdefault(contestant.name, []).append(outcome.error)
        if outcome.numbers is None:
            self.tell.line(f"{name}: {outcome.error}")
            return
        for row in outcome.numbers["rows"]:
            wire, link = wire_of_row(row), None
            if contestant.streams:
                wire, link = None, rate_of_link(row, self.setup.stream)  # nobody can tell whose bytes these are
            elif counters and len(sizes) == 1:
                wire = self.wire(counters, (contestant.name, sizes[0]), iterations + warmup)
            self.rows.setdefault((contestant.name, row["bytes"]), []).append(
                keep_row(row, outcome.numbers, wire, link))
        self.tell.line(f"{name}: {text.seconds(outcome.numbers['rows'][-1]['median_s'])}, "
                       f"{iterations} iterations, {outcome.seconds:.1f} s in all")

    def result(self):
        """What a result file has of this setup."""
        setup = self.setup
        described = []
        for name in setup.contestants:
            contestant = contestants.find(setup.collective, name)
            described.append({"name": name, "label": contestant.label, "kind": contestant.kind,
                              "scheme": contestant.scheme, "absent": self.absent.get(name),
                              "errors": self.errors.get(name, []), "mpi": self.mpi.get(name),
                              "nap": contestants.naps(contestant, setup) and bool(setup.rate),
                              "command": self.commands.get(name)})
        rows = [{"contestant": name, "bytes": size, "launches": launches}
                for (name, size), launches in sorted(self.rows.items(), key=lambda r: r[0][1])]
        return {"name": setup.name, "title": setup.title(), "collective": setup.collective,
                "hosts": setup.hosts, "servers": setup.servers, "tree": setup.tree,
                "rate": setup.rate, "per_host": setup.per_host, "nap": setup.nap,
                "latency": setup.latency, "shares": setup.shares, "processor": setup.processor,
                "first": setup.first, "overlap": setup.overlap,
                "compute": setup.compute, "stream": setup.stream, "baseline": setup.baseline,
                "contestants": described, "rows": rows}
