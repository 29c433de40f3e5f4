# SPDX-License-Identifier: BSD-3-Clause
"""Owns what a result file says about machine and software, without naming the machine."""
import datetime
import os
import platform
import re
import subprocess

from lib import paths


def first_line(*command):
    """Of the output, or None if there is no such program."""
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
    except OSError:
        return None
    lines = said.stdout.splitlines()
    return lines[0].strip() if lines and not said.returncode else None


def version(line):
    """The number in a line such as "mpirun (Open MPI) 4.1.4"; None if there is none."""
    found = re.search(r"\d+\.\d+\S*", line or "")
    return found.group(0) if found else None


def cpu_model():
    """As Linux calls it."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"^model name\s*: (.*)$", file.read(), re.MULTILINE)
    return found.group(1) if found else platform.machine()


def changed():
    """Paths of sources that differ from the commit; none outside of git."""
    try:
        said = subprocess.run(["git", "-C", str(paths.REPO), "status", "--porcelain", "--", ".",
                               # what measuring itself writes does not count
                               ":!bench/results", ":!doc/performance.md", ":!doc/performance"],
                              capture_output=True, text=True, check=False)
    except OSError:
        return []
    return [line[3:] for line in said.stdout.splitlines()]


def commit():
    """Hash, with "dirty" if sources differ from it; None outside of git."""
    name = first_line("git", "-C", str(paths.REPO), "rev-parse", "--short=12", "HEAD")
    if not name:
        return None
    return f"{name} dirty" if changed() else name


def collect():
    """All of them, before anything is measured."""
    openmpi = first_line("mpirun.openmpi", "--version") or first_line("mpirun", "--version")
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "kernel": platform.release(), "cpu": cpu_model(),
            "cpus": len(os.sched_getaffinity(0)), "load_before": round(os.getloadavg()[0], 2),
            "openmpi": version(openmpi), "mpich": version(first_line("mpichversion")),
            "ucx": first_line("pkg-config", "--modversion", "ucx"), "commit": commit()}
