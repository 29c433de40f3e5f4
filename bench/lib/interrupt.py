# SPDX-License-Identifier: BSD-3-Clause
"""Owns what SIGTERM, SIGHUP and SIGINT do: every finally is done, and done once."""
import signal

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
GOT = []


def stop(number, _):
    """Ends the program by an exception, which is lost if a destructor runs just now."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    GOT.append(number)
    check()


def catch():
    """From now on."""
    for number in SIGNALS:
        signal.signal(number, stop)


def check():
    """Raises SystemExit if a signal has come: for loops that wait."""
    if GOT:
        raise SystemExit(128 + GOT[0])
