"""Offered files are removed once no table needs them; what was removed, and by whom, stays known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.update.house import HouseFile
from firmware.uplink.inbox.requests import FileRequest
from pit.cli.files import offered_by_name
from pit.cli.main import command
from pit.errors import PitError
from pit.files.offers import (
    HouseRepository,
    find_offered,
    list_offered,
    list_removed,
    offer,
)
from pit.files.requests import ask, keep_progress, remove, requests, withdraw
from pit.status.tables import enrol
from pit.store.database import Database
from tests.pit.files.conftest import PROFILE, deck_text

Offering = Callable[[str, str], HouseFile]


def test_a_removed_file_is_gone_and_offered_again_it_is_back(
    database: Database, house: HouseRepository, offered: Offering
) -> None:
    one = offered("friday.toml", PROFILE)
    remove(database, house, one, "Ines")
    remove(database, house, one, "Max")
    assert not house.files.path(one.sha256).exists()
    with database.transaction() as connection:
        assert (list_offered(connection), find_offered(connection, one.sha256)) == ([], None)
        [(gone, _, by)] = list_removed(connection)
        assert (gone, by) == (one, "Ines")
        table = enrol(database, "Table 1", 1)
        with pytest.raises(PitError, match="There is no such file"):
            ask(connection, table.table_id, one.sha256, "Ines")
    assert offered("friday.toml", PROFILE) == one
    assert house.files.path(one.sha256).exists()
    with database.transaction() as connection:
        assert (list_offered(connection), list_removed(connection)) == ([one], [])


def test_a_file_stays_while_a_table_is_to_fetch_or_take_it(
    database: Database, house: HouseRepository, offered: Offering
) -> None:
    table, other = enrol(database, "Table 1", 1), enrol(database, "Table 2", 2)
    one = offered("friday.toml", PROFILE)
    with database.transaction() as connection:
        number = ask(connection, table.table_id, one.sha256, "Ines")
        ask(connection, other.table_id, one.sha256, "Ines")
    with pytest.raises(PitError, match=r"^Table 1, Table 2: still to be fetched"):
        remove(database, house, one, "Ines")
    with database.transaction() as connection:
        withdraw(connection, other.table_id, "Ines", sha256=one.sha256)
        keep_progress(connection, table.table_id, "", [FileRequest(number, one.sha256, "waiting")])
    with pytest.raises(PitError, match=r"^Table 1: still to be fetched"):
        remove(database, house, one, "Ines")
    assert house.files.path(one.sha256).exists()
    with database.transaction() as connection:
        keep_progress(connection, table.table_id, "", [FileRequest(number, one.sha256, "in_force")])
    remove(database, house, one, "Ines")
    with database.transaction() as connection:
        assert len(requests(connection)) == 2, "what was asked of tables, and how it went, stays"


def test_a_file_is_named_by_its_name_or_its_hash_and_two_of_one_name_by_the_hash_alone(
    database: Database, offered: Offering
) -> None:
    first = offered("a.toml", PROFILE)
    second = offered("b.toml", PROFILE.replace("Friday", "Later Friday"))
    deck = offered("d.json", deck_text())
    assert offered_by_name(database, "blue backs") == deck
    assert offered_by_name(database, first.sha256) == offered_by_name(database, first.sha256[:8]) == first
    with pytest.raises(PitError, match=f"There are 2 files friday-game.*{second.sha256[:12]}"):
        offered_by_name(database, "friday-game")
    for name in ("", "friday", first.sha256[:7], "%", "' OR '1'='1"):
        with pytest.raises(PitError, match="See: feltwatch pit files"):
            offered_by_name(database, name)


def test_the_command_asks_first_and_tells_what_was_removed(
    owned: str, database: Database, tmp_path: Path
) -> None:
    from pit.authority import Authority

    path = tmp_path / "friday.toml"
    path.write_text(PROFILE)
    pit = tmp_path / "pit"
    one = offer(database, HouseRepository(pit, Authority(pit / "authority")), path, "Ines")

    def run(*words: str, keyed: str = "") -> tuple[int, str]:
        at = ["--url", owned, "--folder", str(pit)]
        done = CliRunner().invoke(command, ["files", *words, *at], input=keyed)
        return done.exit_code, done.output

    assert run("--remove", "friday-game", keyed="n\n")[0] == 1
    assert (pit / "repository" / "targets" / one.sha256[:2] / one.sha256).exists()
    code, text = run("--remove", "friday-game", "--by", "Max", keyed="y\n")
    assert (code, "removed: profile friday-game" in text) == (0, True)
    assert "by Max: profile friday-game" in run()[1]
    code, text = run("--remove", "friday-game", "--yes")
    assert (code, "No file friday-game is offered" in text) == (1, True)
    assert json.loads(run("--json")[1]) == []
