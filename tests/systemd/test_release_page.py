"""The page that lists a release's files, made from a folder as the builds leave it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

SCRIPT: Final = Path(__file__).parents[2] / "systemd/release-page"
LISTED: Final = (
    "feltwatch-0.2.0-py3-none-any.whl",
    "feltwatch_rules-0.2.0-py3-none-any.whl",
    "feltwatch-0.2.0-ab12cd34-aarch64.tar.gz",
    "feltwatch-card-0.2.0-ab12cd34/targets/feltwatch-card-0.2.0-ab12cd34.img",
)
NOT_LISTED: Final = (
    "feltwatch-aarch64/wheels/feltwatch-0.2.0-py3-none-any.whl",
    "repository/targets/feltwatch-1.tar.gz",
)


def listed(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, folder], capture_output=True, text=True, check=False)


def test_the_page_of_a_release_lists_each_file_with_its_use_and_a_checksum_that_holds(tmp_path: Path) -> None:
    for name in (*LISTED, *NOT_LISTED):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    done = listed(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "lists 4 files" in done.stdout
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("<li>")]
    assert [line.split('"')[1] for line in lines] == sorted(LISTED)
    assert all(": . " not in line for line in lines), "each says what it is for"
    assert "feltwatch update --from-stick" in page
    assert "<pre" in page
    assert "## " in page
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    (tmp_path / LISTED[0]).write_text("another")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_an_empty_folder_is_no_release(tmp_path: Path) -> None:
    done = listed(tmp_path)
    assert done.returncode == 1
    assert "make release" in done.stderr
    assert not (tmp_path / "index.html").exists()
