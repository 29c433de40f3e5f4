# SPDX-License-Identifier: BSD-3-Clause
"""Owns the experiment about defaults: kinds of pages, and ways to wait, on this host."""
import json
import os
import resource
import statistics
import subprocess

from lib import contestants, launch, paths, places, text
from lib.cluster import PlaceError

NAME = "settings"
# In a result file, where "settings" are those of a run.
KEY = "defaults"
RANKS = (2, 4)
SIZES = (8, 4096)
POLLING = ("adaptive", "busy")
ITERATIONS = 2000
QUICK_ITERATIONS = 200
# Of one launch; busy ranks on few processors take long.
MOST_SECONDS = 120


def measure_pages(rounds):
    """What the program has measured."""
    path = paths.WORK / "pages.json"
    path.unlink(missing_ok=True)
    command = [str(paths.PAGES), "--rounds", str(rounds), "--json", str(path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=600)
    if done.returncode:
        raise PlaceError(f"huge pages were not measured: {done.stderr.strip()}")
    return json.loads(path.read_text(encoding="utf-8"))


class Server:
    """An optcast-server on a free port, for one launch."""

    def __init__(self, polling):
        self.process = subprocess.Popen(
            [str(paths.SERVER), "--listen", "127.0.0.1:0", "--polling", polling,
             "--log-level", "error"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().rpartition(" on ")[2].strip()
        if not self.address:
            self.close()
            raise PlaceError("the server did not start")

    def close(self):
        """Ends it; its processor seconds are those of a child from then on."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def used():
    """Processor seconds of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def launch_once(place, ranks, server_polling, polling, size, iterations):
    """{"seconds": median of an operation, "used": processor seconds of server and ranks}."""
    before = used()
    server = Server(server_polling)
    try:
        command = [place.mpirun, "--oversubscribe", "-np", str(ranks), "--bind-to", "none",
                   *contestants.of_component(paths.COMPONENT, servers=server.address,
                                             settings=("multicast=off", "connect_timeout=20",
                                                       f"polling={polling}")),
                   str(paths.PERF["openmpi"]), "allreduce", "-b", str(size), "-e", str(size),
                   "-n", str(iterations), "-w", str(iterations // 10), "--interface", "none"]
        outcome = launch.launch(command, paths.WORK, place.environment, MOST_SECONDS)
    finally:
        server.close()
    if outcome.numbers is None or outcome.numbers["rows"][0]["offloaded"] == 0:
        return {"seconds": None, "used": None, "error": outcome.error or "not offloaded"}
    return {"seconds": outcome.numbers["rows"][0]["median_s"], "used": used() - before}


def measure_polling(rounds, quick):
    """[{ranks, bytes, server, ranks_wait, launches}], with launches in turns."""
    place = places.Local()
    iterations = QUICK_ITERATIONS if quick else ITERATIONS
    rows = [{"ranks": ranks, "bytes": size, "server": server, "wait": wait, "launches": []}
            for ranks in RANKS for size in SIZES for server in POLLING for wait in POLLING]
    for _ in range(rounds):
        for row in rows:
            row["launches"].append(launch_once(place, row["ranks"], row["server"], row["wait"],
                                               row["bytes"], iterations))
    return rows


def measure(options, rounds):
    """Both."""
    return {"processors": os.cpu_count(), "nodes": count_nodes(), "rounds": rounds,
            "pages": measure_pages(max(rounds, 9)),
            "polling": measure_polling(rounds, options.quick)}


def count_nodes():
    """Of NUMA."""
    try:
        names = os.listdir("/sys/devices/system/node")
    except OSError:
        return 1
    return max(1, len([name for name in names if name[:4] == "node" and name[4:].isdigit()]))


def median_cell(values, show):
    """Median (min–max)."""
    return f"{show(statistics.median(values))} ({show(min(values))}–{show(max(values))})"


def pages_table(pages):
    """A line for each kind."""
    lines = [[f"`{kind['name']}`", f"{statistics.median(kind['faults']):.0f}",
              median_cell(kind["touch_s"], text.seconds),
              median_cell(kind["gbytes_s"], text.digits)] for kind in pages["kinds"]]
    return text.table(["pages", "faults", "first touch", "GB/s reduced"], lines)


def polling_table(rows):
    """A line for each way."""
    lines = []
    for row in rows:
        good = [one for one in row["launches"] if one["seconds"] is not None]
        cells = ["—", "—"]
        if good:
            cells = [median_cell([one["seconds"] for one in good], text.seconds),
                     f"{text.digits(statistics.median(one['used'] for one in good))} s"]
        lines.append([row["ranks"], text.size(row["bytes"]), f"`{row['server']}`",
                      f"`{row['wait']}`", *cells, len(good)])
    return text.table(["ranks", "size", "server", "ranks wait", "time", "used",
                       "launches"], lines)


def section(measured):
    """Markdown."""
    pages = measured["pages"]
    size = pages["pieces"] * pages["piece_bytes"] >> 20
    nodes = "one NUMA node" if measured["nodes"] == 1 else f"{measured['nodes']} NUMA nodes"
    known = ("" if measured["nodes"] > 1 else
             ", so that **nothing can be said about `bind`** here")
    return [f"This machine has {measured['processors']} processors and {nodes}{known}. Medians "
            "(min–max).", "",
            "## Huge pages", "",
            f"{size} MiB in pieces of {pages['piece_bytes'] >> 20} MiB, each of which is "
            f"{pages['inputs']} inputs. Without pages that are set aside, `reserved` falls back.",
            "", *pages_table(pages), "",
            "## Polling", "",
            "Small Allreduces with one server, all on this host. Ranks and server share its "
            "processors; where they are more, busy ones take turns with the system's time slices. "
            "*Used*: what server and ranks took of the processors in a launch, which includes its "
            "start.", "",
            *polling_table(measured["polling"]), ""]
