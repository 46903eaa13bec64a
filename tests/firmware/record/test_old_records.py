"""Records, backups and dispute files of releases 0.1 and 0.2.0 are read, verified and settled by the code of today."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.table.events import BY_TYPE

RELEASES = ("0_1", "0_2")
KEYS = {"0_1": "juviv-zajum-hidat-lurof-daduz", "0_2": "rumaj-hupod-kozoh-taton-gavod"}
RECORDS = [
    pytest.param((release, name), id=f"{release} {name}")
    for release in RELEASES
    for name in ("washington", "face-up", "washington-backup")
]


def folder(release: str) -> Path:
    """Return the folder of what a release wrote."""
    return Path(__file__).with_name(f"records_of_{release}")


DISPUTE_FILES = [file for release in RELEASES for file in sorted(folder(release).glob("hand-*.zip"))]
FIGURES: dict[str, dict[str, dict[str, list[dict[str, Any]]]]] = {
    release: json.loads((folder(release) / "figures.json").read_text()) for release in RELEASES
}


def feltwatch(*arguments: object, exits: int = 0) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == exits, result.output
    return result.output


def unpacked(release: str, name: str, into: Path) -> Path:
    """Unpack a record as it lay on its disk, and return its folder."""
    with tarfile.open(folder(release) / f"{name}.tar.xz") as packed:
        packed.extractall(into, filter="data")
    return into / name


@pytest.fixture(params=RECORDS)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of a record of an old release."""
    release, name = request.param
    return unpacked(release, name, tmp_path)


@pytest.fixture
def figures(request: pytest.FixtureRequest, old: Path) -> dict[str, list[dict[str, Any]]]:
    """The result of each hand's settlement in the record."""
    release, name = request.node.callspec.params["old"]
    return FIGURES[release][name.removesuffix("-backup")]


def test_an_old_record_verifies_row_by_row_and_what_its_rows_mean_can_be_followed(old: Path) -> None:
    said = feltwatch("hands", "verify", "--all", "--replay", "--data", old, exits=1)
    assert "WRONG" not in said
    assert "NOT signed" in said, "no old release signed a head at the end of a hand"


def test_an_old_record_shows_the_figures_that_were_shown_then(
    old: Path, figures: dict[str, list[dict[str, Any]]]
) -> None:
    for hand, settlements in figures.items():
        shown = json.loads(feltwatch("hands", "show", hand, "--json", "--data", old))["settlements"]
        assert [{name: s["settlement"][name] for name in ("paid", "points")} for s in shown] == settlements


def test_every_ended_hand_of_an_old_record_is_settled_to_the_same_figures(
    old: Path, figures: dict[str, list[dict[str, Any]]]
) -> None:
    *ended, _ = figures.values()
    settlements = sum(map(len, ended))
    audited = feltwatch("audit", "--no-pictures", "--processes", 1, "--data", old)
    assert f"{settlements} settlements" in audited
    assert "0 differences" in audited


@pytest.mark.parametrize("release", RELEASES)
def test_an_old_backup_is_restored_and_verifies(release: str, tmp_path: Path) -> None:
    backup = unpacked(release, "washington-backup", tmp_path)
    words = ("restore", backup, "--data", tmp_path / "restored", "--yes")
    assert "NOT signed" in feltwatch(*words, exits=1)
    feltwatch(*words, "--unproven")
    said = feltwatch("hands", "verify", "--all", "--data", tmp_path / "restored", exits=1)
    assert "WRONG" not in said


@pytest.mark.parametrize("file", DISPUTE_FILES, ids=lambda file: f"{file.parent.name} {file.stem}")
def test_an_old_dispute_file_holds_and_names_the_same_key(file: Path) -> None:
    verified = feltwatch("hands", "verify", file)
    assert "All of it holds." in verified
    assert KEYS[file.parent.name.removeprefix("records_of_")] in verified


@pytest.mark.parametrize("release", RELEASES)
def test_a_changed_payment_in_an_old_record_and_in_its_backup_is_found(release: str, tmp_path: Path) -> None:
    for name in ("washington", "washington-backup"):
        record = unpacked(release, name, tmp_path)
        change_payment(record / "journal.sqlite")
        assert "does not hold" in feltwatch("hands", "verify", "--all", "--data", record, exits=1)
    words = (
        "restore",
        tmp_path / "washington-backup",
        "--data",
        tmp_path / "restored",
        "--yes",
        "--unproven",
    )
    assert "was changed" in feltwatch(*words, exits=1)
    assert not (tmp_path / "restored/journal.sqlite").exists()


@pytest.mark.parametrize("file", DISPUTE_FILES, ids=lambda file: f"{file.parent.name} {file.stem}")
def test_a_changed_payment_in_an_old_dispute_file_is_found(file: Path, tmp_path: Path) -> None:
    changed, count = tmp_path / file.name, 0
    with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as before, zipfile.ZipFile(changed, "w") as after:
        for item in before.infolist():
            content = before.read(item)
            if not count and (at := content.find(b'"paid"')) >= 0:
                content, count = _one_byte(content, at), 1
            after.writestr(item, content)
    assert count
    assert "All of it holds." not in feltwatch("hands", "verify", changed, exits=1)


def change_payment(journal: Path) -> None:
    """Change one digit of the first payment in a journal's file, as a hand on the disk would."""
    content = journal.read_bytes()
    journal.write_bytes(_one_byte(content, content.index(b'"paid"')))


def _one_byte(content: bytes, at: int) -> bytes:
    """Change the first digit after the seat's name behind this place."""
    colon = content.index(b":", content.index(b"{", at))
    digit = next(place for place in range(colon, colon + 9) if content[place : place + 1].isdigit())
    return content[:digit] + (b"1" if content[digit : digit + 1] != b"1" else b"2") + content[digit + 1 :]


def test_every_event_of_an_old_journal_keeps_its_name() -> None:
    assert set((folder("0_1") / "event-types.txt").read_text().split()) <= set(BY_TYPE)
