# SPDX-License-Identifier: BSD-3-Clause
"""Owns what must be true of sources and machine before results are measured that the tree keeps."""
import time

# Of all processors: more than the kernel's own threads need, less than a compiler takes.
MOST_BUSY = 0.1
SECONDS = 2
TRIES = 5


class PublishError(Exception):
    """What was measured now would have to be taken back later."""


def busy_share(before, after):
    """Of the processors' time between two first lines of /proc/stat, what they did not idle."""
    spent = [b - a for a, b in zip(*(map(int, line.split()[1:9]) for line in (before, after)))]
    idle = spent[3] + spent[4]  # idle, and waiting for disks
    return 1 - idle / sum(spent) if sum(spent) else 0.0


def read_times():
    """The first line of /proc/stat: all processors together."""
    with open("/proc/stat", encoding="utf-8") as file:
        return file.readline()


def sample():
    """Share of the processors that is in use now, from 0 to 1."""
    before = read_times()
    time.sleep(SECONDS)
    return busy_share(before, read_times())


def check_sources(changed):
    """changed: paths that differ from the commit."""
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise PublishError(f"{', '.join(changed[:3])}{more}: not as committed, so nobody could "
                           "measure the same again; commit first, or say --output DIR")


def check_load(measure):
    """measure() gives the share in use. Waits for what is just ending."""
    shares = []
    for _ in range(TRIES):
        shares.append(measure())
        if shares[-1] <= MOST_BUSY:
            return
    raise PublishError(f"{100 * min(shares):.0f} % of the processors are in use by others, and at most "
                       f"{100 * MOST_BUSY:.0f} % may be: end what runs beside, or say --output DIR")
