"""The smoke test's two halves: what is handed in is made here, and looked at on arm64.

`--make FOLDER` draws a frame on this machine; `--run CORE` stands inside the emulated machine and prints one JSON line,
`--failed` one in its place; `--report FILE` says what came of all runs. The emulated half uses nothing but what the
wheels brought.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

HANDS = {
    "A": {
        "front": ["Qs", "Qd", "4c"],
        "middle": ["9c", "9d", "5h", "5c", "2s"],
        "back": ["Ah", "Kh", "8h", "6h", "3h"],
    },
    "B": {
        "front": ["Kc", "Jd", "7s"],
        "middle": ["8c", "8d", "Tc", "6s", "2d"],
        "back": ["9s", "Ts", "Js", "Qh", "Kd"],
    },
}
SETTLED = {"1": 3, "2": -3}
"""Of these two hands, by the example of `tests/firmware/runtime/test_table_process.py`."""


STEP = "step: "


def make(folder: Path) -> None:
    """Draw a table of two hands, once, where it is quick."""
    import cv2

    from vision.felt.layout import TableLayout
    from vision.synthetic.render import render_table

    folder.mkdir(parents=True, exist_ok=True)
    scene = render_table(HANDS, TableLayout.load(), seed=1)
    cv2.imwrite(str(folder / "frame.png"), scene.frame)


def run(core: str) -> dict[str, Any]:
    """Import what the wheels brought, run the model, read the frame, settle the hand; raise what goes wrong."""
    seconds: dict[str, float] = {}

    def timed(name: str, what: Callable[[], Any]) -> Any:
        # where the whole process ends, the last of these is what is known
        sys.stderr.write(f"{STEP}{name}\n")
        sys.stderr.flush()
        began = time.monotonic()
        done = what()
        seconds[name] = round(time.monotonic() - began, 1)
        return done

    def imports() -> dict[str, str]:
        import cryptography  # noqa: F401
        import cv2  # noqa: F401
        import flask  # noqa: F401
        import waitress  # noqa: F401

        names = ("numpy", "onnxruntime", "opencv-python-headless", "cryptography")
        return {name: version(name) for name in names}

    versions = timed("import", imports)
    import numpy as np

    from firmware.rules import settle_json
    from vision.base.pictures import load_picture
    from vision.felt.layout import TableLayout
    from vision.reading.network import CardReader
    from vision.reading.table_reading import read

    reader = CardReader(threads=1)
    timed("model", lambda: reader.indices(np.zeros((64, 64, 3), np.uint8)))
    picture = load_picture(Path("frame.png"))
    reading = timed("frame", lambda: read(picture, TableLayout.load(), reader))
    seen = {(zone.place, zone.row): [card.card for card in zone.cards] for zone in reading.zones}
    wrong = [
        f"{place} {row}: {seen.get((place, row))}"
        for place, rows in HANDS.items()
        for row, cards in rows.items()
        if seen.get((place, row)) != cards
    ]
    hands = [
        {"seat": seat, **{row: " ".join(cards) for row, cards in HANDS[place].items()}}
        for seat, place in ((1, "A"), (2, "B"))
    ]
    settled = timed(
        "settle", lambda: settle_json({"profile": "washington-1-unit", "button": 1, "seats": hands})
    )
    if wrong or settled["points"] != SETTLED:
        raise SystemExit(f"read otherwise: {wrong}; settled to {settled['points']}")
    return {
        "core": core,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "versions": versions,
        "cards": sum(len(cards) for rows in HANDS.values() for cards in rows.values()),
        "seconds": seconds,
    }


def failed(core: str, python: str, said: str) -> dict[str, Any]:
    """Return the line of a run that did not end well, from all that it said."""
    lines = [line for line in said.splitlines() if line.strip()]
    steps = [line.removeprefix(STEP) for line in lines if line.startswith(STEP)]
    last = lines[-1] if lines and not lines[-1].startswith(STEP) else "it ended without a word"
    return {"core": core, "python": python, "failed": f"{steps[-1] if steps else 'start'}: {last}"}


def report(lines: list[dict[str, Any]], pages: dict[str, str], qemu: str, write: Path | None) -> None:
    """Say what came of the runs."""
    said = [
        "# arm64, under emulation",
        "",
        "Written by `make smoke-aarch64 ARGS='--write docs/aarch64-report.md'`: Debian's arm64 Python under QEMU's",
        f"user emulation ({qemu}), on a host with {os.cpu_count()} cores and a load of {os.getloadavg()[0]:.0f}.",
        "It shows that every wheel is there and runs on these cores, no more: seconds are the emulation's, hundreds",
        "of times a Pi's. The host's pip puts the wheels in place, for that platform; GPIO and camera are not",
        "emulated.",
        "",
        "| Python | core | ONNX Runtime, OpenCV, NumPy | a frame | a hand | import, model, frame, hand (s) |",
        "|---|---|---|---|---|---|",
    ]
    for line in lines:
        if line.get("failed"):
            said.append(f"| {line['python']} | {line['core']} | **failed** at {line['failed']} | | | |")
            continue
        of, took = line["versions"], line["seconds"]
        said.append(
            f"| {line['python']} | {line['core']} | "
            f"{', '.join(of[name] for name in ('onnxruntime', 'opencv-python-headless', 'numpy'))} | "
            f"all {line['cards']} read right | settled right | "
            + ", ".join(str(took[name]) for name in ("import", "model", "frame", "settle"))
            + " |"
        )
    said += [
        "",
        "## Pages of 16 KB",
        "",
        "The smallest alignment in each program and library of the wheels; a Pi 5 needs 16 KB.",
        "",
    ]
    said += [f"- Python {version}: {'; '.join(found.splitlines())}" for version, found in pages.items()]
    text = "\n".join(said) + "\n"
    if write:
        write.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def main() -> None:
    """Do one of the four."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--make", type=Path)
    parser.add_argument("--run")
    parser.add_argument("--failed", nargs=3, metavar=("CORE", "PYTHON", "SAID"))
    parser.add_argument("--report", type=Path)
    parser.add_argument("--qemu", default="")
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    if asked.make:
        make(asked.make)
    elif asked.run:
        sys.stdout.write(json.dumps(run(asked.run)) + "\n")
    elif asked.failed:
        core, python, said = asked.failed
        told = failed(core, python, Path(said).read_text(encoding="utf-8", errors="replace"))
        sys.stdout.write(json.dumps(told) + "\n")
    elif asked.report:
        found = sorted(asked.report.parent.glob("pages-*.txt"))
        pages = {path.stem.removeprefix("pages-"): path.read_text(encoding="utf-8") for path in found}
        lines = [json.loads(line) for line in asked.report.read_text().splitlines()]
        report(lines, pages, asked.qemu, asked.write)


if __name__ == "__main__":
    main()
