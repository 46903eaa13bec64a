"""What is committed is what the sources make, without the tools that draw it and on two runs alike."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
import pytest
from click.testing import CliRunner

from hardware.make.__main__ import main, standard_frame, write_prints, write_texts
from hardware.make.mech import STAMPS, stamps
from tests.hardware.cases import HARDWARE
from vision.felt.layout import TableLayout

STALE = "the committed file is not what its source makes: run `make hardware`"


def pages(path: Path) -> list[np.ndarray[Any, np.dtype[np.uint8]]]:
    with pypdfium2.PdfDocument(path) as pdf:
        return [np.array(page.render(scale=0.35).to_numpy(), np.uint8) for page in pdf]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that is made without outer tools, made again."""
    root = tmp_path_factory.mktemp("hardware")
    write_texts(root)
    write_prints(root / "out", TableLayout.load(), standard_frame())
    return root


def test_committed_files_are_what_their_sources_make(fresh: Path) -> None:
    """A PDF may differ by its library's release: its pages do not."""
    written = [path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()]
    assert len(written) > 25
    for name in written:
        if name.suffix != ".pdf":
            assert (fresh / name).read_text() == (HARDWARE / name).read_text(), f"{name}: {STALE}"
            continue
        made, kept = pages(fresh / name), pages(HARDWARE / name)
        assert [page.shape for page in made] == [page.shape for page in kept], f"{name}: {STALE}"
        for one, other in zip(made, kept, strict=True):
            assert np.abs(one.astype(int) - other).max() <= 8, f"{name}: {STALE}"


def test_what_outer_tools_made_is_of_the_sources_as_they_are_and_nobody_changed_it() -> None:
    """So a stale STL, picture or drawing is found where OpenSCAD is not installed, too."""
    assert json.loads((HARDWARE / STAMPS).read_text()) == stamps(HARDWARE), STALE


def test_a_changed_source_is_found(tmp_path: Path) -> None:
    shutil.copytree(HARDWARE, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.pdf~"))
    with (tmp_path / "mech/puck_shell.scad").open("a") as file:
        file.write("// thinner\n")
    kept, now = stamps(HARDWARE), stamps(tmp_path)
    stale = {name for name in kept if kept[name] != now[name]}
    assert stale == {name for name in kept if "assembly-" in name} | {"out/puck_shell.stl", "out/table.glb"}


def test_every_file_of_the_folder_is_made_by_something_that_is_tested_and_the_same_twice(
    fresh: Path, tmp_path: Path
) -> None:
    made = {path.name for path in (fresh / "out").iterdir()} | {Path(name).name for name in stamps(HARDWARE)}
    made |= {Path(STAMPS).name, "test-cards.pdf"}
    assert {path.name for path in (HARDWARE / "out").iterdir()} <= made
    write_texts(tmp_path)
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert path.read_bytes() == (fresh / path.relative_to(tmp_path)).read_bytes(), path.name


def test_the_tool_writes_a_felt_of_a_houses_own_and_says_what_is_wrong(tmp_path: Path) -> None:
    asked = ["felt", "--layout", str(tmp_path / "none.toml"), "--out", str(tmp_path)]
    wrong = CliRunner().invoke(main, asked)
    assert wrong.exit_code == 2
    assert "cannot be read" in wrong.output
    assert "Traceback" not in wrong.output
    pinwheel = CliRunner().invoke(main, ["arrangement", "pinwheel", "--card-width", "57"])
    assert TableLayout.parse(pinwheel.output).card.width_mm == 57
