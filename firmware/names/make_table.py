"""Writes `confusables.txt` beside it from Unicode's file of the same name; its argument is that file."""

import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Final

from firmware.names.skeleton import TABLE

_LINE: Final = re.compile(r"([0-9A-F]+) ;\t([0-9A-F ]+) ;\tMA\t")
_LICENCE: Final = "https://www.unicode.org/license.txt"


def compact(text: str) -> str:
    """Return Unicode's table in short: a line for each prototype, with all that looks like it.

    >>> print(compact("# Version: 1\\n# \\u00a9 Unicode\\n0031 ;\\t006C ;\\tMA\\t# one\\n").splitlines()[-1])
    6C = 31
    """
    of: dict[str, list[str]] = defaultdict(list)
    for source, prototype in _LINE.findall(text):
        of[" ".join(f"{int(code, 16):X}" for code in prototype.split())].append(f"{int(source, 16):X}")
    lines = [line.replace("\u00a9", "(c)").replace("\u00ae", "(R)") for line in text.splitlines()]
    notice = [line for line in lines if re.match(r"# (Version: |\(c\) |Date: )", line)]
    head = [
        "# What looks like what: PROTOTYPE = CHARACTERS, in hexadecimal: Unicode's confusables.txt, in short.",
        *notice,
        f"# Unicode License V3: {_LICENCE}",
        "# Written by: python -m firmware.names.make_table",
    ]
    return (
        "\n".join([*head, *(f"{prototype} = {' '.join(codes)}" for prototype, codes in sorted(of.items()))])
        + "\n"
    )


def main() -> None:
    """Write the table from the file that the command line names."""
    text = Path(sys.argv[1]).read_text(encoding="utf-8-sig")
    (Path(__file__).parent / TABLE).write_text(compact(text), encoding="ascii")


if __name__ == "__main__":
    main()
