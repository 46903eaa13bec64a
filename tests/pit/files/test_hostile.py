"""What a line, a disk, another's key or a lying pit do to files that go down: a sentence on both sides."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from firmware.record.evidence.signing import DeviceKey
from firmware.table.entry import content_hash
from firmware.update.house import LASTS, MAX_BYTES, NO_HOUSE_KEY, NOT_THE_HOUSES, HouseFile
from firmware.update.repository import Repository
from firmware.uplink.errors import PitRefusal, PitUnreachable
from firmware.uplink.inbox.fetching import (
    LEAVES_FREE,
    NOT_THE_MAKERS,
    PIECE,
    UNLIKE,
)
from firmware.uplink.inbox.requests import (
    LIST,
    MAX_OPEN_REQUESTS,
    FileRequest,
    inbox_path,
    read_list,
    requests_from_table,
    requests_of,
    write_list,
)
from firmware.uplink.settings import HOUSE
from firmware.uplink.wire import WireError
from pit.authority import Authority
from pit.files.offers import HouseRepository, find_offered
from pit.store.files import FilesError
from tests.pit.files.conftest import PROFILE, deck_text, packed
from tests.pit.files.rig import NEWER, RUNNING, Rig, part_of

SHA = "0" * 64
TOMORROW = datetime.now(UTC) + timedelta(days=1)


@pytest.fixture
def big(here: Rig) -> HouseFile:
    """A release of more than three pieces that the table is asked for."""
    return here.request("", packed(here.folder, NEWER, here.release_key, filler=here.noise(4)))


def forged(
    here: Rig,
    kind: str,
    data: bytes,
    *,
    signer: Authority | None = None,
    name: str = "forged",
    version: str = "",
    size: int | None = None,
) -> HouseFile:
    """Put a file into the pit's database and folder as their owner could, whatever it says of itself.

    `signer`: whose house signs it; none, and only the database has it.
    """
    digest = content_hash(data)
    here.pit.house.files.keep(digest, data)
    file = HouseFile(digest, len(data) if size is None else size, kind, name, version, "Eve")
    with here.pit.database.transaction() as connection:
        connection.execute(
            "INSERT INTO offered_file (sha256, kind, name, version, size, offered_by)"
            " VALUES (%s, %s, %s, %s, %s, %s)",
            (digest, kind, name, version, file.size, "Eve"),
        )
        if signer is not None:
            HouseRepository(here.pit.folder, signer).publish(connection, add=file)
        stored = find_offered(connection, digest)
    assert stored is not None
    return stored


def fetched(here: Rig, one: HouseFile) -> bool:
    path = inbox_path(here.inbox, one.sha256)
    return path.exists() and path.stat().st_size == one.size


def test_a_cut_costs_one_piece_also_over_a_restart_of_the_uplink(here: Rig, big: HouseFile) -> None:
    here.client.cut_after = 2
    here.turn()
    part = part_of(here, big)
    assert part.stat().st_size == 2 * PIECE
    assert here.at_pit(big).state == "asked"
    here.starts_again("0.2.0-00000000")
    here.client.cut_after, here.client.pieces = None, 0
    here.turn()
    assert here.client.pieces == -(-big.size // PIECE) - 2, "what was fetched is not fetched again"
    assert fetched(here, big)
    assert here.at_pit(big).state == "waiting"
    assert (
        inbox_path(here.inbox, big.sha256).read_bytes() == here.pit.house.files.path(big.sha256).read_bytes()
    )


def test_a_full_disk_is_said_and_mended_by_room(here: Rig, big: HouseFile) -> None:
    here.free[0] = LEAVES_FREE + 1_000_000
    here.turn()
    assert here.at_pit(big).state == "asked"
    assert str(here.at_pit(big).why) == ("The disk has 1 MB to spare, and 4 MB are needed. Make room first.")
    assert here.here(big).why == here.at_pit(big).why
    here.free[0] = 10**12
    here.turn()
    assert here.at_pit(big).state == "waiting"


def test_a_disk_that_refuses_to_write_is_said_and_tried_again(here: Rig, big: HouseFile) -> None:
    part = part_of(here, big)
    part.mkdir(parents=True)
    here.turn()
    assert "cannot be stored at the table" in str(here.at_pit(big).why)
    part.rmdir()
    here.turn()
    assert here.at_pit(big).state == "waiting"


def test_flipped_bits_are_fetched_again_and_given_up_in_the_end(here: Rig, big: HouseFile) -> None:
    here.client.bend = lambda data: bytes([data[0] ^ 1]) + data[1:]
    here.turn()
    assert (here.at_pit(big).state, here.at_pit(big).why) == ("asked", UNLIKE)
    here.client.bend = None
    here.turn()
    assert here.at_pit(big).state == "waiting"

    deck = here.request("blue.json", deck_text())
    here.client.bend = lambda data: b"?" + data[1:]
    for _ in range(3):
        here.turn()
    assert (here.at_pit(deck).state, here.at_pit(deck).why) == ("refused", UNLIKE)
    assert not fetched(here, deck)


@pytest.mark.parametrize("bent", [lambda data: data[:-1], lambda data: data + b"x", lambda data: b""])
def test_half_a_piece_or_more_than_was_announced_is_not_laid_into_the_inbox(here: Rig, bent: Any) -> None:
    one = here.request("friday.toml", PROFILE)
    here.client.bend = bent
    for _ in range(4):
        here.turn()
    assert not fetched(here, one)
    assert here.at_pit(one).state in ("asked", "refused")
    assert here.rows("profile_kept") == []


def test_a_file_that_the_pit_lost_is_said_and_fetched_once_it_is_offered_again(here: Rig) -> None:
    one = here.request("friday.toml", PROFILE)
    here.pit.house.files.path(one.sha256).unlink()
    here.turn()
    assert here.at_pit(one).state == "asked"
    assert "nothing here" in str(here.at_pit(one).why)
    here.offer("friday.toml", PROFILE)
    here.turn()
    assert here.at_pit(one).state == "waiting"


@pytest.mark.parametrize("kind", ["profile", "deck"])
def test_what_the_house_did_not_sign_is_refused_before_a_byte_of_it_is_fetched(here: Rig, kind: str) -> None:
    """Anyone who owns the database can ask for anything."""
    one = forged(here, kind, PROFILE.encode() if kind == "profile" else deck_text().encode())
    here.ask(one)
    here.turn()
    assert (here.at_pit(one).state, here.at_pit(one).why) == ("refused", NOT_THE_HOUSES)
    assert here.here(one).why == NOT_THE_HOUSES
    assert here.client.pieces == 0


def test_the_repository_of_another_key_is_taken_by_no_table(here: Rig) -> None:
    """Anyone who owns the pit's folder, without the house's key, signs all of it again."""
    shutil.rmtree(here.pit.house.folder / "house")
    one = forged(here, "profile", PROFILE.encode(), signer=Authority(here.folder / "eve"))
    here.ask(one)
    here.turn()
    assert here.at_pit(one).state == "asked"
    assert "signed by another key" in str(here.at_pit(one).why)
    assert here.client.pieces == 0
    assert here.rows("profile_kept") == []


def test_a_repository_that_was_set_back_is_taken_by_no_table_that_saw_a_newer_one(here: Rig) -> None:
    older = here.offer("friday.toml", PROFILE)
    kept = shutil.copytree(here.pit.house.folder / "house", here.folder / "kept")
    newer = here.request("late.toml", PROFILE.replace("Friday", "Late Friday"))
    here.turn()
    assert here.at_pit(newer).state == "waiting"
    shutil.copytree(kept, here.pit.house.folder / "house", dirs_exist_ok=True)
    here.starts_again(RUNNING)
    here.ask(older)
    here.turn()
    assert here.at_pit(older).state == "asked"
    assert "older than what the house signed" in str(here.at_pit(older).why)
    here.offer("blue.json", deck_text())  # what is signed next is above what was seen
    here.turn()
    assert here.at_pit(older).state == "waiting"


def test_what_is_half_written_or_bent_in_the_repository_is_no_signed_state(here: Rig) -> None:
    one = here.request("friday.toml", PROFILE)
    path = here.pit.house.folder / "house" / "targets.json"
    whole = path.read_bytes()
    for bent in (
        whole[:-40],
        whole.replace(b"friday-game", b"monday-game"),
        b"[" * 40_000,
        b"",
        b"\xff" * 100,
    ):
        path.write_bytes(bent)
        here.turn()
        assert (here.at_pit(one).state, fetched(here, one)) == ("asked", False)
        assert "not signed by the house" in str(here.at_pit(one).why)
    with pytest.raises(FilesError, match="not as it was signed here"):  # nor is it signed on top of that
        here.offer("blue.json", deck_text())
    path.write_bytes(whole)
    here.turn()
    assert here.at_pit(one).state == "waiting"


def test_a_signature_that_has_expired_is_said_with_the_date_of_this_box(here: Rig, tmp_path: Path) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=60)
    folder, authority = here.pit.house.folder / "house", here.pit.authority
    shutil.rmtree(folder)
    online = DeviceKey.open(authority.folder / "repository")
    one = forged(here, "profile", PROFILE.encode())
    Repository(folder, authority.house, online, LASTS, now=lambda: long_ago).publish({one.sha256: one.target})
    here.ask(one)
    here.turn()
    assert here.at_pit(one).state == "asked"
    assert f"has expired: here it is {datetime.now(UTC).date()}" in str(here.at_pit(one).why)
    with here.pit.database.transaction() as connection:
        here.pit.house.renew(connection)
    here.turn()
    assert here.at_pit(one).state == "waiting"


def test_a_stolen_online_key_is_replaced_and_signs_nothing_any_more(here: Rig) -> None:
    here.request("friday.toml", PROFILE)
    here.turn()
    stolen = here.folder / "stolen"
    shutil.move(here.pit.authority.folder / "repository", stolen)
    second = here.offer("late.toml", PROFILE.replace("Friday", "Late Friday"))
    here.starts_again(RUNNING)
    here.ask(second)
    here.turn()
    assert here.at_pit(second).state == "waiting"
    eve = here.folder / "eve"
    shutil.copytree(here.pit.authority.folder, eve / "authority")
    shutil.rmtree(eve / "authority" / "repository")
    shutil.copytree(stolen, eve / "authority" / "repository")
    path = here.pit.house.folder / "house"
    (path / "targets.json").write_bytes((path / "targets.json").read_bytes().replace(b"Late", b"Last"))
    third = forged(here, "deck", deck_text().encode())
    signer = Repository(
        *(eve / "house", DeviceKey.open(eve / "key"), DeviceKey.open(stolen)), LASTS, now=lambda: TOMORROW
    )
    signer.publish({third.sha256: third.target})
    for name in ("targets.json", "snapshot.json", "timestamp.json"):
        shutil.copy(eve / "house" / name, path / name)
    here.ask(third)
    here.turn()
    assert here.at_pit(third).state == "asked"
    assert "not signed by the house" in str(here.at_pit(third).why)


def test_a_pit_that_lies_about_the_kind_or_the_name_in_its_database_changes_neither(
    here: Rig, owned: str
) -> None:
    one = here.offer("blue.json", deck_text(model=here.table.process.house.model_hash))
    with psycopg.connect(owned) as connection:
        connection.execute("UPDATE offered_file SET kind = 'profile', name = 'x', offered_by = 'Moreno'")
    here.ask(one)
    here.turn()
    file = here.here(one).file
    assert file is not None
    assert (file.kind, file.name, file.by) == ("deck", "blue backs", "Ines"), "the signed ones count"


def test_what_the_house_signed_and_no_table_can_use_is_refused_with_the_reason(here: Rig) -> None:
    house, deck = here.pit.authority, deck_text().encode()
    here.offer("", packed(here.folder, "0.2.9-old", here.release_key))  # what the maker signs is there
    as_profile = forged(here, "profile", deck, signer=house)
    as_release = forged(here, "release", PROFILE.encode(), version="9.9.9", signer=house)
    of_later_kind = forged(here, "release", b"x", version="8", signer=None)
    with here.pit.database.transaction() as connection:
        later = replace(of_later_kind, kind="song")
        here.pit.house.publish(connection, add=later)
    for one in (as_profile, as_release, of_later_kind):
        here.ask(one)
        here.turn()
        assert here.at_pit(one).state == "refused"
    assert "The profile cannot be used" in str(here.at_pit(as_profile).why)
    assert here.at_pit(as_release).why == NOT_THE_MAKERS
    assert "knows no files of the kind song" in str(here.at_pit(of_later_kind).why)
    assert here.rows("profile_kept") == here.rows("deck_enrolled") == here.rows("update_begun") == []


@pytest.mark.parametrize("name", ["", "x" * 81, "a\nb", "\u202eblue", "a\0b"])
def test_a_name_that_no_pit_gives_is_refused(here: Rig, name: str) -> None:
    one = forged(here, "deck", deck_text().encode())
    with here.pit.database.transaction() as connection:
        here.pit.house.publish(connection, add=replace(one, name=name))
    here.ask(one)
    here.turn()
    assert (here.at_pit(one).state, here.at_pit(one).why) == ("refused", NOT_THE_HOUSES)


def test_a_profile_that_does_not_parse_is_refused_although_the_house_signed_it(here: Rig) -> None:
    for number, data in enumerate(
        (b"\xff\xfe", b"[profile", b'[profile]\nname = "x"\n', b"[profile]\n" * 1000)
    ):
        one = forged(here, "profile", data, signer=here.pit.authority)
        here.ask(one)
        here.turn()
        assert here.at_pit(one).state == "refused", number
        assert "profile cannot be used" in str(here.at_pit(one).why), number
    assert here.rows("profile_kept") == []


def test_a_release_of_another_maker_or_of_another_name_is_refused_by_the_uplink(here: Rig) -> None:
    here.offer("", packed(here.folder, "0.2.9-old", here.release_key))
    eves = packed(here.folder, NEWER, here.folder / "eve")
    [archive] = (eves / "targets").iterdir()
    one = forged(here, "release", archive.read_bytes(), version=NEWER, signer=here.pit.authority)
    here.ask(one)
    here.turn()
    assert (here.at_pit(one).state, here.at_pit(one).why) == ("refused", NOT_THE_MAKERS)
    [archive] = (here.folder / "release-0.2.9-old" / "targets").iterdir()
    renamed = HouseFile(
        *(content_hash(archive.read_bytes()), archive.stat().st_size, "release", "feltwatch"),
        *("0.4.0-new", "Eve"),
    )
    with here.pit.database.transaction() as connection:
        here.pit.house.publish(connection, add=renamed)
        other = find_offered(connection, renamed.sha256)
    assert other is not None
    here.ask(other)
    here.turn()
    assert (here.at_pit(other).state, here.at_pit(other).why) == ("refused", NOT_THE_MAKERS)
    assert not fetched(here, one)
    assert not fetched(here, other)


def test_what_is_too_large_is_refused_before_it_is_fetched(here: Rig) -> None:
    data, house = PROFILE.encode(), here.pit.authority
    one = forged(here, "profile", data, size=MAX_BYTES["profile"] + 1, signer=house)
    here.ask(one)
    here.turn()
    assert here.at_pit(one).state == "refused"
    assert "too large" in str(here.at_pit(one).why)
    shorter = forged(here, "deck", data + b"x", size=len(data), signer=house)
    here.ask(shorter)
    for _ in range(4):
        here.turn()
    assert (here.at_pit(shorter).state, here.at_pit(shorter).why) == ("refused", UNLIKE)


def test_a_table_without_a_house_key_says_how_it_gets_one(here: Rig) -> None:
    (here.enrolment / HOUSE).unlink()
    one = here.request("friday.toml", PROFILE)
    here.turn()
    assert (here.at_pit(one).state, here.at_pit(one).why) == ("asked", NO_HOUSE_KEY)


def test_a_file_that_is_changed_in_the_inbox_is_not_taken(here: Rig) -> None:
    """As by an uplink that somebody has taken over: it can write there, and has no key."""
    one = here.request("friday.toml", PROFILE)
    here.fetch()
    path = inbox_path(here.inbox, one.sha256)
    path.write_bytes(path.read_bytes().replace(b"Friday", b"Monday"))
    here.turn()
    assert here.here(one).state == "refused"
    assert "changed after it was fetched" in str(here.at_pit(one).why)
    elsewhere = replace(here.here(one), number=77, sha256="1" * 64, state="fetched", why=None)
    write_list(here.inbox / LIST, [elsewhere])
    here.table.let_pass(2)
    assert "not signed by the house" in str(read_list(here.table.config.data / "inbox.json")[0].why)
    bent = replace(here.here(one), file=replace(one, kind="release", version="9"), number=78, state="fetched")
    write_list(here.inbox / LIST, [bent])
    here.table.let_pass(2)
    file = read_list(here.table.config.data / "inbox.json")[0].file
    assert file == one, "what the uplink says of a file does not count"
    assert here.rows("profile_kept") == here.rows("update_begun") == []


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[",
        b"{}",
        b"[1, {}]",
        b'[{"number": 1, "sha256": "x", "state": "x", "why": null, "file": {}}]',
        b"[" * 60_000,
    ],
)
def test_a_list_of_no_release_is_an_empty_inbox(here: Rig, text: bytes) -> None:
    here.inbox.mkdir(exist_ok=True)
    (here.inbox / LIST).write_bytes(text)
    here.table.let_pass(2)
    (here.inbox / LIST).unlink()
    os.mkfifo(here.inbox / LIST)
    here.table.let_pass(2)
    assert read_list(here.table.config.data / "inbox.json") == ()
    here.table.do('{"do": "next"}')


def test_a_table_fetches_what_it_is_asked_for_and_nothing_else(here: Rig, big: HouseFile) -> None:
    other = here.offer("friday.toml", PROFILE)

    def path(sha256: str) -> str:
        return f"/v1/repository/targets/{sha256[:2]}/{sha256}"

    with pytest.raises(PitRefusal, match="no such file for this table"):
        here.client.piece(path(other.sha256), 0, 10)
    with pytest.raises((PitRefusal, PitUnreachable)):
        here.client.piece(path(big.sha256), big.size, big.size + 1)
    data, size = here.client.piece(path(big.sha256), 5, 9)
    assert (data, size) == (here.pit.house.files.path(big.sha256).read_bytes()[5:9], big.size)
    assert here.client.find("/v1/repository/house/2.root.json") is None
    for name in (
        *("../authority/authority.key", "house/../../authority/authority.key", "targets/xx/" + "x" * 64),
        *(path(big.sha256.upper()), "house/.targets.json.part", "maker", "house//targets.json", "%2e%2e/x"),
    ):
        with pytest.raises(PitRefusal):
            here.client.piece(f"/v1/repository/{name}", 0, 10)


@pytest.mark.parametrize(
    "value",
    [
        "x",
        [{}],
        [{"number": True, "sha256": SHA, "state": "asked", "why": None}],
        [{"number": -1, "sha256": SHA, "state": "asked", "why": None}],
        [{"number": 1, "sha256": SHA, "state": "asked", "why": "x"}],
        [{"number": 1, "sha256": SHA, "state": "asked", "why": {"message": "a\0", "args": {}}}],
        [{"number": 1, "sha256": SHA, "state": "asked", "why": {"message": "\ud800", "args": {}}}],
        [
            {
                "number": 1,
                "sha256": SHA,
                "state": "asked",
                "why": {"message": "%(a)s", "args": {"a": "x" * 900}},
            }
        ],
        [{"number": 1, "sha256": SHA, "state": "asked", "why": None}] * (MAX_OPEN_REQUESTS + 1),
    ],
)
def test_what_no_table_says_of_its_files_is_refused(value: Any) -> None:
    with pytest.raises(WireError):
        requests_from_table(value)


def test_what_no_pit_asks_for_is_left_out() -> None:
    good = {"number": 1, "sha256": SHA}
    bad: tuple[Any, ...] = (
        {"number": "1", "sha256": SHA},
        {"number": 1, "sha256": "../x"},
        {"number": -1, "sha256": SHA},
        {"number": True, "sha256": SHA},
        {"number": 1},
        {"number": 1, "sha256": SHA, "file": {"name": "x"}},
        [1, SHA],
        5,
        None,
        {"number": 1.0, "sha256": SHA},
    )
    assert requests_of([*bad, good]) == (FileRequest(1, SHA),)
    assert requests_of(None) == requests_of({}) == ()
    assert requests_of([good, good | {"sha256": "1" * 64}]) == (FileRequest(1, SHA),), (
        "a number names one request"
    )


def test_an_answer_that_says_nothing_of_files_changes_nothing(here: Rig, big: HouseFile) -> None:
    here.turn()
    before = read_list(here.inbox / LIST)
    for value in (None, {"number": 1}, "x"):
        here.uplink.ask(value)
    assert read_list(here.inbox / LIST) == before != ()
