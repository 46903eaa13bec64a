"""The commands of a page of the book, as somebody would type them."""

from __future__ import annotations

import re
from pathlib import Path

BOOK = Path(__file__).parents[2] / "docs"


def commands(page: str, heading: str, other: dict[str, str] | None = None) -> list[str]:
    """Return the lines of the blocks below a heading, for root: `sudo` is left out, `sudo -u` becomes runuser.

    `other`: what stands on the page, and what is put for it here. All of it must be there, so a changed page is seen.
    """
    text = (BOOK / page).read_text(encoding="utf-8")
    part = re.search(rf"(?ms)^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text)
    assert part, f"{page} has no heading {heading}"
    blocks = re.findall(r"(?ms)^```([^\n]*)\n(.*?)^```$", part[1])
    lines = [line for made, block in blocks if not made for line in block.splitlines()]
    assert lines, f"{page}: no command below {heading}"
    for written, here in (other or {}).items():
        assert any(written in line for line in lines), f"{page} does not say {written}"
        lines = [line.replace(written, here) for line in lines]
    return [re.sub(r"\bsudo ", "", re.sub(r"\bsudo -u (\S+)", r"runuser -u \1 --", line)) for line in lines]
