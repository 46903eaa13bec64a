"""`feltwatch pit send` and `feltwatch pit files`, as a technician types them."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from firmware.uplink.inbox.requests import MAX_OPEN_REQUESTS
from pit.cli.files import files_command, send_command
from pit.status.tables import enrol, strike
from pit.store.database import Database
from tests.pit.files.conftest import PROFILE, deck_text, packed


def test_a_file_is_sent_to_named_tables_listed_and_withdrawn(
    database: Database, tmp_path: Path, release_key: Path
) -> None:
    for number in (1, 2, 3):
        enrol(database, f"Table {number}", number)
    strike(database, "Table 3")
    url = ["--url", database.url]
    given = [*url, "--folder", str(tmp_path / "pit"), "--maker-root", str(tmp_path / "root.json")]

    def send(*words: str) -> str:
        done = CliRunner().invoke(send_command, [*words, *given])
        return f"{done.exit_code} {done.output} {done.exception or ''}"

    def files(*words: str) -> str:
        return CliRunner().invoke(files_command, [*words, *url], catch_exceptions=False).output

    profile = tmp_path / "friday.toml"
    profile.write_text(PROFILE)
    assert "No file was offered" in files()
    assert "profile friday-game" in send(str(profile), "--by", "Ines")
    assert "offered, no table was asked: profile friday-game" in files()
    assert "Table 2: asked" in send(str(profile), "--to", "Table 2", "--by", "Ines")
    assert "Table 2  profile friday-game  asked\n" in files()
    assert "There is no table Table 3" in send(str(profile), "--to", "Table 3"), "it was struck off"
    assert "There is no table Table 9" in send(str(profile), "--to", "Table 9")

    release = packed(tmp_path, "0.3.0-11112222", release_key)
    sent = send(str(release), "--all")
    assert "Table 1: asked" in sent
    assert "Table 2: asked" in sent
    assert "Table 3" not in sent
    assert "Table 1: withdrawn" in send(str(release), "--to", "Table 1", "--withdraw", "--by", "Max")
    listed = json.loads(files("--json"))
    assert {(one["table"], one["kind"], one["state"]) for one in listed} == {
        ("Table 1", "release", "withdrawn"),
        ("Table 2", "release", "asked"),
        ("Table 2", "profile", "asked"),
    }
    profile.write_text("no profile")
    assert "cannot be offered" in send(str(profile), "--all")
    assert send(str(profile), "--all", "--to", "Table 1").startswith("2 ")


def test_a_table_that_cannot_be_asked_is_said_and_ends_the_command_with_one(
    database: Database, tmp_path: Path
) -> None:
    enrol(database, "Table 1", 1)
    given = ["--url", database.url, "--folder", str(tmp_path / "pit"), "--to", "Table 1", "--by", "Ines"]

    def sent(number: int) -> Result:
        deck = tmp_path / f"{number}.json"
        deck.write_text(deck_text(f"deck {number}"))
        return CliRunner().invoke(send_command, [str(deck), *given])

    assert {sent(number).exit_code for number in range(MAX_OPEN_REQUESTS)} == {0}
    done = sent(MAX_OPEN_REQUESTS)
    assert (done.exit_code, "Table 1 is asked for 20 files already" in done.output) == (1, True)
