# SPDX-License-Identifier: BSD-3-Clause
"""Runs commands as tests: several at a time, each with a log and a time limit."""
import dataclasses
import os
import re
import shutil
import signal
import subprocess
import threading
import time

SKIPPED = 77  # exit status of a test that cannot be run here
PATIENCE = 2  # times what a test says that it takes at most: machines are shared, and this is only to find what hangs
GRACE = 30  # seconds from SIGTERM, upon which a test cleans up, to SIGKILL
SHOWN_LINES = 30
FOUND = re.compile(r"Sanitizer: |: runtime error: |core dumped")  # that is no matter of time
MOST_AGAIN = 8  # tests of a tree that are run again: if more have failed, it is not what ran beside them


@dataclasses.dataclass
class Job:
    """A command to be run as a test."""

    title: str
    command: list
    seconds: int
    alone: bool = False
    times: int = 1
    environment: dict = dataclasses.field(default_factory=dict)


class Interrupted(Exception):
    """Somebody wants an end."""


class Schedule:
    """Counts what came out; prints a line for each test. One at a time may be in run()."""

    def __init__(self, logs, jobs):
        self.logs, self.jobs = logs, jobs
        self.passed = self.skipped = 0
        self.failures, self.recovered = [], []
        self.lock = threading.Lock()
        self.running = set()
        self.stopped = False

    def interrupt(self):
        """Ends what runs, and begins nothing more. May be called from a signal handler."""
        self.stopped = True
        for process in list(self.running):
            self.end(process, signal.SIGTERM)

    @staticmethod
    def end(process, number):
        """Sends a signal to all processes of a test."""
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass

    def log_of(self, title):
        """Where the output of a test goes."""
        return self.logs / (title.replace("/", "-") + ".log")

    def execute(self, job):
        """Runs one; its exit status, or None if it took too long."""
        with open(self.log_of(job.title), "w", encoding="utf-8") as log:
            process = subprocess.Popen(job.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       start_new_session=True, env={**os.environ, **job.environment})
        self.running.add(process)
        try:
            return process.wait(PATIENCE * job.seconds)
        except subprocess.TimeoutExpired:
            self.end(process, signal.SIGTERM)
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                pass
            with open(self.log_of(job.title), "a", encoding="utf-8") as log:
                print(f"run-tests: it did not end within {PATIENCE * job.seconds} seconds", file=log)
            return None
        finally:
            # what a test leaves behind must not disturb the next one
            self.end(process, signal.SIGKILL)
            process.wait()
            self.running.discard(process)

    def is_found(self, title, status):
        """Whether what failed shows an error that would not go away on an idle machine: it crashed, or a tool saw it."""
        with open(self.log_of(title), encoding="utf-8", errors="replace") as log:
            return (status is not None and status < 0) or FOUND.search(log.read()) is not None

    def put_off(self, job, again):
        """Notes that a test is to be run again alone; what it said stays, in a log of another name."""
        with self.lock:
            again.append(job)
            print(f"again {job.title}, alone, as it failed beside others\n{self.tail(job.title)}", flush=True)
        shutil.copyfile(self.log_of(job.title), self.log_of(job.title + ".beside-others"))

    def tail(self, title, lines=SHOWN_LINES):
        """The end of a test's output, to be shown."""
        with open(self.log_of(title), encoding="utf-8", errors="replace") as log:
            return "".join("    " + line for line in log.read().splitlines(True)[-lines:]).rstrip("\n")

    def reason_of(self, title):
        """Why a test was skipped, as it said itself."""
        with open(self.log_of(title), encoding="utf-8", errors="replace") as log:
            said = re.findall(r"^(?:skipped [^:]*|SKIP): (.*)$", log.read(), re.MULTILINE)
        return said[-1] if said else "it does not say why"

    def skip(self, title, reason):
        """Counts a test that is not run."""
        with self.lock:
            self.skipped += 1
            print(f"skip {title}: {reason}", flush=True)

    def fail(self, title):
        """Counts a test that failed, and shows the end of its log."""
        with self.lock:
            self.failures.append(title)
            print(f"not ok {title}\n{self.tail(title)}", flush=True)

    def succeed(self, job, seconds):
        """Counts a test that passed."""
        with self.lock:
            self.passed += 1
            times = f"{job.times} times, " if job.times > 1 else ""
            print(f"ok {job.title} ({times}{seconds:.0f} s)", flush=True)

    def conclude(self):
        """Prints what failed, which one would have to search for otherwise, and counts; whether nothing failed."""
        if self.recovered:
            print("passed only alone: " + " ".join(self.recovered))
        if self.failures:
            print("failed: " + " ".join(self.failures))
        print(f"{self.passed} passed, {len(self.failures)} failed, {self.skipped} skipped")
        return not self.failures

    def one(self, job, again=None):
        """Runs a test, counts it, and says what came out; if it fails, and there is a list of those that are to be run
        again, it is put there instead. Whether it has not failed."""
        begin = time.monotonic()
        status = 0
        try:
            for _ in range(job.times):
                status = self.execute(job) if status == 0 and not self.stopped else status
        except OSError as error:
            self.log_of(job.title).write_text(f"run-tests: it cannot be run: {error}\n", encoding="utf-8")
            status = 1
        if self.stopped:
            return False
        if status == 0:
            self.succeed(job, time.monotonic() - begin)
        elif status == SKIPPED:
            self.skip(job.title, self.reason_of(job.title))
        elif again is not None and job.times == 1 and not self.is_found(job.title, status):
            self.put_off(job, again)
        else:
            self.fail(job.title)
        return status in (0, SKIPPED)

    def worker(self, queue, again):
        """Takes tests from the queue until it is empty."""
        while not self.stopped:
            with self.lock:
                if not queue:
                    return
                job = queue.pop(0)
            self.one(job, again)

    def run_again(self, jobs):
        """Those that failed beside others, alone: many wait for seconds for something that a busy machine takes longer
        for. They are named at the end, whatever comes out."""
        for job in jobs:
            if self.stopped:
                return
            if len(jobs) > MOST_AGAIN:
                self.fail(job.title)
                continue
            passed, skipped = self.passed, self.skipped
            self.one(job)
            if self.passed > passed:
                self.recovered.append(job.title)
            elif self.skipped > skipped:  # it could be run the first time
                self.skipped = skipped
                self.fail(job.title)

    def run(self, jobs):
        """Those that may run beside each other first, the longest before; then the others, one by one."""
        queue = sorted((job for job in jobs if not job.alone), key=lambda job: -job.seconds * job.times)
        again = [] if self.jobs > 1 else None
        threads = [threading.Thread(target=self.worker, args=(queue, again)) for _ in range(self.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)  # so that signals are heard
        for job in jobs:
            if job.alone and not self.stopped:
                self.one(job)
        self.run_again(again or [])
        if self.stopped:
            raise Interrupted
