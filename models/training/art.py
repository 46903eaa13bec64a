"""Fetches free card art from npm and renders it: CC0 and MIT decks to train on.

The art is never committed: `python -m models.training art` installs the packages below into the cache with npm and
draws every card with rsvg-convert (Debian: librsvg2-bin). Training goes on without art where either is missing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import cv2
import numpy as np

from vision.base.arrays import Image

CACHE = Path(__file__).parent / "cache"
PACKAGES = {  # version and licence
    "@letele/playing-cards": ("0.1.0", "CC0-1.0"),
    "@heruka_urgyen/react-playing-cards": ("0.5.0", "MIT"),
    "poker-cards": ("0.1.1", "MIT"),
}
_TOOLS = {"react": "18.3.1", "react-dom": "18.3.1", "@babel/runtime": "7.26.0"}
HEIGHT_PX = 600


class ArtError(RuntimeError):
    """Card art could not be fetched or drawn."""


def fetch(cache: Path = CACHE) -> list[Path]:
    """Install the packages and draw their decks; return one folder of 52 PNG files per deck.

    Raises:
        ArtError: npm, node or rsvg-convert is missing or failed.
    """
    require("npm", "node", "rsvg-convert")
    work, svg, png = cache / "npm", cache / "svg", cache / "art"
    work.mkdir(parents=True, exist_ok=True)
    wanted = {name: version for name, (version, _) in PACKAGES.items()} | _TOOLS
    (work / "package.json").write_text(
        json.dumps({"private": True, "type": "module", "dependencies": wanted})
    )
    run_tool(
        ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps"],
        work,
    )
    shutil.copy(Path(__file__).parent / "render_art.mjs", work)
    run_tool(["node", "render_art.mjs", str(svg.resolve())], work)
    jobs = [(card, png / card.parent.name / f"{card.stem}.png") for card in sorted(svg.glob("*/*.svg"))]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda job: draw_svg(*job), jobs))
    return sorted(p for p in png.iterdir() if p.is_dir())


def require(*tools: str) -> None:
    """Check that programs are installed.

    Raises:
        ArtError: one is not.
    """
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        raise ArtError(f"{' and '.join(missing)} must be installed first (Debian: npm, librsvg2-bin)")


def run_tool(command: list[str], folder: Path) -> None:
    """Run a program in a folder.

    Raises:
        ArtError: it failed; the message carries the end of what it said.
    """
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ArtError(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-300:]}")


def draw_svg(svg: Path, png: Path) -> None:
    """Draw one card on white paper, `HEIGHT_PX` high.

    Raises:
        ArtError: the file cannot be drawn.
    """
    png.parent.mkdir(parents=True, exist_ok=True)
    run_tool(
        ["rsvg-convert", "--unlimited", "-a", "-h", str(HEIGHT_PX), "-o", str(png), str(svg)], svg.parent
    )
    picture = cv2.imread(str(png), cv2.IMREAD_UNCHANGED)
    if picture is None:
        raise ArtError(f"{svg.name} of {svg.parent.name} could not be drawn")
    cv2.imwrite(str(png), _on_white(np.asarray(picture, np.uint8)))


def _on_white(picture: Image) -> Image:
    """Lay a BGRA picture on white paper and cut it to the card (some art has a transparent border)."""
    if picture.ndim == 2 or picture.shape[2] == 3:
        return picture
    alpha = picture[..., 3:]
    rows, columns = np.nonzero(alpha[..., 0] > 127)
    box = np.s_[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    share = alpha[box].astype(np.float32) / 255
    return np.asarray(picture[box][..., :3] * share + 255 * (1 - share), np.uint8)


def fetching(fetch: Callable[[], Iterable[Path]], words: str) -> click.Command:
    """Return the command that fetches decks, one folder after the other, and says what each has."""

    def command() -> None:
        try:
            for folder in fetch():
                click.echo(f"{folder.name}: {len(list(folder.glob('*.png')))} cards")
        except (ArtError, OSError, subprocess.SubprocessError) as error:
            raise click.ClickException(str(error)) from error

    return click.command(help=words)(command)


command = fetching(fetch, "Fetch free card art to train on.")
