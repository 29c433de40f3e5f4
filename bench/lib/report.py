# SPDX-License-Identifier: BSD-3-Clause
"""Owns doc/performance.md and the pages of experiments: what of the results is said."""
from lib import experiments, headline, limits, plot, reduction, regret, results, scale, settings, simulate, size, text
from lib import training

# Of the time that a program computes by itself: what the longest launch takes of the shortest one to be mentioned.
VARIES = 1.25
# With whom ours is compared, and how that ends, if there is nobody.
NOTHING = ["—", "no peer"]


def offloaded(row):
    """How many operations servers did, of how many."""
    if row.contestant["kind"] != "ours":
        return "—"
    if row.offloaded == row.operations:
        return f"all {row.operations}"
    if not row.offloaded:
        return f"**none** of {row.operations}"
    return f"**{row.offloaded}** of {row.operations}"


def verdict(row, best):
    """Ours against the best peer, in words that the measurements support."""
    if not row.offloaded:
        return "not offloaded: this is Open MPI"
    if row.offloaded < row.operations:
        return "offloaded in part: no claim"
    if min(row.launches, best.launches) < results.ENOUGH_LAUNCHES:
        return f"{best.median / row.median:.2f} (too few launches to claim anything)"
    if not results.differs(row, best):
        return "no difference"
    factor = best.median / row.median
    if factor > 1:
        return f"**{factor:.2f}** times as fast"
    return f"slower: **{1 / factor:.2f}** times the time"


def default_cell(rows, row):
    """What users have who set nothing, and how many times as fast ours is."""
    default = results.default_of(rows, row.size)
    if not default:
        return "—"
    return f"{text.seconds(default.median)} ({text.ratio(default.median / row.median)} ×)"


def headline_row(setup, rows, row, best):
    """One line of the first table."""
    cells = [text.size(row.size), row.label, text.seconds(row.median), default_cell(rows, row)]
    if best:
        cells += [f"{text.seconds(best.median)} ({best.contestant['label']})", verdict(row, best)]
    else:
        cells += NOTHING
    schemes = ("servers", "peers", "all") if setup["servers"] else ("peers",)
    return cells + [text.seconds(limits.limit(scheme, setup, row.size)) for scheme in schemes]


def comparison(rows):
    """Ours and the module that was there before, in the same launches."""
    found = [row for row in rows if row.previous]
    lines = [[text.size(row.size), row.contestant["label"], text.seconds(row.median),
              text.seconds(row.previous[0]), text.ratio(row.previous[1]),
              text.spread_of_ratio(*row.previous[2:]), row.launches, offloaded(row)]
             for row in found]
    head = ["size", "contestant", "with optcast", "without", "ratio", "min–max", "launches",
            "offloaded"]
    names = dict.fromkeys(row.contestant["label"] for row in found)
    if len(names) == 1:
        head, *lines = [line[:1] + line[2:] for line in (head, *lines)]
    return [*text.table(head, lines), "",
            "In every launch, and slower by at least 10 %:", "",
            *(crossing(name, [row for row in found if row.contestant["label"] == name])
              for name in names), ""]


def crossing(name, rows):
    """Where a contestant gains, and where it loses."""
    first, slower = results.faster_from(rows), results.slower_at(rows)
    gains = "from no size on" if first is None else f"from {text.size(first)} on"
    losses = ", ".join(map(text.size, slower)) or "no size"
    return f"* {name}: faster {gains}; slower at {losses}."


def best_peers(setup, rows):
    """Where there is nothing of ours: whom it would have to beat."""
    lines = []
    for size in sorted({row.size for row in rows}):
        best = results.best_peer(rows, size)
        if best:
            lines.append([text.size(size), best.contestant["label"], text.seconds(best.median),
                          text.seconds(limits.limit("peers", setup, size))])
    return [*text.table(["size", "best peer", "time", "limit"], lines), ""]


def without_empty(head, lines):
    """The same without columns that say of no line anything."""
    kept = [i for i in range(len(head)) if any(line[i] not in NOTHING for line in lines)]
    return [[line[i] for i in kept] for line in (head, *lines)]


