# SPDX-License-Identifier: BSD-3-Clause
"""Owns one run of a program that measures or simulates by itself, and writes its numbers to a file."""
import json
import os
import subprocess

from lib import paths
from lib.cluster import PlaceError


def play(program, words, seconds, task):
    """The numbers of PROGRAM WORDS... --json FILE, which may take so many SECONDS.

    An error names the TASK.
    """
    path = paths.WORK / f"{program.name}.json"
    path.unlink(missing_ok=True)
    command = [str(program), *map(str, words), "--json", str(path)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=seconds,
                              env={**os.environ, "OPTCAST_SERVER": str(paths.SERVER)})
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PlaceError(f"{task} failed: {error}") from error
    if done.returncode:
        said = " ".join(filter(None, (done.stderr.strip(), done.stdout.strip())))
        raise PlaceError(f"{task} failed ({' '.join([program.name, *command[1:-2]])}): {said}")
    return json.loads(path.read_text(encoding="utf-8"))
