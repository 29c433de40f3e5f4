# SPDX-License-Identifier: BSD-3-Clause
"""Owns one launch of optcast-perf: it ends within a time, and gives numbers or a reason."""
import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass

from lib import interrupt

# MPICH may hang when it ends, after its results are complete.
PATIENCE_TO_END = 3


@dataclass
class Outcome:
    """numbers is the JSON of optcast-perf, or None; error says why, or that it had to be ended."""
    numbers: dict
    error: str
    seconds: float
    output: str
    ended: bool     # by itself


def stop(process):
    """Ends what this program has started, and its children."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(5)
            return
        except subprocess.TimeoutExpired:
            continue


def wait(process, result, limit):
    """True if it ended by itself within LIMIT seconds, and soon after its file RESULT was there."""
    deadline = time.monotonic() + limit
    complete = False
    while time.monotonic() < deadline:
        interrupt.check()
        try:
            process.wait(0.05)
            return True
        except subprocess.TimeoutExpired:
            pass
        if not complete and result.exists():
            complete = True
            deadline = min(deadline, time.monotonic() + PATIENCE_TO_END)
    return False


def read(result):
    """The numbers in a file, or None."""
    try:
        return json.loads(result.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def reason(status, ended, limit, output):
    """One line of why there are no numbers, or wrong ones."""
    lines = [line for line in output.splitlines() if line.strip(" -")]
    said = next((line for line in lines if line.startswith("optcast-perf:")),
                lines[-1] if lines else "it said nothing")
    if not ended:
        return f"did not end within {limit} s: {said}"
    return f"exit status {status}: {said}"


def launch(command, folder, environment, limit):
    """Runs COMMAND --json FILE in at most LIMIT seconds. FOLDER is shared by all hosts."""
    result = folder / f"result-{os.getpid()}.json"
    transcript = folder / f"output-{os.getpid()}.log"
    result.unlink(missing_ok=True)
    begin = time.monotonic()
    with open(transcript, "w+", encoding="utf-8", errors="replace") as file:
        process = subprocess.Popen([*command, "--json", str(result)], stdin=subprocess.DEVNULL,
                                   stdout=file, stderr=subprocess.STDOUT, env=environment,
                                   start_new_session=True)
        ended = False
        try:
            ended = wait(process, result, limit)
        finally:
            if not ended:
                stop(process)
        file.seek(0)
        output = file.read()
    numbers = read(result)
    error = ""
    if numbers is None or (ended and process.returncode):
        error = reason(process.returncode, ended, limit, output)
    result.unlink(missing_ok=True)
    transcript.unlink(missing_ok=True)
    return Outcome(numbers, error, time.monotonic() - begin, output, ended)
