# SPDX-License-Identifier: BSD-3-Clause
"""Owns the comparison of what files include with the tables in doc/architecture.md, of the maps of folders with the
folders, and of links and paths with what they name.

usage: arrows.py TREE
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'#\s*include "([^"]+)"')
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Programs, which may use whatever there is, and what is no folder of sources of the product.
PROGRAMS = ("bench", "examples", "tests", "tools", "compat")
README_WORDS = 1300


def rows(tree, columns):
    """The cells of each row about a folder, which is the first cell, in tables of so many columns."""
    for line in (tree / "doc/architecture.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == columns and re.fullmatch(r"`[^`]+/`", cells[0]):
            yield [cells[0].strip("`"), *cells[1:]]


def table(tree):
    """{folder: folders it may include}, by the table of parts; folders as "multicast/core/"."""
    return {cells[0]: tuple(word.strip("`") for word in cells[3].split()) for cells in rows(tree, 5)}


def programs(tree):
    """{folder: (folders whose doors it uses, inner headers)}, by the table of tools and benchmarks."""
    return {cells[0]: (re.findall(r"`([^`]+/)`", cells[2]), re.findall(r"`([^`]+\.h)`", cells[3]))
            for cells in rows(tree, 4)}


def doors(tree):
    """{folder: its doors}, by both tables; None: all of its headers are."""
    found = {cells[0]: cells[2] for cells in rows(tree, 5)} | {cells[0]: cells[1] for cells in rows(tree, 4)}
    return {folder: None if "its headers" in text
            else {folder + name.rpartition("/")[2] for name in re.findall(r"`([^`]+\.h)`", text)}
            for folder, text in found.items()}


def room_of(path, allowed):
    """The folder of the table that has the file; None: none has."""
    rooms = [room for room in allowed if str(path).startswith(room)]
    return max(rooms, key=len, default=None)


def sources(tree):
    """All files of C, but of build trees."""
    for path in sorted(tree.rglob("*.[ch]")):
        first = path.relative_to(tree).parts[0]
        if not first.startswith((".", "build")):
            yield path.relative_to(tree)


def wrong_includes(tree, allowed):
    """A line for each; and for what the table allows in vain."""
    used = set()
    for path in sources(tree):
        room = room_of(path, allowed)
        if room is None:
            continue
        for line in (tree / path).read_text(encoding="utf-8").splitlines():
            found = INCLUDE.match(line)
            other = room_of(found.group(1), allowed) if found and "/" in found.group(1) else room
            used.add((room, other))
            if other not in (None, room, *allowed[room]):
                yield f"{path} includes {found.group(1)}, which the table does not allow to {room}"
    for room, others in allowed.items():
        for other in others:
            if (room, other) not in used:
                yield f"the table allows {other} to {room}, which nothing there includes"


def wrong_program_includes(tree):
    """A line for each header that the row of a tool or benchmark does not allow; and for what a row allows in vain."""
    known, open_doors, used = programs(tree), doors(tree), set()
    for path in sources(tree):
        room = f"{path.parent}/"
        if path.parts[0] not in ("bench", "tools"):
            continue
        if room not in known:
            yield f"{path}: {room} is not in the table of tools and benchmarks"
            continue
        for header in INCLUDE.findall((tree / path).read_text(encoding="utf-8")):
            folder = header.rpartition("/")[0] + "/"
            through = header if header in known[room][1] else folder
            is_door = folder in known[room][0] and (open_doors.get(folder) is None or header in open_doors[folder])
            used.add((room, through))
            if folder not in ("/", room) and through == folder and not is_door:
                yield f"{path} includes {header}, which is no door that the table allows to {room}"
    for room, (folders, inner) in known.items():
        for other in [*folders, *inner]:
            if (room, other) not in used:
                yield f"the table allows {other} to {room}, which nothing there includes"


def circles(allowed):
    """Of folders, by the table: each is above all that it may include."""
    rest, before = dict(allowed), None
    while before != len(rest):
        before = len(rest)
        named = {other for others in rest.values() for other in others}
        rest = {room: [other for other in others if other in rest] for room, others in rest.items()}
        rest = {room: others for room, others in rest.items() if others and room in named}
    if rest:
        yield f"the table has a circle among {' '.join(sorted(rest))}"


def missing_in_maps(tree, allowed):
    """Folders with sources that a reader is not told of."""
    readme = (tree / "README.md").read_text(encoding="utf-8")
    for folder in sorted({path.parts[0] for path in sources(tree)} - {"compat"}):
        if f"`{folder}/" not in readme:
            yield f"{folder}/ is not in README.md"
    for folder in sorted({str(path.parent) + "/" for path in sources(tree) if path.parts[0] not in PROGRAMS}):
        if folder not in allowed:
            yield f"{folder} is not in the table of doc/architecture.md"


def anchors(text):
    """As GitHub makes them of headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return found


def broken_links(tree):
    """Of all pages but those that are measured."""
    for page in sorted([*tree.glob("*.md"), *(tree / "doc").glob("*.md")]):
        name, text = page.relative_to(tree), page.read_text(encoding="utf-8")
        for link in LINK.findall(text):
            target, _, part = link.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            path = (page.parent / target).resolve() if target else page
            shown = path.relative_to(tree.resolve()) if path.is_relative_to(tree.resolve()) else path
            if not path.exists():
                yield f"{name}: there is no {shown}"
            elif part and path.suffix == ".md" and part not in anchors(path.read_text(encoding="utf-8")):
                yield f"{name}: {shown} has no #{part}"


def names_something(tree, name):
    """Whether it is a file or folder, a program, or a test as run-tests calls it."""
    return any((tree / top / (name + end)).exists() for top in ("", "tests") for end in ("", ".c", ".sh"))


def missing_paths(tree):
    """Of files and folders that these pages name; in doc/testing.md, those that begin with a folder of the tree."""
    for page in ("CONTRIBUTING.md", "doc/testing.md"):
        for name in re.findall(r"`([\w.-]+(?:/[\w.-]*)+)`", (tree / page).read_text(encoding="utf-8")):
            is_path = "CONTRIBUTING.md" == page or (tree / name.partition("/")[0]).is_dir()
            if is_path and not re.search("NAME|SUITE", name) and not names_something(tree, name):
                yield f"{page}: there is no {name}"


def main():
    """Says what is wrong, or how much there is."""
    tree = pathlib.Path(sys.argv[1])
    allowed = table(tree)
    complaints = [*wrong_includes(tree, allowed), *wrong_program_includes(tree), *circles(allowed),
                  *missing_in_maps(tree, allowed), *broken_links(tree), *missing_paths(tree)]
    words = len((tree / "README.md").read_text(encoding="utf-8").split())
    if words > README_WORDS:
        complaints.append(f"README.md has {words} words, more than {README_WORDS}")
    print("\n".join(complaints) if complaints else f"{len(allowed)} folders, {words} words in README.md")
    return 1 if complaints else 0


sys.exit(main())
