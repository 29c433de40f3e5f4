# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests that the arguments choose; ./run-tests --help describes them."""
import argparse
import fnmatch
import os
import pathlib
import signal
import sys

from . import catalogue, trees
from .schedule import Interrupted, Schedule

REPO = pathlib.Path(__file__).resolve().parents[2]


def parse(arguments):
    """The command line: a tier, names, and what run-tests has found out."""
    parser = argparse.ArgumentParser(prog="run-tests", add_help=False)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() + 1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: at least one test has to run at a time")
    tiers = [word for word in options.words if word in catalogue.TIERS]
    options.names = [word for word in options.words if word not in catalogue.TIERS]
    if len(tiers) > 1:
        parser.error(f"one tier at a time: {' '.join(tiers)}")
    # whoever names tests wants all of them
    options.tier = tiers[0] if tiers else "all" if options.names else "default"
    return options


def matches(test, names):
    """Whether a name on the command line means this test: of its suite, of itself or its parts, or a pattern."""
    return not names or any(
        name in (test.suite, test.title, test.title.partition(":")[0]) or fnmatch.fnmatchcase(test.title, name)
        for name in names)


def choose(options):
    """The tests of each suite that the command line means."""
    chosen = {}
    for suite in catalogue.SUITES:
        tests = [test for test in catalogue.find(REPO, suite, options.tier) if matches(test, options.names)]
        if tests:
            chosen[suite] = tests
    for name in options.names:
        if not any(matches(test, [name]) for tests in chosen.values() for test in tests):
            sys.exit(f"run-tests: there is no suite or test '{name}' in tier {options.tier}; "
                     f"suites: {' '.join(catalogue.SUITES)}; ./run-tests --list {options.tier} has the tests")
    return chosen


def make_trees(build):
    """The trees, in the order in which their tests are run, and the suites of each."""
    usual = trees.Tree(REPO, build)
    derived = {
        "sanitizers": trees.SanitizerTree(REPO, pathlib.Path(os.environ.get("SANITIZER_BUILD", REPO / "build-san"))),
        "threads": trees.ThreadTree(REPO, pathlib.Path(os.environ.get("THREAD_BUILD", REPO / "build-tsan"))),
        "openmpi5": trees.OpenMpi5Tree(
            REPO, pathlib.Path(os.environ.get("OPENMPI5_WORK") or build / "openmpi5").resolve()),
        "mpich": trees.MpichTree(REPO, build),
    }
    return [(usual, [suite for suite in catalogue.SUITES if suite not in derived])] + [
        (tree, [suite]) for suite, tree in derived.items()]


def run_tree(schedule, tree, tests):
    """Builds what the tests of one tree need, and runs them."""
    if not tree.prepare(schedule, tests):
        return
    jobs = []
    for test in tests:
        job = tree.job(test)
        if job:
            jobs.append(job)
        else:
            schedule.skip(test.title, "configure found no cmocka; install libcmocka-dev, and remove " + str(tree.build))
    schedule.run(jobs)


def main(arguments):
    """Runs the tests; the exit status says whether none has failed."""
    options = parse(arguments)
    try:
        chosen = choose(options)
    except catalogue.CatalogueError as error:
        sys.exit(f"run-tests: {error}")
    if options.list:
        for test in (test for tests in chosen.values() for test in tests):
            words = [f"{test.seconds} s at most"] + ["alone"] * test.alone + [f"{test.times} times"] * (test.times > 1)
            print(f"{test.title} ({', '.join(words)})")
        return 0
    build = pathlib.Path(os.environ["BUILD"])
    os.environ.setdefault("SEED", "1")
    schedule = Schedule(build / "test-logs", options.jobs)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: schedule.interrupt())
    try:
        for tree, suites in make_trees(build):
            tests = [test for suite in suites for test in chosen.get(suite, [])]
            if tests:
                run_tree(schedule, tree, tests)
    except Interrupted:
        return 130
    return 0 if schedule.conclude() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
