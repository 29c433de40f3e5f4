# SPDX-License-Identifier: BSD-3-Clause
"""Finds the tests. A test is a file with a line near its beginning, in a comment, such as one of

    Test: default 180
    Test: quick 30 -- --count 20; default 120 -- --count 100; threads: default 120 -- --few
    Test: default 60 alone parts; all 60 x20

Each clause says TIER SECONDS [alone] [parts] [xN] [-- ARGUMENT...]: the lowest tier that runs it
(quick, default or all), how long it may take, and with which arguments it is run; of several clauses
the one of the highest tier that is not above the chosen one counts. "alone": nothing runs beside it,
because it times something or needs the whole machine. "parts": "FILE --list" prints the names of its
parts, NAME or NAME:TIER, each of which is a test. "xN": N times, each in that time. A clause that begins with "SUITE:" is about another suite
that runs this test in a build of its own. There may be several such lines.
"""
import dataclasses
import os
import pathlib
import re
import subprocess

TIERS = ("quick", "default", "all")
# Folders of tests, and what a test in them is.
PROGRAMS = ("unit", "engine", "multicast", "simulation")  # test_NAME.c, which make check builds
SCRIPTS = ("tools", "model", "mpi", "apps", "cluster", "rdma", "neon")  # NAME.sh, or a .c with a Test line
FUZZERS = ("fuzz",)  # fuzz_NAME.c
# Suites that run tests of these folders in builds of their own, or with another MPI library.
DERIVED = ("sanitizers", "threads", "openmpi5", "mpich")
SUITES = PROGRAMS + SCRIPTS + FUZZERS + DERIVED
HEAD_LINES = 15


class CatalogueError(Exception):
    """A file that should say what test it is, and does not, or says nonsense."""


@dataclasses.dataclass(frozen=True)
class Clause:
    """What one clause of a Test line says."""

    suite: str  # "": the folder's own
    tier: str
    seconds: int
    alone: bool
    parts: bool
    times: int
    arguments: tuple


@dataclasses.dataclass(frozen=True)
class Test:
    """One test of a suite, to be run once."""

    suite: str
    name: str
    source: pathlib.Path
    seconds: int
    alone: bool
    times: int
    arguments: tuple

    @property
    def title(self):
        """How it is called in the output, and on the command line."""
        return f"{self.suite}/{self.name}"

    @property
    def folder(self):
        """The folder of tests that its source is in."""
        return self.source.parent.name


def parse_clause(text, where):
    """Parse one clause of a Test line; where is for the error message."""
    head, _, tail = f"{text.strip()} ".partition(" -- ")
    suite, colon, rest = head.strip().partition(":")
    words = (rest if colon else head).split()
    repetitions = [int(word[1:]) for word in words[2:] if re.fullmatch("x[1-9][0-9]*", word)]
    flags = [word for word in words[2:] if not re.fullmatch("x[1-9][0-9]*", word)]
    if (len(words) < 2 or words[0] not in TIERS or not words[1].isdigit()
            or not set(flags) <= {"alone", "parts"} or (colon and suite not in DERIVED)):
        raise CatalogueError(f"{where}: '{text.strip()}' is no [SUITE:] TIER SECONDS [alone] [parts] [xN] [-- ARGUMENT...]")
    return Clause(suite if colon else "", words[0], int(words[1]), "alone" in flags, "parts" in flags,
                  repetitions[0] if repetitions else 1, tuple(tail.split()))


def clauses_of(path):
    """The clauses of a file's Test lines; none if it has no such line."""
    clauses = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for _, line in zip(range(HEAD_LINES), file):
            found = re.match(r"\s*(?:#|/\*|\*)\s*Test:\s*(.*?)\s*(?:\*/)?\s*$", line)
            if found:
                clauses += [parse_clause(part, path) for part in found.group(1).split(";")]
    if len({(clause.suite, clause.tier) for clause in clauses}) < len(clauses):
        raise CatalogueError(f"{path}: two clauses of one suite and tier; each needs the name of its SUITE:")
    return clauses


def choose(clauses, suite, tier):
    """The clause of the highest tier that is not above tier, or None."""
    fitting = [clause for clause in clauses
               if clause.suite == suite and TIERS.index(clause.tier) <= TIERS.index(tier)]
    return max(fitting, key=lambda clause: TIERS.index(clause.tier), default=None)


def is_test(path):
    """Whether a file has to have a Test line."""
    if path.suffix == ".sh":
        return path.parent.name in SCRIPTS and os.access(path, os.X_OK)
    return path.suffix == ".c" and path.name.startswith(("test_", "fuzz_"))


def sources(repo):
    """Each file that is a test, with its clauses."""
    for folder in PROGRAMS + SCRIPTS + FUZZERS:
        for path in sorted((repo / "tests" / folder).glob("*.*")):
            if path.suffix not in (".c", ".sh"):
                continue
            clauses = clauses_of(path)
            if clauses:
                yield path, clauses
            elif is_test(path):
                raise CatalogueError(f"{path}: no line \"Test: TIER SECONDS\" among the first {HEAD_LINES}")


def parts_of(path, tier):
    """The names of the parts of a script that belong to the tier."""
    listed = subprocess.run([path, "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout
    for word in listed.split():
        name, _, least = word.partition(":")
        if not least or TIERS.index(least) <= TIERS.index(tier):
            yield name


def expand(suite, name, path, clause, tier):
    """The tests that a clause stands for: one, or one for each part."""
    if not clause.parts:
        return [Test(suite, name, path, clause.seconds, clause.alone, clause.times, clause.arguments)]
    return [Test(suite, f"{name}:{part}", path, clause.seconds, clause.alone, clause.times,
                 clause.arguments + (part,))
            for part in parts_of(path, tier)]


def in_suite(suite, path, clauses, tier):
    """The clause by which a suite runs a file, or None."""
    folder = path.parent.name
    if suite == folder:
        return choose(clauses, "", tier)
    if any(clause.suite == suite for clause in clauses):
        return choose(clauses, suite, tier)
    # programs are checked for memory unless they say otherwise; Open MPI 5 is for all of mpi
    if suite == "sanitizers" and folder in PROGRAMS and tier != "quick":
        return choose(clauses, "", tier)
    if suite == "openmpi5" and folder == "mpi" and tier == "all":
        return choose(clauses, "", "default")
    return None


def find(repo, suite, tier):
    """All tests of a suite in a tier, in the order of folders and names."""
    tests = []
    for path, clauses in sources(repo):
        clause = in_suite(suite, path, clauses, tier) if suite in DERIVED or suite == path.parent.name else None
        if clause:
            name = path.stem.removeprefix("fuzz_")
            tests += expand(suite, f"{path.parent.name}/{name}" if suite in DERIVED else name, path, clause, tier)
    return tests
