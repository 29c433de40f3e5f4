# SPDX-License-Identifier: BSD-3-Clause
"""Owns the first table of the page: what users gain, at the largest size of each setup."""
from lib import plot, regret, results, text

# Experiments with the default settings of their collective.
EXPERIMENTS = ("allreduce-hosts", "line-rate", "hybrid", "reduce-scatter-hosts", "reduce-hosts", "allgather-hosts",
               "bcast-hosts", "smoke")
# Setups whose plots are on the page.
PICTURES = (("allreduce-hosts", "4+4"), ("allgather-hosts", "8"), ("bcast-hosts", "8"))
OURS = ("optcast", "embedded")


def cells(name, folder, setup, rows):
    """A line for ours, with what it is compared with; None if not all of it was offloaded."""
    size = max(row.size for row in rows)
    ours = next((row for row in rows if row.size == size and row.contestant["name"] in OURS
                 and row.offloaded == row.operations), None)
    if not ours:
        return None

    def against(other, label):
        return f"{text.seconds(other.median)} ({text.ratio(other.median / ours.median)} ×{label})" \
            if other else "—"

    best = results.best_peer(rows, size)
    return [f"[{setup['collective'].capitalize()}]({folder}/{name}.md)", setup["hosts"],
            setup["servers"], setup["rate"], text.size(size), text.seconds(ours.median),
            f"{100 * ours.limit / ours.median:.0f} %", against(results.default_of(rows, size), ""),
            against(best, f", {best.contestant['label']}" if best else "")]


def is_sound(result):
    """Enough of it was measured to claim something."""
    return not result["quick"] and result["launches"] >= results.ENOUGH_LAUNCHES


def setups_of(found):
    """(name of the result, setup, rows) of what may be in the table."""
    for name, result in found:
        if result["experiment"] in EXPERIMENTS and is_sound(result):
            for setup in result["setups"]:
                rows = results.rows_of(setup)
                if rows and setup["rate"] and setup["check_passed"]:
                    yield name, setup, rows


def table(found, folder):
    """Markdown, or nothing if nothing can be claimed."""
    lines = [cells(name, folder, setup, rows) for name, setup, rows in setups_of(found)]
    lines = [line for line in lines if line]
    if not lines:
        return []
    return ["The times are those of one operation. In brackets, the time as a multiple of Optcast's.", "",
            *text.table(["collective", "hosts", "servers", "Mbit/s", "size", "Optcast",
                         "of the link", "Open MPI by default", "best peer"], lines), ""]


def auto(found):
    """What mode auto gains, if it was measured."""
    for name, result in found:
        if regret.KEY in result and regret.cells(result[regret.KEY]):
            measured = result[regret.KEY]
            return ["Mode `auto` chooses between Optcast and Open MPI for each operation "
                    f"({regret.fewest_launches(measured)} launches of each):", "",
                    regret.summary(regret.cells(measured))[0], ""]
    return []


def pictures(found, folder):
    """Bandwidth over size, of the setups that show most."""
    return [f"![{setup['title']}: bandwidth over size]({folder}/"
            f"{plot.file_name(name, setup, 'bandwidth')})"
            for name, result in found for setup in result["setups"]
            if (name, setup["name"]) in PICTURES and "bandwidth" in plot.kinds(setup)]


def section(found, folder, plots):
    """All of it, as Markdown."""
    shown = pictures(found, folder) if plots else []
    return [*table(found, folder), *auto(found), *shown]
