# SPDX-License-Identifier: BSD-3-Clause
"""Owns the search for names that mean two things, for headers that declare what another file defines, and for files
that do not say what they own.

usage: names.py TREE

Looks at files of C, but not at those of tests and build trees. Headers may have the name of another one: they are named
with their folder.
"""
import collections
import pathlib
import re
import sys

LICENCE = "/* SPDX-License-Identifier: BSD-3-Clause */"
FUNCTION = re.compile(r"^(?!static\b|typedef\b)[A-Za-z_][\w \t\n*]*?\b(\w+)\([^;{}]*\)\s*\{", re.MULTILINE)
# Doors: headers that declare what several files define, and how the names of these files begin.
DOORS = {
    "client/client.h": "client/",
    "multicast/core/cast_core.h": "multicast/core/",
    "multicast/peers/cast_peers.h": "multicast/peers/",
    "multicast/service/multicast.h": "multicast/service/",
    "multicast/transport/verbs.h": "multicast/transport/verbs",
    "server/aggregator/above.h": "server/aggregator/above",
    "ucx_backend/worker.h": "ucx_backend/",
}


def sources(tree):
    """{path in the tree: text} of the product's files of C."""
    found = {}
    for path in sorted(tree.rglob("*.[ch]")):
        name = path.relative_to(tree)
        if not name.parts[0].startswith((".", "build", "tests", "compat")):
            found[str(name)] = path.read_text(encoding="utf-8")
    return found


def bare(text):
    """Without comments, texts, lines of the preprocessor, and what is inside of braces."""
    text = re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", " ", text, flags=re.DOTALL)
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.MULTILINE)
    depth, kept = 0, []
    for letter in text:
        depth -= letter == "}"
        if 0 == depth or (1 == depth and letter == "{"):
            kept.append(letter)
        depth += letter == "{"
    return "".join(kept)


def declared(text):
    """Names of the external functions that a header declares."""
    found = []
    for statement in re.split(r";|\{\}", bare(text)):
        statement = re.sub(r"__attribute__\s*\(\(.*?\)\)+", "", statement).strip()
        if not re.match(r"(typedef|static|OC_WIRE_INLINE)\b", statement) and "=" not in statement:
            found += re.findall(r"^[^(]*?\b(\w+)\s*\(", statement)[:1]
    return [name for name in found if name.startswith(("oc_", "mca_", "optcast_"))]


def defined(text):
    """Names of the external functions that a file defines."""
    return {name for name in FUNCTION.findall(bare(text)) if name.startswith(("oc_", "mca_", "optcast_"))}


def static(text):
    """Names of the static functions that a file defines: a debugger shows them without the file."""
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)+", "", bare(text))
    return set(re.findall(r"^static\b[^;{=]*?\b(\w+)\([^;{}]*\)\s*\{", text, re.MULTILINE))


def types(text):
    """Names of the types that a file defines, without _t; a name for a structure of another place is none."""
    text = bare(text)
    found = re.findall(r"\} ?((?:oc|mca|optcast)_\w+_t);", text)
    found += re.findall(r"^(?:typedef )?(?:struct|union|enum) ((?:oc|mca|optcast)_\w+) \{", text, re.MULTILINE)
    found += re.findall(r"^typedef [^;{]*\(\*((?:oc|mca|optcast)_\w+_t)\)", text, re.MULTILINE)
    return {name.removesuffix("_t") for name in found}


def twice(what, names):
    """A line for each name of {file: names} that several files have."""
    owners = collections.defaultdict(list)
    for path, own in names.items():
        for name in own:
            owners[name].append(path)
    for name, paths in sorted(owners.items()):
        if len(paths) > 1:
            yield f"the {what} {name} is in {' and '.join(paths)}"


def repeated(files):
    """A line for each name of a file, type or function that is there twice. NAME_none.c stands in for NAME.c.

    Static functions of tools and benchmarks, which are programs of few files, may have each other's names.
    """
    code = {path: text for path, text in files.items() if path.endswith(".c") and not path.endswith("_none.c")}
    names = {path: {pathlib.PurePath(path).name} - {"main.c"} for path in code}
    yield from twice("file name", names)
    yield from twice("type", {path: types(text) for path, text in files.items()})
    yield from twice("function", {path: defined(text) for path, text in code.items()})
    yield from twice("static function", {path: static(text) for path, text in files.items()
                                         if not path.startswith(("bench/", "tools/"))})


def strangers(files):
    """A line for each header that declares what another file defines. NAME_inside.h is for the parts of NAME.c."""
    owners = {name: path for path, text in files.items() if path.endswith(".c") and not path.endswith("_none.c")
              for name in defined(text)}
    for path in files:
        own = path[:-2].removesuffix("_inside") + ".c"
        for name in declared(files[path]) if path.endswith(".h") else ():
            owner = owners.get(name, "no file")
            if owner != own and not owner.startswith(DOORS.get(path, "nothing")):
                yield f"{path} declares {name}, which {owner} defines"


def silent(files):
    """A line for each file that does not begin with the licence and a sentence about itself."""
    for path, text in files.items():
        if not text.startswith(LICENCE + "\n"):
            yield f"{path} does not begin with {LICENCE}"
            continue
        head = re.match(r"/\*(.*?)\*/", text[len(LICENCE) + 1:], re.DOTALL)
        if head is None or not re.search(r"\w+\s\S+.*?[\w)>/\"]\.", head.group(1), re.DOTALL):
            yield f"{path} does not say what it owns"


def main():
    """Says what is wrong, or how much there is."""
    files = sources(pathlib.Path(sys.argv[1]))
    complaints = [*repeated(files), *strangers(files), *silent(files)]
    print("\n".join(complaints) if complaints else f"{len(files)} files")
    return 1 if complaints or not files else 0


sys.exit(main())
