# SPDX-License-Identifier: BSD-3-Clause
"""Owns the result files, and what is computed from them: medians, best peers, differences."""
import json
import os
import statistics
from dataclasses import dataclass

from lib import experiments, limits

FORMAT = 1
# Smaller differences are not claimed.
SIGNIFICANT = 0.10
# With fewer, the page says that nothing is claimed.
ENOUGH_LAUNCHES = 5
# Characters of a result file's.
LINE = 160


@dataclass
class Row:
    """One contestant at one size. Times are in seconds, of an iteration, which has several operations in a stream; bytes
    are those of one operation."""
    contestant: dict
    size: int
    median: float
    least: float
    most: float
    launches: int
    limit: float        # of its scheme; None without links
    offloaded: int      # in all launches; None if the component was not loaded
    operations: int
    wire: dict          # sent, received, server_sent, server_received; or None
    previous: tuple = None  # without the component, in turns: median of the times, and median,
                            # lowest and highest ratio of a launch
    processor: float = None # seconds of all ranks; None if it was not measured
    own: float = None       # seconds of an operation that is waited for at once; None if nothing was between
    hidden: tuple = ()      # part of that which was not waited for, 0 to 1: median, lowest and highest of a launch
    alone: float = None     # seconds of what the program computes, without an operation; None if it does not
    slowdown: tuple = ()    # what it takes longer beside one, 0.1 for a tenth: median, lowest and highest of a launch
    threads: float = None   # seconds of all threads but those that call MPI, of all ranks
    beyond: tuple = ()      # slowdown without the part that these threads' time on a host explains; as slowdown
    wakes: float = None     # of the thread that moves operations on, an operation, on the rank with the most; or None
    link: float = None      # bytes per second that came over the link of a host, with those of streams; or None
    stream: int = 1         # operations of an iteration that are started before the first one is waited for

    @property
    def volume(self):
        """Bytes of the vectors of an iteration; of two operations at once, of one."""
        return self.size * self.stream

    @property
    def label(self):
        """With a word where ours was not used."""
        if self.contestant["kind"] == "ours" and not self.offloaded:
            return f"{self.contestant['label']} (**not offloaded**)"
        return self.contestant["label"]


def wire_mean(launches):
    """Median over launches of each counter; None if any is missing."""
    wires = [launch["wire"] for launch in launches if launch["wire"]]
    if not wires:
        return None
    return {key: None if any(wire[key] is None for wire in wires)
            else statistics.median(wire[key] for wire in wires) for key in wires[0]}


def median_of(launches, name):
    """Over launches, or None."""
    values = [launch[name] for launch in launches if launch.get(name) is not None]
    return statistics.median(values) if values else None


def previous_of(launches):
    """(time, ratio, lowest ratio, highest ratio), or None; above 1 the component is faster."""
    both = [(statistics.median(launch["previous"]), statistics.median(launch["seconds"]))
            for launch in launches if launch.get("previous")]
    if not both:
        return None
    ratios = [previous / own for previous, own in both]
    return (statistics.median(previous for previous, _ in both), statistics.median(ratios),
            min(ratios), max(ratios))


def faster_from(rows):
    """Of one contestant, by size: from which one on every launch is faster than without the
    component, or None."""
    first = None
    for row in rows:
        if row.previous[2] <= 1:
            first = None
        elif first is None:
            first = row.size
    return first


def slower_at(rows):
    """The sizes of one contestant at which every launch is slower than without the component, and
    by more than these measurements can be wrong."""
    return [row.size for row in rows
            if row.previous[3] < 1 and row.previous[1] <= 1 - SIGNIFICANT]


def wakes_of(launches):
    """Of one operation; None if nobody counted."""
    counts = [launch["wakes"] / launch["operations"] for launch in launches if launch.get("wakes") is not None]
    return statistics.median(counts) if counts else None


def range_of(launches, name):
    """(median, lowest, highest) over launches, or () if it was not measured."""
    parts = [launch[name] for launch in launches if launch.get(name) is not None]
    return (statistics.median(parts), min(parts), max(parts)) if parts else ()


def beyond_of(launch, hosts):
    """What a program that computes is slowed down by more than by the time of the other threads of its host; or None."""
    if launch.get("slowdown") is None:
        return None
    return launch["slowdown"] - launch["threads"] / hosts / launch["alone"]


