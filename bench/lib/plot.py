# SPDX-License-Identifier: BSD-3-Clause
"""Owns the plots: time and bandwidth over size, with limits, as SVG by gnuplot."""
import itertools
import shutil
import subprocess

from lib import limits, results, text

KINDS = ("time", "bandwidth")
OURS = ("#c00000", "#ff8000", "#f5b800", "#8b0000", "#d05ce3", "#7a4a00")
PEERS = ("#0060ad", "#00a0a0", "#6a3d9a", "#33a02c", "#8c564b", "#e377c2", "#17becf", "#7f7f00")
SCHEMES = {"servers": "limit with servers", "peers": "limit without servers"}
HEAD = """set terminal svg size 760,440 noenhanced font 'sans-serif,12' background '#ffffff'
set key outside right top reverse Left
set grid lc rgb '#dddddd'
set logscale x 2
set xlabel 'size'
"""
AXES = {"time": "set logscale y 10\nset format y '%.0s %cs'\nset ylabel 'time'\n",
        "bandwidth": "set ylabel 'algorithm bandwidth, Mbit/s'\nset yrange [0:*]\n"
                     "set offsets graph 0, 0, 0.05, 0\n"}


def file_name(name, setup, what):
    """Of a plot, in the folder of plots."""
    return f"{name}-{setup['name'].replace('+', '-')}-{what}.svg"


def kinds(setup):
    """Which plots there are: a line needs two points, and latency is no bandwidth."""
    if len({row["bytes"] for row in setup["rows"]}) < 2:
        return ()
    return KINDS[:1] if setup["latency"] else KINDS


def point(what, row):
    """Size, value, and its range over launches."""
    values = (row.median, row.least, row.most)
    if what == "bandwidth":
        values = tuple(row.volume * 8 / value / 1e6 for value in (row.median, row.most, row.least))
    return " ".join(f"{value:.9g}" for value in (row.size, *values))


def limit_lines(what, setup, rows):
    """gnuplot functions of the limits that apply to someone."""
    lines = []
    used = {row.contestant["scheme"] for row in rows if not setup["latency"]}
    for scheme, title in SCHEMES.items():
        known = limits.limit(scheme, setup, 1) if scheme in used else None
        if known:
            value = f"{known:.9g}*x" if what == "time" else f"{8 * setup.get('stream', 1) / known / 1e6:.9g}"
            lines.append(f"{value} title '{title}' with lines dt 2 lw 1.5 "
                         f"lc rgb '{'#000000' if scheme == 'servers' else '#888888'}'")
    return lines


def script(what, setup, path):
    """What gnuplot is told."""
    rows = results.rows_of(setup)
    names = list(dict.fromkeys(row.contestant["name"] for row in rows))
    data, lines = "", limit_lines(what, setup, rows)
    colors = {True: itertools.cycle(OURS), False: itertools.cycle(PEERS)}
    for index, name in enumerate(names):
        own = [row for row in rows if row.contestant["name"] == name]
        ours = own[0].contestant["kind"] == "ours"
        data += f"$d{index} << END\n" + "\n".join(point(what, row) for row in own) + "\nEND\n"
        title = own[0].label.replace("**", "").replace("'", "")
        lines.append(f"$d{index} using 1:2:3:4 title '{title}' with yerrorlines "
                     f"lw {3 if ours else 1.5} pt 7 ps 0.5 lc rgb '{next(colors[ours])}'")
    tics = ", ".join(f"'{text.size(size)}' {size}" for size in sorted({row.size for row in rows}))
    return (f"{HEAD}{AXES[what]}set xtics rotate by -45 ({tics})\n"
            f"set output '{path}'\n{data}plot {', '.join(lines)}\n")


def begin(folder):
    """Removes the plots of results that may be gone. Returns why there will be none, or "" """
    if not shutil.which("gnuplot"):
        return "no plots: gnuplot is not installed (Debian: gnuplot-nox)"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    return ""


def draw_all(folder, name, result):
    """Plots of all setups of a result. Returns what went wrong, or "" """
    for setup in result["setups"]:
        for what in kinds(setup):
            path = folder / file_name(name, setup, what)
            done = subprocess.run(["gnuplot", "-"], input=script(what, setup, path), text=True,
                                  capture_output=True, check=False)
            if done.returncode:
                return f"gnuplot cannot make {path}: {done.stderr.strip()}"
    return ""
