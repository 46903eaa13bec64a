"""What a line, a disk, another's key or a lying pit do to files that go down: a sentence on both sides."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from firmware.pit.database import Connection
from firmware.pit.down.offers import Offered
from firmware.record.evidence.signing import DeviceKey
from firmware.table.entry import content_hash
from firmware.uplink.errors import Refused
from firmware.uplink.inbox.fetching import (
    LEAVES_FREE,
    NO_HOUSE_KEY,
    NOT_THE_HOUSES,
    NOT_THE_MAKERS,
    PIECE,
    UNLIKE,
)
from firmware.uplink.inbox.folder import LIST, Item, read_list, write_list
from firmware.uplink.inbox.wire import MOST_BYTES, MOST_OPEN, asked_of, signed_text, told_of
from firmware.uplink.settings import HOUSE
from firmware.uplink.wire import WireError
from tests.firmware.pit.conftest import Pit
from tests.firmware.pit.down.conftest import PROFILE, deck_text, packed
from tests.firmware.pit.down.rig import Rig, rig

NEWER = "0.3.0-11112222"


@pytest.fixture
def here(pit: Pit, tmp_path: Path, release_key: DeviceKey) -> Iterator[Rig]:
    with rig(pit, tmp_path, release_key) as made:
        yield made


@pytest.fixture
def big(here: Rig) -> Offered:
    """A release of more than three pieces that the table is asked for."""
    one = here.offer("", packed(here.folder, NEWER, here.release_key, filler=here.noise(4)))
    here.ask(one)
    return one


def forged(here: Rig, kind: str, data: bytes, signature: str = "", **values: Any) -> Offered:
    """Put a file into the pit's database as its owner could: whatever it says of itself."""
    digest = content_hash(data)
    here.files.keep(digest, data)
    row = {
        "sha256": digest,
        "kind": kind,
        "name": "forged",
        "version": "",
        "size": len(data),
        "signature": signature,
        "offered_by": "Eve",
    } | values
    with here.pit.database.transaction() as connection:
        _insert(connection, row)
        stored = connection.execute(
            "SELECT sha256, kind, name, version, size, signature, offered_by, offered_at FROM offered_file"
            " WHERE sha256 = %s",
            (digest,),
        ).fetchone()
    assert stored is not None
    return Offered(*stored)


def _insert(connection: Connection, row: dict[str, Any]) -> None:
    names, places = ", ".join(row), ", ".join(["%s"] * len(row))
    connection.execute(f"INSERT INTO offered_file ({names}) VALUES ({places})".encode(), tuple(row.values()))


def signed(key: DeviceKey, kind: str, data: bytes, name: str = "forged", by: str = "Eve") -> str:
    return key.sign(signed_text(kind, name, content_hash(data), len(data), by)).hex()


def fetched(here: Rig, one: Offered) -> bool:
    return (here.inbox / one.sha256).exists()


