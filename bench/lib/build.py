# SPDX-License-Identifier: BSD-3-Clause
"""Owns what has to be there first: packages, build tree, programs for each MPI."""
import functools
import os
import re
import shutil
import subprocess

from lib import paths
from lib.cluster import PlaceError, environment


def packages():
    """Installs what is missing."""
    done = subprocess.run([paths.REPO / "tools/packages", "build", "bench"], check=False)
    if done.returncode:
        raise PlaceError("packages are missing; without them: bench/run --no-install")


def tree():
    """Builds all but the programs of other MPIs."""
    log = paths.WORK / "build.log"
    script = 'REPO=$0; . "$REPO/tools/build.sh"; build_tree "$1"'
    with open(log, "w", encoding="utf-8") as file:
        done = subprocess.run(["bash", "-c", script, paths.REPO, paths.BUILD], check=False,
                              stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
    if done.returncode:
        raise PlaceError(f"the build failed; all of its output is in {log}")


def programs():
    """Fails if a program is missing that every experiment needs."""
    for path in (paths.PERF["openmpi"], paths.SERVER, paths.COMPONENT / "mca_coll_optcast.so"):
        if not path.exists():
            raise PlaceError(f"no {path}: build it, or set BUILD to the build tree")


def sources():
    """Those of optcast-perf; it is the same program for every MPI."""
    return [*sorted((paths.REPO / "tools/perf").glob("*.c")), paths.REPO / "base/text.c"]


@functools.cache
def mpich():
    """Compiles optcast-perf with MPICH if it is older than its sources. "" or why there is none."""
    compiler = shutil.which("mpicc.mpich")
    if not compiler or not shutil.which("mpiexec.hydra"):
        return "MPICH is not installed"
    program = paths.PERF["mpich"]
    headers = [*(paths.REPO / "tools/perf").glob("*.h"), *(paths.REPO / "base").glob("*.h"),
               *(paths.REPO / "mpich").glob("*.h")]
    newest = max(path.stat().st_mtime for path in [*sources(), *headers])
    if program.exists() and program.stat().st_mtime > newest:
        return ""
    beside = f"{program}.{os.getpid()}"
    done = subprocess.run([compiler, "-std=gnu11", "-O2", "-D_GNU_SOURCE", f"-I{paths.REPO}", "-o",
                           beside, *sources()], capture_output=True, text=True, check=False)
    if done.returncode:
        raise PlaceError(f"optcast-perf does not compile with MPICH: {done.stderr.strip()}")
    os.replace(beside, program)
    return ""


@functools.cache
def components():
    """Names of the coll components of Open MPI, without ours."""
    info = shutil.which("ompi_info.openmpi") or shutil.which("ompi_info")
    if not info:
        return frozenset()
    said = subprocess.run([info, "--parsable"], capture_output=True, text=True, check=False,
                          env=environment())
    return frozenset(re.findall(r"^mca:coll:([a-z0-9_]+):version", said.stdout, re.MULTILINE))


def absence(contestant):
    """Why a contestant cannot be measured here; "" if it can."""
    if contestant.mpi == "mpich" and contestant.kind == "ours" and not paths.MPICH_LIBRARY.exists():
        return f"there is no {paths.MPICH_LIBRARY}: configure with MPICH's headers"
    if contestant.mpi == "mpich":
        return mpich()
    if contestant.name in ("han", "ucc") and contestant.name not in components():
        return f"this Open MPI has no coll/{contestant.name}"
    return ""
