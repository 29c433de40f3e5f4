#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the launches and the case files of the Allreduce matrix: every pair of properties occurs.

usage: plan.py PAIRS DIRECTORY SEED [few]

PAIRS is a file of what is offloaded, "OP TYPE SIZE" a line; each line becomes a case. It writes
DIRECTORY/NUMBER.cases for each launch and prints one line a launch:
    NUMBER RANKS SERVERS AGGREGATORS SMALL_SIZE
SERVERS is 0 for the embedded mode. With "few" there are three launches and no promise about pairs.
"""
import itertools
import os
import random
import sys

CHUNK, WINDOW = 4096, 2
MAX_RANKS = 7
# Nonblocking MIN and MAX of at most two integers is left to Open MPI.
NOT_OFFLOADED = "7 MAX INT 2 apart 0 nb 1"
COUNTS = ["1", "2", "3", "7", "1000", "chunk-1", "chunk", "chunk+1", "small", "small+1", "windows"]
# ranks come first: they belong to the launch as much as to the case
FACTORS = {
    "ranks": list(range(2, MAX_RANKS + 1)),
    "launch": None,  # filled in: (servers, aggregators)
    "count": COUNTS,
    "place": ["apart", "inplace"],
    "offset": ["0", "element", "1"],
    "way": ["b", "nb", "persistent"],
}


def read_pairs(path):
    """The pairs of operation and type, each with the size of an element without padding."""
    with open(path, encoding="ascii") as file:
        return {tuple(line.split()[:2]): int(line.split()[2]) for line in file}


def launches():
    """Embedded servers, one and two external ones, each with 1 to 5 aggregators."""
    return list(itertools.product([0, 1, 2], [1, 2, 3, 4, 5]))


def pairs_of(case, names):
    """What has to be covered: any two properties, with servers and aggregators apart."""
    values = []
    for name in names:
        if name == "launch":
            values += [("servers", case[name][0]), ("aggregators", case[name][1])]
        else:
            values.append((name, case[name]))
    return set(itertools.combinations(values, 2))


def cover(generator):
    """Greedy: of some random cases the one that covers most of what is missing."""
    factors = dict(FACTORS, launch=launches())
    names = list(factors)
    missing = set()
    for a, b in itertools.combinations(names, 2):
        for x, y in itertools.product(factors[a], factors[b]):
            missing |= pairs_of({a: x, b: y}, [a, b])
    for launch in launches():
        missing |= pairs_of({"launch": launch}, ["launch"])
    cases = []
    while missing:
        # begins with a pair that is missing, so that each step makes headway
        start = dict(generator.choice(sorted(missing, key=str)))
        best, best_gain = None, -1
        for _ in range(30):
            case = {name: generator.choice(values) for name, values in factors.items()}
            servers, aggregators = case["launch"]
            case["launch"] = (start.get("servers", servers), start.get("aggregators", aggregators))
            case.update({k: v for k, v in start.items() if k in case})
            gain = len(pairs_of(case, names) & missing)
            if gain > best_gain:
                best, best_gain = case, gain
        missing -= pairs_of(best, names)
        cases.append(best)
    return cases


def elements(kind, size, launch, small):
    servers, aggregators = launch
    lanes = max(servers, 1) * aggregators
    return {"chunk-1": CHUNK // size - 1, "chunk": CHUNK // size, "chunk+1": CHUNK // size + 1,
            "small": max(small // size, 1), "small+1": small // size + 1,
            "windows": CHUNK // size * WINDOW * lanes * 3 + 5}.get(kind) or int(kind)


def case_line(case, op_type, size, small, seed):
    count = elements(case["count"], size, case["launch"], small)
    return " ".join(map(str, [case["ranks"], *op_type, count, case["place"], case["offset"],
                              case["way"], seed]))


def fits(case, op_type):
    """Nonblocking MIN and MAX of two integers are not offloaded: no case to cover a pair with."""
    small = case["way"] != "b" and case["count"] in ("1", "2", "small", "small+1")
    return not (small and op_type[0] in ("MIN", "MAX"))


def add_op_types(cases, pairs, generator):
    """A case for each pair, blocking or not; those that are left get one of which all is random."""
    wanted = list(pairs)
    generator.shuffle(wanted)
    result = []
    for case in cases:
        fitting = [pair for pair in wanted if fits(case, pair)] or [("SUM", "INT16_T")]
        result.append((case, fitting[0]))
        # persistent ones come in addition
        if case["way"] != "persistent" and fitting[0] in wanted:
            wanted.remove(fitting[0])
    for number, pair in enumerate(wanted):
        case = {name: generator.choice(values or launches()) for name, values in FACTORS.items()}
        case = dict(case, way=FACTORS["way"][number % 2])
        result.append((case if fits(case, pair) else dict(case, way="b"), pair))
    return result


def write_launch(directory, number, lines):
    with open(os.path.join(directory, f"{number}.cases"), "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


def main():
    sizes, directory, seed = read_pairs(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    few = "few" in sys.argv[4:]
    generator = random.Random(seed)
    cases = add_op_types(cover(generator), sorted(sizes), generator)
    chosen = [(0, 2), (1, 3), (2, 1)] if few else launches()
    for number, launch in enumerate(chosen):
        small = [512, 0, 8192][number % 3]
        lines = [case_line(case, pair, sizes[pair], small, seed * 1000 + i)
                 for i, (case, pair) in enumerate(cases) if case["launch"] == launch]
        write_launch(directory, number, lines + [NOT_OFFLOADED])
        print(number, MAX_RANKS, *launch, small)
    # the others use parts of a larger job: these are the whole job
    for number, ranks in enumerate([] if few else range(2, MAX_RANKS), len(chosen)):
        launch = (ranks % 3, ranks - 1)
        lines = [case_line(case, pair, sizes[pair], 512, seed * 1000 + i)
                 for i, (case, pair) in enumerate(cases) if case["ranks"] == ranks]
        write_launch(directory, number, lines[:20])
        print(number, ranks, *launch, 512)


if __name__ == "__main__":
    main()