def test_a_cut_costs_one_piece_also_over_a_restart_of_the_uplink(here: Rig, big: Offered) -> None:
    here.client.cut_after = 2
    here.turn()
    part = here.inbox / f"{big.sha256}.part"
    assert part.stat().st_size == 2 * PIECE
    assert here.at_pit(big).state == "asked"
    here.starts_again("0.2.0-00000000")
    here.client.cut_after, here.client.pieces = None, 0
    here.turn()
    assert here.client.pieces == -(-big.size // PIECE) - 2, "what was fetched is not fetched again"
    assert fetched(here, big)
    assert here.at_pit(big).state == "waiting"
    assert (here.inbox / big.sha256).read_bytes() == here.files.path(big.sha256).read_bytes()


def test_a_full_disk_is_said_and_mended_by_room(here: Rig, big: Offered) -> None:
    here.free[0] = LEAVES_FREE + 1_000_000
    here.turn()
    assert here.at_pit(big).state == "asked"
    assert str(here.at_pit(big).why) == ("The disk has 1 MB to spare, and 4 MB are needed. Make room first.")
    assert here.here(big).why == here.at_pit(big).why
    here.free[0] = 10**12
    here.turn()
    assert here.at_pit(big).state == "waiting"


def test_a_disk_that_refuses_to_write_is_said_and_tried_again(here: Rig, big: Offered) -> None:
    part = here.inbox / f"{big.sha256}.part"
    here.inbox.mkdir(exist_ok=True)
    part.mkdir()
    here.turn()
    assert "cannot be stored at the table" in str(here.at_pit(big).why)
    part.rmdir()
    here.turn()
    assert here.at_pit(big).state == "waiting"


def test_flipped_bits_are_fetched_again_and_given_up_in_the_end(here: Rig, big: Offered) -> None:
    here.client.bend = lambda data: bytes([data[0] ^ 1]) + data[1:]
    here.turn()
    assert (here.at_pit(big).state, here.at_pit(big).why) == ("asked", UNLIKE)
    here.client.bend = None
    here.turn()
    assert here.at_pit(big).state == "waiting"

    deck = here.offer("blue.json", deck_text())
    here.ask(deck)
    here.client.bend = lambda data: b"?" + data[1:]
    for _ in range(3):
        here.turn()
    assert (here.at_pit(deck).state, here.at_pit(deck).why) == ("refused", UNLIKE)
    assert not fetched(here, deck)


@pytest.mark.parametrize("bent", [lambda data: data[:-1], lambda data: data + b"x", lambda data: b""])
def test_half_a_piece_or_more_than_was_announced_is_not_laid_into_the_inbox(here: Rig, bent: Any) -> None:
    one = here.offer("friday.toml", PROFILE)
    here.ask(one)
    here.client.bend = bent
    for _ in range(4):
        here.turn()
    assert not fetched(here, one)
    assert here.at_pit(one).state in ("asked", "refused")
    assert here.rows("profile_kept") == []


def test_a_file_that_the_pit_lost_is_said_and_fetched_once_it_is_offered_again(here: Rig) -> None:
    one = here.offer("friday.toml", PROFILE)
    here.ask(one)
    here.files.path(one.sha256).unlink()
    here.turn()
    assert here.at_pit(one).state == "asked"
    assert "cannot be read" in str(here.follower.heard.trouble) or "cannot be read" in str(
        here.at_pit(one).why
    )
    here.offer("friday.toml", PROFILE)
    here.turn()
    assert here.at_pit(one).state == "waiting"


@pytest.mark.parametrize("kind", ["profile", "deck"])
def test_what_another_key_signed_is_refused_before_a_byte_of_it_is_fetched(here: Rig, kind: str) -> None:
    data = PROFILE.encode() if kind == "profile" else deck_text().encode()
    for number, signature in enumerate(
        ("", signed(DeviceKey.open(here.folder / "eve"), kind, data + b"\n" * 1))
    ):
        one = forged(here, kind, data + b"\n" * number, signature)
        here.ask(one)
        here.turn()
        assert (here.at_pit(one).state, here.at_pit(one).why) == ("refused", NOT_THE_HOUSES)
        assert here.here(one).why == NOT_THE_HOUSES
    assert here.client.pieces == 0


def test_a_pit_that_lies_about_the_kind_or_the_name_is_refused(here: Rig) -> None:
    deck, house = deck_text().encode(), here.pit.authority.house
    as_profile = forged(here, "profile", deck, signed(house, "deck", deck))
    here.ask(as_profile)
    renamed = forged(here, "deck", deck + b" ", signed(house, "deck", deck + b" ", name="another"))
    here.ask(renamed)
    here.turn()
    for one in (as_profile, renamed):
        assert (here.at_pit(one).state, here.at_pit(one).why) == ("refused", NOT_THE_HOUSES)

    truly_signed = forged(here, "profile", deck + b"  ", signed(house, "profile", deck + b"  "))
    here.ask(truly_signed)
    as_release = forged(here, "release", PROFILE.encode(), version="9.9.9")
    here.ask(as_release)
    here.turn()
    assert here.at_pit(truly_signed).state == "refused"
    assert "The profile cannot be used" in str(here.at_pit(truly_signed).why)
    assert here.at_pit(as_release).state == "refused"
    assert here.at_pit(as_release).why == NOT_THE_MAKERS
    assert here.rows("profile_kept") == here.rows("deck_enrolled") == here.rows("update_begun") == []


def test_a_profile_that_does_not_parse_is_refused_although_the_house_signed_it(here: Rig) -> None:
    house = here.pit.authority.house
    for number, data in enumerate(
        (b"\xff\xfe", b"[profile", b'[profile]\nname = "x"\n', b"[profile]\n" * 1000)
    ):
        one = forged(here, "profile", data, signed(house, "profile", data))
        here.ask(one)
        here.turn()
        assert here.at_pit(one).state == "refused", number
        assert "profile cannot be used" in str(here.at_pit(one).why), number
    assert here.rows("profile_kept") == []


def test_a_release_of_another_key_or_of_another_name_is_refused_by_the_uplink(here: Rig) -> None:
    eves = packed(here.folder, NEWER, DeviceKey.open(here.folder / "eve")).read_bytes()
    one = forged(here, "release", eves, version=NEWER)
    here.ask(one)
    here.turn()
    assert here.at_pit(one).state == "refused"
    assert here.at_pit(one).why == NOT_THE_MAKERS
    renamed = packed(here.folder, "0.2.9-old", here.release_key).read_bytes()
    other = forged(here, "release", renamed, version="0.4.0-new")
    here.ask(other)
    here.turn()
    assert str(here.at_pit(other).why) == "It is release 0.2.9-old, and was announced as 0.4.0-new."
    assert not fetched(here, one)
    assert not fetched(here, other)


def test_what_is_too_large_is_refused_before_it_is_fetched(here: Rig) -> None:
    data = PROFILE.encode()
    one = forged(here, "profile", data, "", size=MOST_BYTES["profile"] + 1)
    here.ask(one)
    here.turn()
    assert here.at_pit(one).state == "refused"
    assert "too large" in str(here.at_pit(one).why)
    shorter = forged(here, "release", data + b"x", size=len(data))
    here.ask(shorter)
    for _ in range(4):
        here.turn()
    assert (here.at_pit(shorter).state, here.at_pit(shorter).why) == ("refused", UNLIKE)


def test_a_table_without_a_house_key_says_how_it_gets_one(here: Rig) -> None:
    (here.enrolment / HOUSE).unlink()
    one = here.offer("friday.toml", PROFILE)
    here.ask(one)
    here.turn()
    assert (here.at_pit(one).state, here.at_pit(one).why) == ("refused", NO_HOUSE_KEY)


def test_a_file_that_is_changed_in_the_inbox_is_not_taken(here: Rig) -> None:
    """As by an uplink that somebody has taken over: it can write there, and has no key."""
    one = here.offer("friday.toml", PROFILE)
    here.ask(one)
    here.fetch()
    path = here.inbox / one.sha256
    path.write_bytes(path.read_bytes().replace(b"Friday", b"Monday"))
    here.turn()
    assert here.here(one).state == "refused"
    assert "changed after it was fetched" in str(here.at_pit(one).why)
    another = replace(here.here(one).asked, number=77, by="Moreno")
    write_list(here.inbox / LIST, [Item(another, "fetched")])
    here.table.let_pass(2)
    assert "not signed by the house" in str(read_list(here.table.config.data / "inbox.json")[0].why)
    assert here.rows("profile_kept") == []


@pytest.mark.parametrize(
    "text", [b"", b"[", b"{}", b"[1, {}]", b'[{"asked": {}, "state": "x", "why": null}]', b"[" * 60_000]
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


def test_a_table_fetches_what_it_is_asked_for_and_nothing_else(here: Rig, big: Offered) -> None:
    other = here.offer("friday.toml", PROFILE)
    path = f"/v1/files/{other.sha256}"
    with pytest.raises(Refused, match="no such file for this table"):
        here.client.piece(path, 0, 10)
    with pytest.raises(Refused, match="no such part"):
        here.client.piece(f"/v1/files/{big.sha256}", big.size, big.size + 1)
    data, size = here.client.piece(f"/v1/files/{big.sha256}", 5, 9)
    assert (data, size) == (here.files.path(big.sha256).read_bytes()[5:9], big.size)
    data, size = here.client.piece(f"/v1/files/{big.sha256}", 0, 3 * PIECE)
    assert len(data) == PIECE, "the pit gives no more at a time"
    for name in ("../authority/authority.key", "x" * 64, big.sha256.upper()):
        with pytest.raises(Refused):
            here.client.piece(f"/v1/files/{name}", 0, 10)


@pytest.mark.parametrize(
    "value",
    [
        "x",
        [{}],
        [{"number": True, "state": "asked", "why": None}],
        [{"number": -1, "state": "asked", "why": None}],
        [{"number": 1, "state": "asked", "why": "x"}],
        [{"number": 1, "state": "asked", "why": {"message": "a\0", "args": {}}}],
        [{"number": 1, "state": "asked", "why": {"message": "\ud800", "args": {}}}],
        [{"number": 1, "state": "asked", "why": {"message": "%(a)s", "args": {"a": "x" * 900}}}],
        [{"number": 1, "state": "asked", "why": None}] * (MOST_OPEN + 1),
    ],
)
def test_what_no_table_says_of_its_files_is_refused(value: Any) -> None:
    with pytest.raises(WireError):
        told_of(value)


def test_what_no_pit_asks_for_is_left_out() -> None:
    good = {
        "number": 1,
        "sha256": "0" * 64,
        "kind": "deck",
        "name": "x",
        "version": "",
        "size": 1,
        "by": "Ines",
        "signature": "",
    }
    bad: tuple[Any, ...] = (
        {**good, "more": 1},
        {**good, "sha256": "../x"},
        {**good, "name": "a\nb"},
        {**good, "number": "1"},
        {**good, "signature": "zz"},
        {**good, "size": -1},
        {**good, "name": ""},
        5,
        None,
        [],
    )
    assert asked_of([*bad, good]) == asked_of([good])
    assert asked_of(None) is None
    assert asked_of({}) is None
