# SPDX-License-Identifier: BSD-3-Clause
"""Owns the experiment about multicast on networks that are not here: it is simulated, in virtual time.

The emulated hosts that the same run has measured tell how true that is.
"""
import statistics

from lib import contestants, limits, paths, program, results, text

NAME = "simulate"
# In a result file.
KEY = "simulated"
# Of one trial on a busy machine.
MOST_SECONDS = 1200
KiB, MiB = 1 << 10, 1 << 20

# As tests/cluster/links.sh shapes links of 200 Mbit/s, what crossing a bridge takes, and the pieces that
# multicast hands to the kernel. Of TCP's 256 KiB that a socket there keeps, half are in flight (ss -ti).
EMULATED = {"rate": 200, "burst": 50000, "port": 4 * MiB, "staging": 4 * MiB, "latency": 20000,
            "piece": 16 * KiB, "tcp-window": 128 * KiB}
# 10 Gbit/s Ethernet, with buffers as large as switches have for a port.
USUAL = {"rate": 10000, "port": MiB, "staging": 4 * MiB}
JUMBO = {**USUAL, "datagram": 8972}
LEAF, POD = 16, 256
# Bytes of a block in a datagram of 1472, and what is on the wire then.
FRAGMENT, PACKET = 1432, 1514

# What of the tables is quick enough for --quick, and for several seeds.
QUICK_HOSTS = 64
SEVERAL_HOSTS = 512


