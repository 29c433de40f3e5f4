# SPDX-License-Identifier: BSD-3-Clause
"""Owns what is said meanwhile: progress on a terminal, a line for each launch in a log."""
import sys
import time


class Teller:
    """A log file, and standard error."""

    def __init__(self, path):
        self.log = open(path, "a", encoding="utf-8")
        self.begin = time.monotonic()
        self.terminal = sys.stderr.isatty()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.clear()
        self.log.close()

    def clear(self):
        """Removes the progress line."""
        if self.terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def line(self, text):
        """Something that has happened."""
        stamp = f"[{time.monotonic() - self.begin:4.0f} s] {text}"
        print(stamp, file=self.log, flush=True)
        self.clear()
        print(stamp, file=sys.stderr, flush=True)

    def progress(self, text):
        """Something that is happening."""
        if self.terminal:
            print(f"\r\x1b[K{text[:100]}", end="", file=sys.stderr, flush=True)
