"""The maps of the tree, made from its folders' READMEs: `python -m docs.tree` writes them again.

README.md names every folder, the page on architecture says what lives in each, and the book has a page for each README.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from docs.facts import ROOT

TOPS: Final = ("vision", "firmware", "dealer_ui", "pit", "models", "hardware", "systemd")
OTHERS: Final = {"docs": "the book", "tests": "they mirror these folders"}
FOLDERS: Final = ROOT / "docs/developer/folders"
WIDTH: Final = 118
_MAP: Final = re.compile(r"(<!-- made by python -m docs.tree -->\n)```text\n.*?```", re.DOTALL)


def subfolders(top: str) -> list[Path]:
    """Return the folders below a top one that hold sources or have a README, each as a path from the root."""
    found = {path.parent for suffix in ("py", "md") for path in (ROOT / top).rglob(f"*.{suffix}")}
    inner = {folder.relative_to(ROOT) for folder in found if "out" not in folder.parts}
    return sorted(folder for folder in inner if len(folder.parts) > 1 and "__pycache__" not in folder.parts)


def sentence(folder: Path) -> str:
    """Return what a folder is for: the first sentence of its README, else of its package. "" without either."""
    readme, package = ROOT / folder / "README.md", ROOT / folder / "__init__.py"
    if readme.exists():
        text = readme.read_text(encoding="utf-8").split("\n\n")[1]
    elif package.exists():
        text = package.read_text(encoding="utf-8").strip().strip('"')
    else:
        return ""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(text.split()))
    first = re.split(r"(?<=\.)\s(?=[A-Z`])|(?<=:)\s(?=[A-Z])", words)[0]
    return re.sub("[`*]", "", first).rstrip(".:")


def short_map() -> str:
    """Return every folder's name, a line or more for each top one."""
    lines = []
    for top in TOPS:
        names = " ".join(str(folder.relative_to(top)) for folder in subfolders(top) if len(folder.parts) == 2)
        lines += [f"{top}/".ljust(12) + sentence(Path(top)), *_wrap(names)]
    lines += [f"{top}/".ljust(12) + what for top, what in OTHERS.items()]
    return "\n".join(lines)


def long_map() -> str:
    """Return every folder with what it is for."""
    lines = []
    for top in TOPS:
        lines.append(f"{top}/".ljust(24) + sentence(Path(top)))
        for folder in subfolders(top):
            indent = "  " * (len(folder.parts) - 1)
            lines.append(f"{indent}{folder.name}/".ljust(24) + sentence(folder))
    return "\n".join(line.rstrip() for line in lines)


def pages() -> dict[str, str]:
    """Return the book's page of each README, by its file's name."""
    with_readme = [Path(top) for top in TOPS] + [folder for top in TOPS for folder in subfolders(top)]
    return {
        f"{'-'.join(folder.parts)}.md": f"# {folder}\n\n```{{made}} readme {folder}\n```\n"
        for folder in with_readme
        if (ROOT / folder / "README.md").exists()
    }


def with_map(path: str, drawn: str) -> str:
    """Return a page's text with this map in its place."""
    text, count = _MAP.subn(
        lambda found: f"{found[1]}```text\n{drawn}\n```", (ROOT / path).read_text(encoding="utf-8")
    )
    assert count == 1, path
    return text


def files_to_write() -> dict[Path, str]:
    """Return every file that is made here, with its text."""
    maps = {"README.md": short_map(), "docs/developer/architecture.md": long_map()}
    return {ROOT / path: with_map(path, drawn) for path, drawn in maps.items()} | {
        FOLDERS / name: text for name, text in pages().items()
    }


def _wrap(names: str) -> Iterator[str]:
    line = " " * 11
    for name in names.split():
        if len(line) + 1 + len(name) > WIDTH:
            yield line
            line = " " * 11
        line += f" {name}"
    if line.strip():
        yield line


def main() -> None:
    """Write the maps and pages; remove pages of folders that are gone."""
    files = files_to_write()
    for path in FOLDERS.glob("*.md"):
        if path not in files:
            path.unlink()
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
