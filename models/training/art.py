"""Fetches free card art from npm and renders it: CC0 and MIT decks to train on.

The art is never committed: `python -m models.training art` installs the packages below into the cache with npm and
draws every card with rsvg-convert (Debian: librsvg2-bin). Training goes on without art where either is missing.
"""

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np

from models.training.samples import TrainingError
from vision.base.arrays import Image

CACHE = Path(__file__).parent / "cache"
PACKAGES = {  # version and licence
    "@letele/playing-cards": ("0.1.0", "CC0-1.0"),
    "@heruka_urgyen/react-playing-cards": ("0.5.0", "MIT"),
    "poker-cards": ("0.1.1", "MIT"),
}
_TOOLS = {"react": "18.3.1", "react-dom": "18.3.1", "@babel/runtime": "7.26.0"}
HEIGHT_PX = 600


def fetch() -> list[Path]:
    """Install the packages and draw their decks; return one folder of 52 PNG files per deck.

    Raises:
        TrainingError: npm, node or rsvg-convert is missing or failed.
    """
    require("npm", "node", "rsvg-convert")
    work, svg, png = CACHE / "npm", CACHE / "svg", CACHE / "art"
    npm_install(work, {name: version for name, (version, _) in PACKAGES.items()} | _TOOLS)
    shutil.copy(Path(__file__).parent / "render_art.mjs", work)
    run_tool(["node", "render_art.mjs", str(svg.resolve())], work)
    jobs = [(card, png / card.parent.name / f"{card.stem}.png") for card in sorted(svg.glob("*/*.svg"))]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda job: draw_svg(*job), jobs))
    return sorted(p for p in png.iterdir() if p.is_dir())


def is_there() -> bool:
    """Return whether the art has been drawn."""
    return any(CACHE.glob("art/*/As.png"))


def npm_install(folder: Path, packages: dict[str, str]) -> None:
    """Install packages, by their versions, in a folder; none of their scripts runs.

    Raises:
        TrainingError: npm failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    about = {"private": True, "type": "module", "dependencies": packages}
    (folder / "package.json").write_text(json.dumps(about))
    quiet = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps")
    run_tool(["npm", "install", *quiet], folder)


def require(*tools: str) -> None:
    """Check that programs are installed.

    Raises:
        TrainingError: one is not.
    """
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        raise TrainingError(f"{' and '.join(missing)} must be installed first (Debian: npm, librsvg2-bin)")


def run_tool(command: list[str], folder: Path) -> None:
    """Run a program in a folder.

    Raises:
        TrainingError: it failed; the message carries the end of what it said.
    """
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TrainingError(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-300:]}")


def draw_svg(svg: Path, png: Path) -> None:
    """Draw one card on white paper, `HEIGHT_PX` high.

    Raises:
        TrainingError: the file cannot be drawn.
    """
    png.parent.mkdir(parents=True, exist_ok=True)
    run_tool(
        ["rsvg-convert", "--unlimited", "-a", "-h", str(HEIGHT_PX), "-o", str(png), str(svg)], svg.parent
    )
    cv2.imwrite(str(png), on_white(png))


def on_white(path: Path, *, cut: bool = True) -> Image:
    """Lay a picture on white paper and cut it to the card (some art has a transparent border).

    Raises:
        TrainingError: the file holds no picture.
    """
    picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if picture is None or (picture.ndim == 3 and not picture.any()):
        raise TrainingError(f"{path.name} of {path.parent.name} could not be drawn")
    if picture.ndim == 2 or picture.shape[2] == 3:
        return np.asarray(picture, np.uint8)
    if cut:
        rows, columns = np.nonzero(picture[..., 3] > 127)
        picture = picture[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    share = picture[..., 3:].astype(np.float32) / 255
    return np.asarray(picture[..., :3] * share + 255 * (1 - share), np.uint8)
