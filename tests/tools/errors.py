# SPDX-License-Identifier: BSD-3-Clause
"""Owns the search for error texts that are not written on failure only, by whoever detects it.

usage: errors.py TREE

Looks at the .c files of the product but of tools and benchmarks, where such a text is a variable or argument `error`.
A caller that prepares the text hides a callee that fails without a word, and a function that writes it before it knows
does the same for what comes later.
"""
import pathlib
import re
import sys

PREPARED = re.compile(r"\bchar error\[[^\]]*\]\s*=|\berror\[0\]\s*=[^=]")
WRITTEN = re.compile(r"^ {4}snprintf\(error,.*?\);\n", re.DOTALL | re.MULTILINE)
# What may come after the text has been written outside of any condition: words that tidy up, and a failure.
END = re.compile(r"(?: {4}(?!return)[\w>.\[\]-]+(?:\([^;{}]*\)| = [^;(){}?]*);\n)*"
                 r"(?: {4}return (?:OC_ERR_\w+|OC_DECLINED|false|NULL|-1|EXIT_FAILURE|\w+"
                 r"|\w+ == \w+ \? OC_ERR_\w+ : OC_ERR_\w+);|\})")
SUCCESS = re.compile(r" {4}return (?:OC_OK|true|0|EXIT_SUCCESS);")


def sources(tree):
    """{path in the tree: text} of the .c files of the product."""
    found = {}
    for path in sorted(tree.rglob("*.c")):
        name = path.relative_to(tree)
        if not name.parts[0].startswith((".", "build", "tests", "compat", "examples", "tools", "bench")):
            found[str(name)] = path.read_text(encoding="utf-8")
    return found


def line(text, at):
    """The number of the line at an offset."""
    return text.count("\n", 0, at) + 1


def wrong(path, text):
    """A line for each place where a text is prepared, or written before there is a failure."""
    for match in PREPARED.finditer(text):
        yield f"{path}:{line(text, match.start())}: the error text is prepared before anything has failed"
    for match in WRITTEN.finditer(text):
        end = END.match(text, match.end())
        if end is None or SUCCESS.search(end.group(0)):
            yield f"{path}:{line(text, match.start())}: the error text is written, and what follows may succeed"


def main():
    """Says what is wrong, or how much there is."""
    files = sources(pathlib.Path(sys.argv[1]))
    complaints = [complaint for path, text in files.items() for complaint in wrong(path, text)]
    texts = sum(len(re.findall(r"snprintf\(error,", text)) for text in files.values())
    print("\n".join(complaints) if complaints else f"{texts} error texts in {len(files)} files")
    return 1 if complaints or 0 == texts else 0


sys.exit(main())