def headlines(setup, rows):
    """Ours against the best peer of each row."""
    ours = [row for row in rows if row.contestant["kind"] == "ours"]
    if not ours:
        return best_peers(setup, rows)
    count = setup["hosts"] + setup["servers"] + bool(setup.get("tree"))
    head = ["size", "ours", "time", "what Open MPI does by default", "compared with" if setup.get("baseline") else "best peer",
            "ours is"]
    head += (["limit with servers", "limit without", f"ring over all {count} hosts"]
             if setup["servers"] else ["limit"])
    lines = [headline_row(setup, rows, row, results.reference(setup, rows, row.size)) for row in ours
             if row.contestant["name"] != setup.get("baseline")]
    if not setup["rate"] or setup["latency"]:
        head, lines = head[:6], [line[:6] for line in lines]
    head, *lines = without_empty(head, lines)
    return [*text.table(head, lines), ""]


def bandwidth(setup, row):
    """(algorithm bandwidth, bus bandwidth) in Mbit/s."""
    algorithm = row.volume * 8 / row.median / 1e6
    beside = setup["servers"] + bool(setup.get("tree"))
    hosts = setup["hosts"] + (beside if row.contestant["scheme"] == "all" else 0)
    ranks = hosts * setup["per_host"]
    return algorithm, algorithm * limits.bus_factor(setup["collective"], ranks)


def wire_cells(row):
    """Sent and received by a host with ranks, then by one with a server."""
    wire = row.wire or {}
    return [" / ".join(text.megabytes(wire.get(who + way)) for way in ("sent", "received"))
            for who in ("", "server_")]


def detail_row(setup, row, best):
    """One line of the second table."""
    algorithm, bus = bandwidth(setup, row)
    cells = [text.size(row.size), row.label, text.seconds(row.median),
             text.spread(row.least, row.most), row.launches,
             text.ratio(row.median / row.limit if row.limit else None),
             text.ratio(best.median / row.median) if best and row.contestant["kind"] != "other"
             else "—", text.digits(algorithm), text.digits(bus)]
    used = text.seconds(row.processor / setup["hosts"]) if row.processor is not None else "—"
    woke = "—" if row.wakes is None else f"{row.wakes:.3f}"
    return cells + wire_cells(row) + [offloaded(row), used, woke]


def hidden_columns(setup, rows):
    """Of the second table: those that would say nothing."""
    hidden = set()
    if not setup["rate"] or setup["latency"]:
        hidden |= {5}
    if setup["latency"]:
        hidden |= {7, 8}
    if all(row.wire is None for row in rows):
        hidden |= {9, 10}
    elif not setup["servers"]:
        hidden |= {10}
    if not any(row.contestant["kind"] == "ours" for row in rows):
        hidden |= {11}
    if not setup.get("processor"):
        hidden |= {12}
    if not setup["latency"] or not any(row.wakes for row in rows):
        hidden |= {13}
    return hidden


def shares(setup, rows):
    """Percent of a link that algorithms make use of: by the slowest, the median and the fastest launch."""
    sizes = sorted({row.size for row in rows})
    lines = {}
    for row in rows:
        best = limits.algorithm(row.contestant["name"], setup, row.size)
        slow, usual, fast = (f"{100 * best / time:.0f}" for time in (row.most, row.median, row.least))
        lines.setdefault(row.label, {})[row.size] = f"{usual} ({slow}–{fast})"
    return [*text.table(["percent of the link", *map(text.size, sizes)],
                        [[label, *(found.get(size, "—") for size in sizes)]
                         for label, found in lines.items()]), ""]


def percent(parts):
    """Median, lowest and highest."""
    usual, least, most = (f"{100 * part:.1f}" for part in parts)
    return f"{usual} % ({least}–{most})"


def per_gib(seconds, setup, row):
    """Of each host, for a GiB of the vector."""
    return seconds / setup["hosts"] / row.volume * 2**30


def blocking_of(result, setup):
    """{(contestant, size): row} of the same collective on as many hosts, blocking and by itself."""
    return {(row.contestant["name"], row.size): row
            for other in result["setups"] if other.get("processor") and not other.get("compute")
            and (other["collective"], other["hosts"]) == (setup["collective"], setup["hosts"])
            for row in results.rows_of(other) if row.processor}