def make_row(setup, contestant, size, launches):
    """From the launches of a result file."""
    launches = [{**launch, "beyond": beyond_of(launch, setup["hosts"])} for launch in launches]
    medians = [statistics.median(launch["seconds"]) for launch in launches]
    counts = [launch["offloaded"] for launch in launches]
    return Row(contestant, size, statistics.median(medians), min(medians), max(medians),
               len(launches), limits.limit(contestant["scheme"], setup, size),
               None if None in counts else sum(counts),
               sum(launch["operations"] for launch in launches), wire_mean(launches),
               previous_of(launches), median_of(launches, "processor"),
               median_of(launches, "own"), range_of(launches, "hidden"), median_of(launches, "alone"),
               range_of(launches, "slowdown"), median_of(launches, "threads"),
               range_of(launches, "beyond"), wakes_of(launches), median_of(launches, "link"), setup.get("stream", 1))


def rows_of(setup):
    """[Row] of a setup, by size, then in the order of its contestants."""
    known = {c["name"]: (i, c) for i, c in enumerate(setup["contestants"])}
    found = [(row["bytes"], *known[row["contestant"]], row["launches"]) for row in setup["rows"]]
    found.sort(key=lambda row: row[:2])
    return [make_row(setup, contestant, size, launches)
            for size, _, contestant, launches in found if launches]


def best_peer(rows, size):
    """The fastest peer of that size, or None."""
    peers = [row for row in rows if row.size == size and row.contestant["kind"] == "peer"]
    return min(peers, key=lambda row: row.median, default=None)


def default_of(rows, size):
    """Open MPI with nothing set, or None if it was not measured."""
    return next((row for row in rows if row.size == size
                 and row.contestant["name"] == "default"), None)


def reference(setup, rows, size):
    """Whom the others of that size are compared with, or None."""
    if not setup.get("baseline"):
        return best_peer(rows, size)
    return next((row for row in rows if row.size == size
                 and row.contestant["name"] == setup["baseline"]), None)


def differs(one, other):
    """True if two rows differ by more than these measurements can be wrong."""
    apart = one.most < other.least or other.most < one.least
    return apart and abs(other.median / one.median - 1) >= SIGNIFICANT


def five_numbers(times):
    """Least, lower quartile, median, upper quartile and most, if there are more than five."""
    if len(times) <= 5:
        return times
    quartiles = statistics.quantiles(times, n=4, method="inclusive")
    return [float(f"{time:.6g}") for time in (min(times), *quartiles, max(times))]


def reduced(result):
    """A copy that has five numbers in place of the times of all operations of a launch. What is
    computed from it is the same."""
    def launch_of(launch):
        short = {key: five_numbers(launch[key]) for key in ("seconds", "previous") if key in launch}
        return {**launch, **short}

    def row_of(row):
        return {**row, "launches": [launch_of(launch) for launch in row["launches"]]}

    return {**result, "setups": [{**setup, "rows": [row_of(row) for row in setup["rows"]]}
                                 for setup in result["setups"]]}


def to_text(value, indent=0):
    """JSON; what fits into a line is on one."""
    flat = json.dumps(value)
    if len(flat) + indent <= LINE or not isinstance(value, (dict, list)):
        return flat
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {to_text(one, indent + 1)}" for key, one in value.items()]
        begin, end = "{}"
    else:
        items = [to_text(one, indent + 1) for one in value]
        begin, end = "[]"
    return begin + "\n" + ",\n".join(inner + item for item in items) + "\n" + " " * indent + end


def save(path, result):
    """As JSON; the file is whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(f".{os.getpid()}")
    beside.write_text(to_text(result) + "\n", encoding="utf-8")
    os.replace(beside, path)


def load_all(folder):
    """Results in the order of a report; a quick one only if there is no full one."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        if result.get("format") != FORMAT:
            raise ValueError(f"{path} has another format: measure it again, or remove it")
        found[path.stem] = result
    kept = {name: result for name, result in found.items()
            if not (result["quick"] and name.removesuffix("-quick") in found
                    and name.endswith("-quick"))}
    return sorted(kept.items(),
                  key=lambda item: (experiments.order(item[1]["experiment"]), item[0]))
