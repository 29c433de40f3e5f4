# SPDX-License-Identifier: BSD-3-Clause
"""Owns the first tables of the page: what users gain, at the largest size of each setup."""
from lib import limits, plot, regret, results, text, training

# Experiments with the default settings of their collective.
EXPERIMENTS = ("allreduce-hosts", "line-rate", "hybrid", "reduce-scatter-hosts", "reduce-hosts", "allgather-hosts",
               "bcast-hosts", "pair", "smoke")
# Setups of an experiment that are in the table, if not all of them: with the switch that two at once need, and with peers.
CHOSEN = {"pair": ("8+8", "4+4", "8", "8+8-allreduce+allgather")}
# Setups whose plots are on the page.
PICTURES = (("allreduce-hosts", "4+4"), ("allgather-hosts", "8"), ("bcast-hosts", "8"))
OURS = ("optcast", "embedded")


def title_of(collective):
    """Of one, or of two at once."""
    names = limits.PAIR.get(collective, collective).split("+")
    return " and ".join(name.capitalize() for name in names) + (" at once" if len(names) > 1 else "")


def where(name, folder, setup, size):
    """The first cells of a line."""
    return [f"[{title_of(setup['collective'])}]({folder}/{name}.md)", setup["hosts"], setup["servers"], setup["rate"],
            text.size(size)]


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
    return [*where(name, folder, setup, size), text.seconds(ours.median),
            f"{100 * ours.limit / ours.median:.0f} %", against(results.default_of(rows, size), ""),
            against(best, f", {best.contestant['label']}" if best else "")]


def is_sound(result):
    """Enough of it was measured to claim something."""
    return not result["quick"] and result["launches"] >= results.ENOUGH_LAUNCHES


def is_chosen(result, setup):
    """A setup of an experiment that is in the table."""
    return setup["name"] in CHOSEN.get(result["experiment"], (setup["name"],))


def setups_of(found, names=EXPERIMENTS):
    """(name of the result, setup, rows) of what may be in a table."""
    for name, result in found:
        if result["experiment"] in names and is_sound(result):
            for setup in (setup for setup in result["setups"] if is_chosen(result, setup)):
                rows = results.rows_of(setup)
                if rows and setup["rate"] and setup["check_passed"]:
                    yield name, setup, rows


def table(found, folder):
    """Markdown, or nothing if nothing can be claimed."""
    lines = [cells(name, folder, setup, rows) for name, setup, rows in setups_of(found)]
    lines = [line for line in lines if line]
    if not lines:
        return []
    return ["The times are those of one operation, or of two at once. In brackets, the time as a multiple of Optcast's.", "",
            *text.table(["collective", "hosts", "servers", "Mbit/s", "size", "Optcast",
                         "of the link", "Open MPI by default", "best peer"], lines), ""]


def hidden_cells(name, folder, setup, rows):
    """A line of what overlaps with the program; None if not all of it was offloaded."""
    size = max(row.size for row in rows)
    by_name = {row.contestant["name"]: row for row in rows if row.size == size and row.hidden}
    ours = next((by_name[name] for name in OURS if name in by_name), None)
    if not ours or ours.offloaded != ours.operations:
        return None
    peers = [by_name.get(name) for name in ("nonblocking", "mpich-nonblocking")]
    return [*where(name, folder, setup, size), text.seconds(ours.own),
            *(f"{100 * row.hidden[0]:.1f} %" if row else "—" for row in (ours, *peers))]


def overlap(found, folder):
    """How much of a nonblocking operation programs do not wait for, if it was measured."""
    lines = [hidden_cells(name, folder, setup, rows) for name, setup, rows in setups_of(found, ("overlap",))]
    lines = [line for line in lines if line]
    if not lines:
        return []
    return ["Nonblocking, with a program that is outside MPI for a second: how much of an operation's own time that hides.", "",
            *text.table(["collective", "hosts", "servers", "Mbit/s", "size", "Optcast's own time", "hidden by Optcast",
                         "by Open MPI (libnbc)", "by MPICH"], lines), ""]


def trained(found, folder):
    """What a program gains that shards its training, if it was measured."""
    lines = [line for name, result in found if training.KEY in result and is_sound(result)
             for line in training.summary(result[training.KEY], f"{folder}/{name}.md")]
    if not lines:
        return []
    return ["A step of training with sharded parameters, and what communication adds to it. In brackets, the step as a multiple "
            "of Optcast's.", "",
            *text.table(["program", "hosts", "servers", "Mbit/s", "Optcast", "exposed communication", "Open MPI by default",
                         "exposed communication"], lines), ""]


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
    return [*table(found, folder), *overlap(found, folder), *trained(found, folder), *auto(found), *shown]