def processor_cells(setup, row, blocking):
    """Of other threads, of the blocking operation, and what the first is of the second."""
    mine = per_gib(max(row.threads, 0), setup, row)     # less than none is what clocks differ by
    if not blocking:
        return [f"{mine:.2f}", "—", "—"]
    whole = per_gib(blocking.processor, setup, blocking)
    return [f"{mine:.2f}", f"{whole:.2f}", text.ratio(mine / whole)]


def varies(setup):
    """A sentence if the program takes much longer by itself in one launch than in another."""
    alone = [launch["alone"] for row in setup["rows"] for launch in row["launches"]]
    if max(alone) < VARIES * min(alone):
        return []
    return [f"The computation alone takes {text.spread(min(alone), max(alone))}, depending on the launch: the two processors of "
            "this machine seem to share one core at times. Differences are those within a launch, and of them the median "
            "counts.", ""]


def computed(setup, rows, blocking):
    """What programs lose whose ranks compute while operations move. blocking: as blocking_of has it."""
    lines = [[text.size(row.size), row.label, text.seconds(row.alone), percent(row.slowdown),
              f"{100 * max(row.threads, 0) / setup['hosts'] / row.alone:.1f} %", percent(row.beyond), row.launches,
              text.seconds(row.median), text.seconds(row.own), percent(row.hidden),
              *processor_cells(setup, row, blocking.get((row.contestant["name"], row.size))), offloaded(row)]
             for row in rows]
    return [*text.table(["size", "contestant", "computing alone", "slower beside the operation",
                         "processor time of other threads, of the time alone", "slower than by that (target: at most 2 %)",
                         "launches", "until both are over", "own time", "hidden",
                         "processor time of other threads, s/GiB", "of the same operation, blocking, s/GiB", "ratio",
                         "offloaded"], lines), "", *varies(setup)]


def overlapped(setup, rows):
    """What waits are left of operations that have time to move by themselves."""
    lines = [[text.size(row.size), row.label, text.seconds(row.median), text.spread(row.least, row.most),
              row.launches, text.seconds(row.own), percent(row.hidden),
              text.seconds(row.processor / setup["hosts"]), offloaded(row)] for row in rows]
    return [*text.table(["size", "contestant", "time", "min–max", "launches", "own time", "hidden",
                         "processor time, each host", "offloaded"], lines), ""]


def details(setup, rows):
    """Everybody at every size."""
    head = ["size", "contestant", "time", "min–max", "launches", "× limit", "ratio",
            "alg. Mbit/s", "bus Mbit/s", "MB sent / received, host with ranks",
            "MB sent / received, host with server", "offloaded", "processor time, each host", "helper woke, an operation"]
    lines = [detail_row(setup, row, results.reference(setup, rows, row.size)) for row in rows]
    hidden = hidden_columns(setup, rows)
    head, *lines = [[cell for i, cell in enumerate(line) if i not in hidden]
                    for line in (head, *lines)]
    return [*text.table(head, lines), ""]


def troubles(setup):
    """Who is missing, and which launches failed."""
    lines = []
    if not setup["check_passed"]:
        lines.append("* **The links did not carry what they should** when they were checked: "
                     "the processors were busy, and times mean little.")
    for contestant in setup["contestants"]:
        if contestant["absent"]:
            lines.append(f"* {contestant['label']} was not measured: {contestant['absent']}.")
        if contestant["errors"]:
            lines.append(f"* {contestant['label']}: {len(contestant['errors'])} launches failed, "
                         f"the first one: {contestant['errors'][0]}")
    return [*lines, ""] if lines else []


def notes(setup):
    """What belongs to the tables: headers, what a stream is, and who slept."""
    asleep = [c["label"] for c in setup["contestants"] if c["nap"] and not c["absent"]]
    headers = f"Limits are raw: headers make them {100 * (limits.HEADERS - 1):.1f} % longer. "
    stream = setup.get("stream", 1)
    streams = (f"An iteration starts {stream} operations, one after another, before it waits for the first one: times, "
               f"limits and bandwidths are of all {stream} together, bytes of one operation, and *offloaded* counts "
               "operations. " if stream > 1 else "")
    return [f"{streams}"
            f"{headers if setup['rate'] and not setup['latency'] else ''}"
            f"Measured with the nap: {'; '.join(asleep) or 'nobody'}.", ""]


