# SPDX-License-Identifier: BSD-3-Clause
"""Owns where things are: source tree, build tree, programs, results."""
import os
import pathlib

REPO = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.path.abspath(os.environ.get("BUILD", REPO / "build")))
CLUSTER = REPO / "tests/cluster/cluster"
COMPONENT = BUILD / "ompi/mca/coll/optcast/.libs"
PERF = {"openmpi": BUILD / "optcast-perf", "mpich": BUILD / "bench/optcast-perf-mpich"}
# For programs of MPICH; preloaded.
MPICH_LIBRARY = BUILD / ".libs/liboptcast-mpich.so"
REDUCTION = BUILD / "optcast-bench-reduction"
MULTICAST = BUILD / "optcast-bench-multicast"
SCALE = BUILD / "optcast-bench-scale"
SIZE = BUILD / "optcast-bench-size"
PAGES = BUILD / "optcast-bench-pages"
SERVER = BUILD / "optcast-server"
# Also on real clusters: rank 0 writes its results here, so hosts have to share it.
WORK = BUILD / "bench"
PREFACE = REPO / "bench/preface.md"


def anonymous(words):
    """One line of what was run, without the folders of the machine that ran it."""
    text = " ".join(map(str, words)).replace(f"bench-{os.getpid()}", "bench")
    return text.replace(str(BUILD), "build").replace(f"{REPO}/", "").replace(str(REPO), ".")
