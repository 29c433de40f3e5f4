# SPDX-License-Identifier: BSD-3-Clause
"""Owns the search for source files that need each other in circles, by the symbols of their object files.

usage: circles.py BUILD

Tests are left out, and so are other builds in the folder.
"""
import collections
import pathlib
import re
import subprocess
import sys


def objects(build):
    """{source file, as in the tree: its object file}; of several objects of one source, one."""
    found = {}
    for path in sorted(build.rglob("*.o")):
        parts = [part for part in path.relative_to(build).parts if part != ".libs"]
        if parts[0] in ("tests", "openmpi5", "sanitizers", "threads", "fuzz"):
            continue
        name = re.sub(r"^.*-(?=[^-]+$)", "", parts[-1][:-2])
        found.setdefault("/".join([*parts[:-1], name + ".c"]), path)
    return found


def arrows(files):
    """{file: files that it needs}"""
    owners, needs = {}, collections.defaultdict(set)
    names = {str(path): name for name, path in files.items()}
    run = subprocess.run(["nm", "--extern-only", "--format=posix", "--print-file-name", *names], capture_output=True,
                         text=True, check=True)
    for line in run.stdout.splitlines():
        path, symbol, kind = line.split()[:3]
        name = names[path.rstrip(":")]
        if kind in "Uw":
            needs[name].add(symbol)
        else:
            owners.setdefault(symbol, name)
    return {name: {owners[symbol] for symbol in needs[name] if owners.get(symbol, name) != name} for name in files}


def circles(graph):
    """Sets of files that need each other: what is left when files without needs go, and files that nobody needs."""
    rest, before = dict(graph), None
    while before != len(rest):
        before = len(rest)
        named = {other for others in rest.values() for other in others}
        rest = {name: {other for other in others if other in rest} for name, others in rest.items()}
        rest = {name: others for name, others in rest.items() if others and name in named}
    found, seen = [], set()
    for name in sorted(rest):
        if name not in seen:
            group = reached(rest, name) & {other for other in rest if name in reached(rest, other)}
            seen |= group
            if group:
                found.append(sorted(group))
    return found


def reached(graph, start):
    """All that a file needs, and what these need, and so on."""
    found, queue = set(), collections.deque([start])
    while queue:
        for other in graph.get(queue.popleft(), ()):
            if other not in found:
                found.add(other)
                queue.append(other)
    return found


def main():
    """Says which circles there are, or how many files there are."""
    files = objects(pathlib.Path(sys.argv[1]))
    found = circles(arrows(files))
    for group in found:
        print("files that need each other in a circle: " + " ".join(group))
    if not found:
        print(f"{len(files)} files, and no circle")
    return 1 if found or not files else 0


sys.exit(main())
