"""What KiCad says of both boards, and what a factory needs of them: `make boards`, with KiCad 9."""

import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Final

from hardware.make.boards.circuit import BOARDS, FOLDER
from hardware.make.tables import RuleBroken, ToolMissing

PROGRAM: Final = "kicad-cli"
LIMIT_S: Final = 300
DATED: Final = re.compile(r"^.*(?:CreationDate|Created by KiCad|DRILL file).*\n", re.MULTILINE)
"""The lines of a plot that differ each day."""
PARTS: Final = (
    *("--group-by", "Value,Footprint", "--fields", "Reference,Value,Footprint,${QUANTITY}"),
    *("--labels", "on the board,what,footprint,pieces"),
)
PICTURE: Final = ("--side", "top", "--background", "opaque", "-w", "800", "-h", "800")
REPORT: Final = "out/boards-check.md"


def run(*arguments: str | Path) -> str:
    """Run KiCad's program. Raises ToolMissing."""
    if shutil.which(PROGRAM) is None:
        raise ToolMissing(
            "kicad-cli is missing: apt-get install kicad (9 or later: Debian 13, or Debian 12's backports)"
        )
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode:
        raise ToolMissing(
            f"{PROGRAM} {' '.join(map(str, arguments[:3]))} failed: {(done.stderr + done.stdout)[-400:]}"
        )
    return done.stdout


def judge(folder: Path, board: str) -> dict[str, list[str]]:
    """Return what KiCad finds wrong with a drawing and its board, by the check's name. Raises ToolMissing."""
    with tempfile.TemporaryDirectory() as temporary:
        report = Path(temporary) / "report"
        found = {}
        for name, arguments in (
            ("ERC, the drawing", ("sch", "erc", folder / f"{board}.kicad_sch")),
            (
                "DRC, the board, and that it is the drawing's",
                ("pcb", "drc", "--schematic-parity", folder / f"{board}.kicad_pcb"),
            ),
        ):
            run(*arguments, "--severity-all", "-o", report)
            found[name] = re.findall(r"^\[.*", report.read_text(encoding="utf-8"), re.MULTILINE)
        return found


def _plots(folder: Path, board: str, out: Path) -> None:
    """Write what a factory needs: each layer and the holes, in one archive, the same bytes each day."""
    with tempfile.TemporaryDirectory() as temporary:
        run("pcb", "export", "gerbers", "-o", temporary, "--no-protel-ext", "-l",
            "F.Cu,B.Cu,F.Mask,B.Mask,F.SilkS,F.Paste,Edge.Cuts", folder / f"{board}.kicad_pcb")  # fmt: skip
        run(
            "pcb",
            "export",
            "drill",
            "-o",
            f"{temporary}/",
            "--excellon-separate-th",
            folder / f"{board}.kicad_pcb",
        )
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path in sorted(Path(temporary).iterdir()):
                text = DATED.sub("", path.read_text(encoding="utf-8"))
                archive.writestr(zipfile.ZipInfo(path.name), text, zipfile.ZIP_DEFLATED)


def check(root: Path) -> None:
    """Check both boards, write their plots, lists and pictures. Raises RuleBroken, ToolMissing."""
    folder, out = root / FOLDER, root / "out"
    lines = [
        "# What KiCad says of the boards",
        "",
        f"Made by `make boards` with KiCad {run('version').strip()}.",
        "",
    ]
    lines += ["| board | check | found |", "|---|---|--:|"]
    wrong = []
    for board in BOARDS:
        for name, found in judge(folder, board).items():
            lines.append(f"| {board} | {name} | {len(found)} |")
            wrong += [f"{board}: {one}" for one in found]
        _plots(folder, board, out / f"board-{board}.zip")
        drawing, plan = (folder / f"{board}.kicad_{ending}" for ending in ("sch", "pcb"))
        run("sch", "export", "bom", *PARTS, "-o", out / f"board-{board}-bom.csv", drawing)
        run("pcb", "render", *PICTURE, "-o", out / f"board-{board}.png", plan)
    if wrong:
        raise RuleBroken("; ".join(wrong))
    (root / REPORT).write_text("\n".join(lines) + "\n", encoding="utf-8")