def pictures(name, setup):
    """Markdown of the plots that are there; they are in the folder of the page."""
    lines = [f"![{what} over size]({plot.file_name(name, setup, what)})"
             for what in plot.kinds(setup)]
    return [*lines, ""] if lines else []


def setup_section(name, result, setup, plots):
    """A heading, tables, plots."""
    rows = results.rows_of(setup)
    lines = [f"## {setup['title']}", ""]
    if any(row.previous for row in rows):
        lines += comparison(rows)
    elif rows and setup.get("compute"):
        lines += computed(setup, rows, blocking_of(result, setup))
    elif rows and setup.get("overlap"):
        lines += overlapped(setup, rows)
    elif rows and setup.get("shares"):
        lines += shares(setup, rows) + details(setup, rows)
    elif rows:
        lines += headlines(setup, rows) + details(setup, rows)
    else:
        lines += ["Nothing could be measured.", ""]
    return lines + notes(setup) + troubles(setup) + (pictures(name, setup) if plots else [])


def facts_line(result):
    """Where and when."""
    facts = result["facts"]
    versions = [f"{title} {facts[name]}" for title, name in
                (("Open MPI", "openmpi"), ("MPICH", "mpich"), ("UCX", "ucx"), ("commit", "commit"))
                if facts[name]]
    return (f"{facts['date']}, {facts['cpus']} × {facts['cpu']}, Linux {facts['kernel']}, "
            f"{', '.join(versions)}; load before: {facts['load_before']:.2f}; "
            f"it took {result['seconds']:.0f} s.")


def reservations(result):
    """Why a result is less than a full one, as a sentence, or "" """
    said = ""
    if result["quick"]:
        said = " **This was a quick run: too few launches and sizes to claim anything.**"
    elif result["launches"] < results.ENOUGH_LAUNCHES:
        said = f" **Only {result['launches']} launches: too few to claim anything.**"
    if result.get("part"):
        said += " **This run did not end: these are the setups that it had finished.**"
    return said


def experiment_page(name, result, plots):
    """One result file."""
    real = " On a real cluster." if result["real"] else ""
    lines = [f"# {result['title']}", "",
             f"Made by `{result['command']}`.{real} {result['text']}{reservations(result)} "
             "[measuring.md](../measuring.md) explains the columns.", "",
             facts_line(result), ""]
    if result["settings"]:
        lines += [f"Settings of ours: `{' '.join(result['settings'])}`.", ""]
    for setup in result["setups"]:
        lines += setup_section(name, result, setup, plots)
    for special in (reduction, scale, regret, settings, simulate, size, training):
        if special.KEY in result:
            lines += special.section(result[special.KEY])
    return lines


def page_table(found, folder):
    """Links to the pages of all experiments, and what was not measured."""
    lines = [[f"[{result['title']}]({folder}/{name}.md)", f"`{name}`", result["facts"]["date"][:10],
              result["facts"]["commit"] or "—"] for name, result in found]
    missing = [e.name for e in experiments.EXPERIMENTS
               if not e.hidden and e.name not in {r["experiment"] for _, r in found}]
    listed = text.table(["page", "experiment", "measured", "commit"], lines)
    if missing:
        listed += ["", f"Not measured yet: {', '.join(f'`bench/run {name}`' for name in missing)}."]
    return listed


def save(path, lines):
    """A page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def write(folder, page, preface):
    """Writes the page, those of all results in FOLDER, and plots. Returns what could not be done."""
    found = results.load_all(folder)
    beside = page.with_suffix("")
    complaint = plot.begin(beside)
    for name, result in found:
        complaint = complaint or plot.draw_all(beside, name, result)
    for old in beside.glob("*.md"):
        old.unlink()
    for name, result in found:
        save(beside / f"{name}.md", experiment_page(name, result, not complaint))
    front = preface.read_text(encoding="utf-8")
    for mark, lines in (("headlines", headline.section(found, beside.name, not complaint)),
                        ("pages", page_table(found, beside.name))):
        front = front.replace(f"<!-- {mark} -->", "\n".join(lines).strip())
    save(page, [front])
    return complaint
