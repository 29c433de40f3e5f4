# SPDX-License-Identifier: BSD-3-Clause
"""Owns how numbers and tables look."""


def digits(value):
    """Three significant digits, without an exponent."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def seconds(value):
    """With a unit; — if there is none."""
    if value is None:
        return "—"
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 0.9995:
            return f"{digits(value * factor)} {unit}"
    return f"{value * 1e9:.0f} ns"


def spread(least, most):
    """Two times, in the unit of the larger one."""
    last = seconds(most)
    unit = last.split()[1]
    factor = {"s": 1, "ms": 1e3, "µs": 1e6, "ns": 1e9}[unit]
    return f"{digits(least * factor)}–{last}"


def size(count):
    """Bytes of a vector."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor and count % factor == 0:
            return f"{count // factor} {unit}"
    return f"{count} B"


def megabytes(count):
    """Bytes on a wire, in 10^6."""
    return "—" if count is None else f"{count / 1e6:.3f}" if count < 1e6 else digits(count / 1e6)


def ratio(value):
    """Two decimals; — if there is none."""
    return "—" if value is None else f"{value:.2f}"


def spread_of_ratio(least, most):
    """Two of them."""
    return f"{ratio(least)}–{ratio(most)}"


def table(head, rows):
    """Lines of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(map(str, line)) + " |" for line in lines]
