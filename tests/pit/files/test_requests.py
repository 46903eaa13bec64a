"""What tables are asked to fetch: offered files, requests, what tables say of them, and their ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from firmware.messages import Message
from firmware.table.entry import content_hash
from firmware.update.house import HouseFile, house_file, trust_house
from firmware.update.trust import MAKER_NAME, Trust, folder_files
from firmware.uplink.inbox.requests import MAX_OPEN_REQUESTS, WITHDRAWN, FileRequest
from pit.authority import Authority
from pit.errors import PitError
from pit.files.offers import HouseRepository, find_offered, list_offered, offer
from pit.files.requests import (
    LATE,
    NEWER,
    TableRequest,
    ask,
    keep_progress,
    may_fetch,
    requests,
    withdraw,
)
from pit.status.tables import STRUCK_OFF, enrol, strike
from pit.store.database import Database
from tests.pit.files.conftest import MADE, PROFILE, asked_now, deck_text, ended_by, packed
from tests.pit.files.rig import state_of

Offering = Callable[[str, str], HouseFile]


def now(database: Database, table_id: int, sha256: str) -> TableRequest:
    with database.transaction() as connection:
        one = state_of(connection, table_id, sha256)
    assert one is not None
    return one


def who(database: Database, one: TableRequest) -> str:
    with database.transaction() as connection:
        return ended_by(connection, one)


def say(database: Database, table_id: int, number: int, state: str, release: str = "") -> None:
    with database.transaction() as connection:
        keep_progress(
            connection, table_id, release, [FileRequest(number, "0" * 64, state, Message("So it is."))]
        )


def test_a_profile_is_offered_as_its_complete_text_signed_by_the_house(
    database: Database, house: HouseRepository, offered: Offering, tmp_path: Path
) -> None:
    one = offered("friday.toml", PROFILE)
    data = house.files.path(one.sha256).read_bytes()
    assert (one.kind, one.name, content_hash(data)) == ("profile", "friday-game", one.sha256)
    assert b"extends" not in data
    key = tmp_path / "house.pub"
    key.write_text(Authority(tmp_path / "authority").house.public.hex())
    get = folder_files(house.folder / "house")
    named = trust_house(tmp_path / "trust", key, get).refresh(get)
    assert {path: house_file(one) for path, one in named.items()} == {one.sha256: one}
    assert one.size == len(data)


def test_a_release_is_offered_with_what_the_maker_signed(
    database: Database, house: HouseRepository, release_key: Path, tmp_path: Path
) -> None:
    archive = packed(tmp_path, "0.3.0-11112222", release_key)
    one = offer(database, house, archive, "Ines", maker_root=tmp_path / "root.json")
    assert (one.kind, one.name, one.version) == ("release", "feltwatch", "0.3.0-11112222")
    assert (
        house.files.path(one.sha256).read_bytes()
        == (archive / "targets" / "feltwatch-0.3.0-11112222.tar.gz").read_bytes()
    )
    get = folder_files(house.folder / "maker")
    trust = Trust(tmp_path / "trust", (tmp_path / "root.json").read_bytes(), who=MAKER_NAME)
    assert [target.sha256 for target in trust.refresh(get).values()] == [one.sha256]
    assert offer(database, house, archive, "Max", maker_root=tmp_path / "root.json") == one


def test_a_release_of_another_key_is_not_offered(
    database: Database, house: HouseRepository, release_key: Path, tmp_path: Path
) -> None:
    archive = packed(tmp_path, "0.3.0-11112222", tmp_path / "another")
    with pytest.raises(PitError, match="not signed by the maker"):
        offer(database, house, archive, "Ines", maker_root=tmp_path / "root.json")
    with database.transaction() as connection:
        assert list_offered(connection) == []


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.toml", "name = ", "cannot be offered"),
        ("a.toml", '[profile]\nname = "x"\nextends = "nothing"', "cannot be offered"),
        ("a.toml", '[profile]\nname = "traditional"\nextends = "traditional"', "packaged profile"),
        ("a.toml", "", "a.toml is empty"),
        ("a.toml", "#" * 60_001, "too large"),
        ("a.json", "{}", "no deck profile"),
        ("a.json", "[" * 100_000, "no deck profile"),
        ("a.json", deck_text(name="x\ny"), "no deck profile"),
        ("a.json", "x" * (1 << 20) + "x", "too large"),
        ("a.exe", "x", "no file that goes down"),
        ("a.tar.gz", "x", "a release is a folder"),
        ("none", "", "no file that goes down"),
    ],
)
def test_what_no_table_could_use_is_not_offered(
    database: Database, house: HouseRepository, tmp_path: Path, name: str, text: str, why: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(PitError, match=why):
        offer(database, house, path, "Ines", maker_root=tmp_path / "root.json")
    with database.transaction() as connection:
        assert list_offered(connection) == []


def test_a_request_is_in_the_tables_answer_until_it_ends(database: Database, offered: Offering) -> None:
    table, other = enrol(database, "Table 1", 1), enrol(database, "Table 2", 2)
    one = offered("friday.toml", PROFILE)
    with database.transaction() as connection:
        number = ask(connection, table.table_id, one.sha256, "Ines")
        assert ask(connection, table.table_id, one.sha256, "Max") == number
        assert asked_now(connection, table.table_id) == (FileRequest(number, one.sha256),)
        assert asked_now(connection, other.table_id) == ()
        assert may_fetch(connection, table.table_id, one.sha256)
        assert not may_fetch(connection, other.table_id, one.sha256)
    say(database, table.table_id, number, "waiting")
    assert (now(database, table.table_id, one.sha256).state, str(now(database, 1, one.sha256).why)) == (
        "waiting",
        "So it is.",
    )
    say(database, table.table_id, number, "in_force")
    ended = now(database, table.table_id, one.sha256)
    assert ended.state == "in_force"
    assert ended.is_over
    with database.transaction() as connection:
        assert asked_now(connection, table.table_id) == ()
        assert not may_fetch(connection, table.table_id, one.sha256)
        again = ask(connection, table.table_id, one.sha256, "Ines")
    assert again != number
    say(database, table.table_id, number, "refused")
    assert now(database, table.table_id, one.sha256).state == "asked"


def test_what_a_table_says_of_another_tables_request_or_in_no_states_of_ours_changes_nothing(
    database: Database, offered: Offering
) -> None:
    table, other = enrol(database, "Table 1", 1), enrol(database, "Table 2", 2)
    one = offered("friday.toml", PROFILE)
    with database.transaction() as connection:
        number = ask(connection, table.table_id, one.sha256, "Ines")
    say(database, other.table_id, number, "in_force")
    say(database, table.table_id, number, "withdrawn")
    say(database, table.table_id, number, "danced")
    assert now(database, table.table_id, one.sha256).state == "asked"


def test_a_release_is_in_force_only_if_it_runs(
    database: Database, house: HouseRepository, release_key: Path, tmp_path: Path
) -> None:
    table = enrol(database, "Table 1", 1)
    archive = packed(tmp_path, "0.3.0-11112222", release_key)
    one = offer(database, house, archive, "Ines", maker_root=tmp_path / "root.json")
    with database.transaction() as connection:
        number = ask(connection, table.table_id, one.sha256, "Ines")
    say(database, table.table_id, number, "in_force", release="0.2.0-00000000")
    assert now(database, table.table_id, one.sha256).state == "asked"
    say(database, table.table_id, number, "in_force", release="0.3.0-11112222")
    assert now(database, table.table_id, one.sha256).state == "in_force"


def test_a_newer_one_of_its_kind_withdraws_the_one_before(database: Database, offered: Offering) -> None:
    table = enrol(database, "Table 1", 1)
    first, second = offered("a.toml", PROFILE), offered("b.toml", PROFILE + "# b")
    third = offered("c.toml", PROFILE.replace("Friday", "Late Friday"))
    deck = offered("d.json", deck_text())
    assert first.sha256 == second.sha256  # the comment is not part of a complete text
    with database.transaction() as connection:
        for one in (first, deck, third):
            ask(connection, table.table_id, one.sha256, "Ines")
    gone = now(database, table.table_id, first.sha256)
    assert (gone.state, gone.why, who(database, gone)) == ("withdrawn", NEWER, "Ines")
    assert [now(database, table.table_id, one.sha256).state for one in (deck, third)] == ["asked", "asked"]


def test_a_request_is_withdrawn_by_a_person_by_time_or_with_its_table(
    database: Database, owned: str, offered: Offering
) -> None:
    table = enrol(database, "Table 1", 1)
    one = offered("friday.toml", PROFILE)
    with database.transaction() as connection:
        ask(connection, table.table_id, one.sha256, "Ines")
        assert withdraw(connection, table.table_id, "Max", sha256=one.sha256)
        assert not withdraw(connection, table.table_id, "Max", sha256=one.sha256)
    by_person = now(database, table.table_id, one.sha256)
    assert (by_person.state, by_person.why, who(database, by_person)) == ("withdrawn", WITHDRAWN, "Max")

    with database.transaction() as connection:
        ask(connection, table.table_id, one.sha256, "Ines")
        connection.execute("UPDATE file_request SET ends_at = now() - interval '1 s' WHERE ended_at IS NULL")
        assert asked_now(connection, table.table_id) == ()
    late = now(database, table.table_id, one.sha256)
    assert (late.state, late.why) == ("withdrawn", LATE)

    with database.transaction() as connection:
        ask(connection, table.table_id, one.sha256, "Ines")
    strike(database, "Table 1")
    assert now(database, table.table_id, one.sha256).why == STRUCK_OFF
    with database.transaction() as connection, pytest.raises(PitError, match="struck off"):
        ask(connection, table.table_id, one.sha256, "Ines")


def test_a_table_is_asked_for_no_more_than_fits_into_an_answer(database: Database, offered: Offering) -> None:
    table = enrol(database, "Table 1", 1)
    made = [offered(f"{n}.json", deck_text(f"deck {n}")) for n in range(MAX_OPEN_REQUESTS + 1)]
    with database.transaction() as connection:
        for one in made[:-1]:
            ask(connection, table.table_id, one.sha256, "Ines")
        with pytest.raises(PitError, match="Withdraw some"):
            ask(connection, table.table_id, made[-1].sha256, "Ines")
        assert len(asked_now(connection, table.table_id)) == MAX_OPEN_REQUESTS
        assert len(requests(connection)) == len(requests(connection, table.table_id)) == MAX_OPEN_REQUESTS
        assert find_offered(connection, "0" * 64) is None
        with pytest.raises(PitError, match="no such file"):
            ask(connection, table.table_id, "0" * 64, "Ines")
        with pytest.raises(PitError, match="no such table"):
            ask(connection, 99, made[0].sha256, "Ines")


def test_no_request_stays_open_in_a_state_that_is_over(
    owned: str, database: Database, offered: Offering
) -> None:
    table = enrol(database, "Table 1", 1)
    one = offered("friday.toml", PROFILE)
    with database.transaction() as connection:
        ask(connection, table.table_id, one.sha256, "Ines")
    for order in (
        "UPDATE file_request SET state = 'in_force'",
        "UPDATE file_request SET ended_at = now()",
        "UPDATE file_request SET state = 'lost'",
    ):
        with psycopg.connect(owned) as connection, pytest.raises(psycopg.errors.CheckViolation):
            connection.execute(order.encode())


def test_a_release_whose_file_is_another_offered_one_is_refused_and_that_one_stays(
    database: Database, house: HouseRepository, release_key: Path, tmp_path: Path
) -> None:
    def sent(folder: Path) -> HouseFile:
        return offer(database, house, folder, "Ines", maker_root=tmp_path / "root.json")

    first = sent(packed(tmp_path, "0.3.0-11112222", release_key))
    later = packed(tmp_path, "0.4.0-33334444", release_key, made=MADE + 1)
    (later / "targets" / "feltwatch-0.4.0-33334444.tar.gz").write_bytes(
        house.files.path(first.sha256).read_bytes()
    )
    with pytest.raises(PitError, match="not what the maker signed"):
        sent(later)
    assert house.files.path(first.sha256).exists()
    with database.transaction() as connection:
        assert [one.sha256 for one in list_offered(connection)] == [first.sha256]