def cases():
    """[(table, options)]: random ones are played with several seeds."""
    for hosts in (64, 512, 1024, 2048, 4096):
        yield "links", {**USUAL, "hosts": hosts, "leaf": LEAF, "pod": POD, "bytes": hosts * 256}
    for datagram in (USUAL, JUMBO):
        for hosts in (8, 16, 24, 32, 64, 128):
            yield "sizes", {**datagram, "hosts": hosts, "bytes": 16 * MiB}
    for hosts in (64, 256, 1024):
        for loss in (0, 10000) if hosts > SEVERAL_HOSTS else (0, 1000, 10000):
            yield "losses", {**USUAL, "hosts": hosts, "bytes": 6 * MiB, "loss": loss}
    for hosts in (8, 64, 1024):
        yield "root", {**USUAL, "operation": "bcast", "hosts": hosts, "bytes": 16 * MiB,
                       "root-loss": 10000}
    for port in (MiB, MiB // 4):
        for operation, streams in (("allgather", 1), ("allgather", 8), ("bcast", 8)):
            yield "shared", {**USUAL, "port": port, "operation": operation, "hosts": 8, "bytes": 24 * MiB,
                             "tcp": streams, "operations": 3}
    for operation in ("allgather", "bcast"):
        for hosts in (8, 64):
            for size in (MiB // 4, MiB, 6 * MiB, 16 * MiB):
                yield "cut", {**USUAL, "operation": operation, "hosts": hosts, "bytes": size,
                              "operations": 7, "cut": size * 12 // 10000, "cut-hosts": hosts}
    for hosts in (8, 32, 64):
        for staging in (4 * MiB, 138 * 1472):
            yield "staging", {**USUAL, "hosts": hosts, "bytes": 16 * MiB, "staging": staging}
    for datagram in (USUAL, JUMBO):
        for hosts in (8, 16, 24, 32, 64):
            yield "paused", {**datagram, "hosts": hosts, "bytes": 16 * MiB, "pause": 15000}


def play(options):
    """What the program says of a trial."""
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return program.play(paths.MULTICAST, words, MOST_SECONDS, "simulating")


def is_random(options):
    """Whether another seed makes another result, beyond jitter."""
    return any(options.get(name) for name in ("loss", "root-loss", "tcp"))


def emulated_cases(setups):
    """The options that simulate what was measured: [(setup, row, options)]."""
    for setup in setups:
        for row in results.rows_of(setup):
            contestant = contestants.find(setup["collective"], row.contestant["name"])
            yield setup, row, {**EMULATED, "operation": setup["collective"], "hosts": setup["hosts"],
                               "ranks": setup["per_host"], "bytes": row.size, "operations": 5,
                               "tcp": setup["hosts"] if contestant.streams else 0}


def measure(options, rounds, setups, tell):
    """All tables; SETUPS are those of the emulated hosts in the same result."""
    rows = []
    for setup, row, case in emulated_cases(setups):
        tell.progress(f"simulating {setup['name']}, {text.size(row.size)}")
        rows.append({"table": "beside" if case["tcp"] else "emulated", "options": case, "trials": [play(case)],
                     "measured": {"seconds": [row.least, row.median, row.most],
                                  "sent": row.wire and row.wire["sent"], "link": row.link}})
    for table, case in cases():
        if options.quick and case["hosts"] > QUICK_HOSTS:
            continue
        tell.progress(f"simulating {table}: {case['hosts']} hosts")
        several = is_random(case) and case["hosts"] <= SEVERAL_HOSTS
        seeds = range(1, (rounds if several else 1) + 1)
        rows.append({"table": table, "options": case,
                     "trials": [play({**case, "seed": seed}) for seed in seeds]})
    return rows


# ---- the page ----


def middle(row, name):
    """The median over seeds."""
    return statistics.median(trial[name] for trial in row["trials"])


def span(row, name, show):
    """Median, and the least and the most if there are several."""
    values = [trial[name] for trial in row["trials"]]
    if len(values) == 1:
        return show(values[0])
    return f"{show(statistics.median(values))} ({show(min(values))}–{show(max(values))})"


def percent(value):
    """Of a ratio, as a difference."""
    return f"{100 * (value - 1):+.1f} %"


def times(row):
    """Cells: measured, simulated, difference."""
    least, median, most = row["measured"]["seconds"]
    seconds = middle(row, "seconds")
    return [f"{text.seconds(median)} ({text.seconds(least)}–{text.seconds(most)})", text.seconds(seconds),
            percent(seconds / median)]


def emulated_table(rows):
    """Measured and simulated."""
    lines = []
    for row in rows:
        options, sent, simulated = row["options"], row["measured"]["sent"], middle(row, "up_bytes")
        lines.append([options["operation"], options["hosts"], options.get("ranks", 1), text.size(options["bytes"]),
                      *times(row), text.megabytes(sent), text.megabytes(simulated),
                      "–" if sent is None else percent(simulated / sent)])
    return text.table(["collective", "hosts", "ranks on each", "size", "measured (min–max)",
                       "simulated", "difference", "MB sent, measured", "simulated", "difference"],
                      lines)


def own_share(options, seconds):
    """What an operation of so many SECONDS has of a link, without headers."""
    return limits.peers(options["operation"], options["hosts"], options["bytes"], options["rate"]) / seconds


def share_of_streams(options, row):
    """What streams have of a link on average, without headers; measured. Acknowledgements count."""
    rate = options["rate"] * 1e6 / 8
    own = own_share(options, row["measured"]["seconds"][1]) * PACKET / FRAGMENT
    return (row["measured"]["link"] / rate - own) / limits.HEADERS


def beside_table(rows):
    """Measured and simulated, with what others have of the link."""
    lines = []
    for row in rows:
        options = row["options"]
        shares = [own_share(options, row["measured"]["seconds"][1]), own_share(options, middle(row, "seconds")),
                  share_of_streams(options, row), middle(row, "background") / (options["rate"] * 1e6 / 8)]
        lines.append([options["operation"], options["hosts"], text.size(options["bytes"]), *times(row),
                      *(f"{100 * share:.0f} %" for share in shares)])
    return text.table(["collective", "hosts", "size", "measured (min–max)", "simulated", "difference",
                       "its share of a link, measured", "simulated", "the streams', measured",
                       "the slowest's, simulated"], lines)


def crossings_of_multicast(hosts, leaf, pod):
    """Of links by one packet from each host to all others: P (P + P/L + P/Q), rounded up."""
    return hosts * (hosts + -(-hosts // leaf) + (-(-hosts // pod) if hosts > pod else 0))


def links_table(rows):
    """Crossings, the closed form, and a ring's."""
    lines = []
    for row in rows:
        hosts = row["options"]["hosts"]
        # without a core, the pod's switch is the top: one link less on the way up
        closed = crossings_of_multicast(hosts, row["options"]["leaf"], row["options"]["pod"])
        lines.append([hosts, f"{middle(row, 'multicast_crossings'):.0f}", f"{closed}",
                      percent(middle(row, "multicast_crossings") / closed),
                      text.ratio(2 - 2 / hosts),
                      percent(middle(row, "crossings") / middle(row, "multicast_crossings"))])
    return text.table(["hosts", "links crossed by multicast", "closed form", "difference",
                       "a ring in the order of hosts", "control messages, on top"], lines)


def sizes_table(rows):
    """Without faults: time and what is lost by it."""
    lines = []
    for row in rows:
        sent = middle(row, "fragments_sent") * (row["options"]["hosts"] - 1)
        lines.append([row["options"]["hosts"], row["options"].get("datagram", 1472),
                      text.seconds(middle(row, "seconds")),
                      text.ratio(middle(row, "seconds") / middle(row, "floor")),
                      f"{100 * middle(row, 'lost') / sent:.1f} %", f"{middle(row, 'peers'):.0f}"])
    return text.table(["hosts", "bytes of a datagram", "time", "× limit", "lost at switches",
                       "connections of a rank"], lines)


def losses_table(rows):
    """At random, at each host."""
    lines = []
    for row in rows:
        base = next(other for other in rows if other["options"]["hosts"] == row["options"]["hosts"]
                    and not other["options"]["loss"])
        lines.append([row["options"]["hosts"], f"{row['options']['loss'] / 1e4:.1f} %",
                      span(row, "seconds", text.seconds),
                      text.ratio(middle(row, "seconds") / middle(base, "seconds")),
                      f"{middle(row, 'fragments_lost'):.0f}",
                      text.megabytes(middle(row, "repair_bytes")), f"{middle(row, 'peers'):.0f}"])
    return text.table(["hosts", "lost", "time (min–max)", "× lossless", "fragments missed, all ranks",
                       "MB sent again", "connections of a rank"], lines)


def root_table(rows):
    """Between the root and its switch."""
    lines = []
    for row in rows:
        distinct = middle(row, "lost") * FRAGMENT
        lines.append([row["options"]["hosts"], span(row, "seconds", text.seconds),
                      f"{middle(row, 'lost'):.0f}", text.megabytes(middle(row, "repair_bytes")),
                      text.ratio(middle(row, "repair_bytes") / distinct)])
    return text.table(["hosts", "time (min–max)", "datagrams lost", "MB sent again",
                       "× what was lost"], lines)


def shared_table(rows):
    """Beside TCP streams from a host to the next one."""
    lines = []
    for row in rows:
        rate = row["options"]["rate"] * 1e6 / 8
        own = own_share(row["options"], middle(row, "seconds"))
        lines.append([row["options"]["operation"], text.size(row["options"]["port"]), row["options"]["tcp"],
                      span(row, "seconds", text.seconds), f"{100 * own:.0f} %",
                      f"{100 * middle(row, 'background') / rate:.0f} %",
                      f"{middle(row, 'fragments_lost'):.0f}"])
    return text.table(["collective", "port keeps", "streams", "time (min–max)", "its share of a link",
                       "the slowest stream's", "fragments missed"], lines)


def cut_table(rows):
    """Multicast ends for all; most operations are after that."""
    lines = []
    for row in rows:
        without, ends = middle(row, "seconds"), middle(row, "slowest")
        lines.append([row["options"]["operation"], row["options"]["hosts"],
                      text.size(row["options"]["bytes"]), text.seconds(without), text.seconds(ends),
                      text.ratio((ends - without) / without)])
    return text.table(["collective", "hosts", "size", "without multicast", "the slowest, in which it ends",
                       "what is lost, × without"], lines)


def staging_table(rows):
    """What sockets keep."""
    return text.table(["hosts", "datagrams that a rank keeps", "time", "× limit", "fragments missed"],
                      [[row["options"]["hosts"], row["options"]["staging"] // 1472,
                        text.seconds(middle(row, "seconds")),
                        text.ratio(middle(row, "seconds") / middle(row, "floor")),
                        f"{middle(row, 'fragments_lost'):.0f}"] for row in rows])


def paused_table(rows):
    """A rank that is descheduled."""
    return text.table(["hosts", "bytes of a datagram", "time", "fragments missed", "lost at switches",
                       "at ranks"],
                      [[row["options"]["hosts"], row["options"].get("datagram", 1472),
                        text.seconds(middle(row, "seconds")), f"{middle(row, 'fragments_lost'):.0f}",
                        f"{middle(row, 'lost_at_port'):.0f}",
                        f"{middle(row, 'lost_at_node'):.0f}"] for row in rows])


TABLES = (
    ("emulated", "Measured and simulated", "The setups above, on simulated links as they are emulated.",
     emulated_table),
    ("beside", "Measured and simulated, beside TCP", "A stream from each host to the next one. What streams have is "
     "counted on the links in operations after those that are timed, without what these have sent.", beside_table),
    ("links", "Links that are crossed", "Each host has one fragment for all others, in a Clos network "
     f"of three levels with {LEAF} hosts at a leaf switch and {POD} in a pod. The closed form is "
     "P·(P + ⌈P/L⌉ + ⌈P/Q⌉); without the last term where there is one pod.", links_table),
    ("sizes", "Allgather of 16 MiB, 10 Gbit/s, one switch that keeps 1 MiB for each port", "",
     sizes_table),
    ("losses", "Allgather of 6 MiB where each host loses datagrams", "", losses_table),
    ("root", "Bcast of 16 MiB where 1 % is lost between the root and its switch", "", root_table),
    ("shared", "24 MiB on 8 hosts beside TCP", "Streams from a host to the next one.", shared_table),
    ("cut", "Multicast ends", "In one of the first of seven operations, for all hosts: what it takes to find out, "
     "and to go on by messages.", cut_table),
    ("staging", "Allgather of 16 MiB where sockets keep little", "138 datagrams are what 208 KiB have room for, a "
     "usual `net.core.rmem_max`.", staging_table),
    ("paused", "Allgather of 16 MiB, and a rank that stands still for 15 ms", "", paused_table),
)


def section(rows):
    """Markdown."""
    lines = []
    for name, title, said, table in TABLES:
        own = [row for row in rows if row["table"] == name]
        if own:
            lines += [f"## {title}", "", *([said, ""] if said else []), *table(own), ""]
    return lines
