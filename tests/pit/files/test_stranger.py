"""A stranger at the files that go down: a pit that was taken over or set back, and clumsy people at a sound one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from firmware.runtime.config import PitConfig
from firmware.runtime.inbox import desk
from firmware.runtime.inbox.desk import FAULT, INSTALLING, NO_HOURS
from firmware.table.topics.inbox import LARGEST
from firmware.update.house import HouseFile
from firmware.uplink.inbox.fetching import (
    DAY_S,
    MAX_WASTED_BYTES,
    NO_ROOM,
    ONE_RELEASE,
    PIECE,
    RECORD_NEEDS,
    WASTED,
)
from firmware.uplink.inbox.requests import (
    LIST,
    MAX_OPEN_REQUESTS,
    NOTES,
    FileRequest,
    inbox_path,
    read_list,
    requests_from_table,
    write_list,
)
from firmware.uplink.wire import WireError
from pit.errors import PitError
from pit.files.offers import offer
from tests.pit.conftest import Pit
from tests.pit.files.conftest import PROFILE, deck_text, packed
from tests.pit.files.rig import NEWER, RUNNING, Rig, part_of, rig, take_file
from tests.pit.files.test_hostile import forged

NEXT = '{"do": "next"}'
LATER = PROFILE.replace("Friday", "Later Friday")


# ---- what was signed once, and comes again ----


def test_an_older_profile_that_comes_again_waits_for_a_person_where_others_come_into_force_by_themselves(
    pit: Pit, tmp_path: Path, release_key: Path
) -> None:
    with rig(pit, tmp_path, release_key, PitConfig(profiles="at once")) as here:
        first, second = here.offer("a.toml", PROFILE), here.offer("b.toml", LATER)
        for one in (first, second):
            here.ask(one)
            here.turn()
            assert here.at_pit(one).state == "in_force"
        for _ in range(3):  # each time under another number
            here.ask(first)
            here.turn()
            assert here.at_pit(first).state == "waiting"
            assert "was here before as friday-game" in str(here.at_pit(first).why)
            here.ask(second)
            here.turn()
        assert here.table.process.house.profile_hash == second.sha256
        assert len(here.rows("house_set")) == len(here.rows("profile_kept")) == 2, "and no row is written"
        here.ask(first)
        here.turn()
        assert here.take(first)["ok"]
        here.turn()
        assert here.at_pit(first).state == "in_force"


def test_a_pit_that_counts_from_one_again_meets_no_update_of_before(here: Rig, owned: str) -> None:
    """Its database was lost: a new request has the number of one that this table has begun to install."""
    before = here.request("", packed(here.folder, NEWER, here.release_key))
    here.turn()
    assert here.take(before)["ok"]
    here.turn()
    assert here.at_pit(before).why == INSTALLING
    number = here.here(before).number
    after = here.offer("", packed(here.folder, "0.4.0-33334444", here.release_key))
    with psycopg.connect(owned) as connection:
        connection.execute("DELETE FROM file_request")
        connection.execute("ALTER TABLE file_request ALTER COLUMN request_id RESTART WITH %d" % number)  # noqa: UP031
    here.ask(after)
    here.turn()
    assert here.here(after).number == number
    assert (here.at_pit(after).state, here.at_pit(after).why) == ("waiting", NO_HOURS)


def test_what_a_page_showed_is_what_is_taken_whatever_number_it_has_now(here: Rig) -> None:
    shown = here.offer("a.toml", PROFILE)
    other = here.offer("b.toml", LATER.replace("friday-game", "other-game"))
    for one in (shown, other):
        here.ask(one)
    here.turn()
    number = here.here(shown).number
    swapped = [
        replace(here.here(other), number=number, state="fetched"),
        replace(here.here(shown), number=number, state="fetched"),
    ]
    write_list(here.inbox / LIST, swapped)
    here.table.let_pass(3)
    waiting = [one for one in read_list(here.table.config.data / NOTES) if one.state == "waiting"]
    assert [one.sha256 for one in waiting] == [other.sha256], "no two files have one number"
    assert "does not wait here" in here.table.ask(take_file(number, shown.sha256))["error"]
    assert here.rows("house_set") == []
    assert here.table.ask(take_file(number, other.sha256))["ok"]


# ---- what no program may end by ----


@pytest.mark.parametrize(
    "number", ["1" + "0" * 400, "NaN", "-Infinity", "1e999", str(2 * LARGEST), "true", '"a"', "[]"]
)
def test_a_figure_that_no_deck_has_is_refused_at_both_ends(here: Rig, number: str) -> None:
    text = deck_text(model=here.table.process.house.model_hash).replace("[0.0,", f"[{number},", 1)
    with pytest.raises(PitError, match="no deck profile"):
        here.offer("odd.json", text)
    one = forged(here, "deck", text.encode(), signer=here.pit.authority)
    here.ask(one)
    here.turn()
    assert here.at_pit(one).state == "refused"
    assert "no deck profile" in str(here.at_pit(one).why)
    here.table.do(NEXT)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_deck_that_json_takes_and_the_card_reader_does_not_is_refused_at_both_ends(
    here: Rig, encoding: str
) -> None:
    data = deck_text(model=here.table.process.house.model_hash).encode(encoding)
    path = here.folder / "odd.json"
    path.write_bytes(data)
    with pytest.raises(PitError, match=r"no deck profile|cannot be read"):
        here.offer("", path)
    one = forged(here, "deck", data, signer=here.pit.authority)
    here.ask(one)
    here.turn()
    assert (here.at_pit(one).state, "no deck profile" in str(here.at_pit(one).why)) == ("refused", True)


def test_a_deck_with_a_name_that_no_table_takes_is_not_offered(here: Rig) -> None:
    for name in ("", "x" * 41, "blue\nbacks", "\u202eblue"):
        with pytest.raises(PitError, match="cannot be offered"):
            here.offer("odd.json", deck_text(name))


def test_an_error_of_our_own_with_a_file_refuses_the_file_and_the_table_deals_on(
    here: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(data: bytes) -> Any:
        raise ZeroDivisionError("whatever it is")

    monkeypatch.setattr(desk, "profile_of", breaks)
    one = here.request("friday.toml", PROFILE)
    here.turn()
    assert (here.at_pit(one).state, here.at_pit(one).why) == ("refused", FAULT)
    here.table.do(NEXT)


@pytest.mark.parametrize("template", ["%(a)900000000s", "%(a).900000000f", "%(a)c", "%(a)r", "%(a)s %"])
def test_a_reason_whose_template_asks_for_memory_is_refused(template: str) -> None:
    why = {"message": template, "args": {"a": 1 << 40}}
    with pytest.raises(WireError):
        requests_from_table([{"number": 1, "sha256": "0" * 64, "state": "asked", "why": why}])


# ---- room on the card ----


def test_a_release_that_stops_in_the_middle_makes_way_for_the_record(here: Rig) -> None:
    big = here.request("", packed(here.folder, NEWER, here.release_key, filler=here.noise(3)))
    here.client.cut_after = 2
    here.fetch()
    assert part_of(here, big).stat().st_size == 2 * PIECE
    here.free[0] = RECORD_NEEDS - 1
    here.client.cut_after = None
    here.fetch()
    assert not part_of(here, big).exists()
    assert here.at_pit(big).state == "asked"
    here.free[0] = 10**12
    here.turn()
    assert here.at_pit(big).state == "waiting"
    here.free[0] = RECORD_NEEDS - 1
    here.turn()
    assert not inbox_path(here.inbox, big.sha256).exists(), "also one that lies there whole"
    assert here.at_pit(big).state == "asked"
    assert here.at_pit(big).why is not None


def test_only_one_release_lies_in_the_inbox_at_a_time(here: Rig) -> None:
    """A sound pit asks for one. Another one asks for twenty, and lets each stop before its end."""
    old = here.request("", packed(here.folder, NEWER, here.release_key, filler=here.noise(3)))
    here.client.cut_after = 2
    here.turn()
    assert part_of(here, old).exists()
    item = read_list(here.inbox / LIST)[0]
    newer = here.offer("", packed(here.folder, "0.4.0-33334444", here.release_key))
    here.client.cut_after = None
    here.uplink.ask([item.to_json(), FileRequest(item.number + 1, newer.sha256).to_json()])
    assert here.uplink.step(here.client)
    assert not part_of(here, old).exists()
    assert read_list(here.inbox / LIST)[0].why == ONE_RELEASE


def test_a_pit_that_sends_rubbish_for_ever_does_not_wear_the_card_out(here: Rig) -> None:
    """A pit with the house's key names twenty files, and sends other bytes than it named."""
    here.client.bend = lambda data: bytes(len(data))
    sent = 0

    def one_more() -> None:
        nonlocal sent
        sent += 1
        one = here.request(f"{sent}.json", deck_text(f"deck {sent}"))
        here.uplink.ask([FileRequest(sent, one.sha256).to_json()])
        assert here.uplink.step(here.client)

    one_more()
    [deck] = read_list(here.inbox / LIST)
    assert deck.file is not None
    assert (here.client.pieces, here.uplink._wasted) == (1, deck.file.size)
    here.uplink._wasted = MAX_WASTED_BYTES
    for _ in range(3):
        one_more()
    assert here.client.pieces == 1
    assert read_list(here.inbox / LIST)[0].why == WASTED
    here.now[0] += DAY_S
    one_more()
    assert here.client.pieces == 2


# ---- an uplink that was taken over ----


def test_an_uplink_does_not_say_that_something_is_in_force(here: Rig) -> None:
    one = here.request("friday.toml", PROFILE)
    here.fetch()
    [item] = read_list(here.inbox / LIST)
    for state in ("in_force", "waiting", "withdrawn", "danced"):
        write_list(here.inbox / LIST, [replace(item, state=state)])
        here.table.let_pass(3)
        assert here.here(one).state == "asked", state
    assert here.rows("profile_kept") == []


def test_the_longest_requests_that_there_are_fit_into_the_lists(tmp_path: Path) -> None:
    longest = "\U0001f0a1" * 80
    items = [
        FileRequest(n, f"{n:064x}", "refused", NO_ROOM, HouseFile(f"{n:064x}", 1, *[longest] * 4))
        for n in range(2 * MAX_OPEN_REQUESTS)
    ]
    write_list(tmp_path / LIST, items)
    assert len(read_list(tmp_path / LIST)) == len(items)


# ---- clumsy people ----


def test_a_file_that_is_gone_when_it_is_taken_is_said(here: Rig) -> None:
    one = here.request("friday.toml", PROFILE)
    here.turn()
    inbox_path(here.inbox, one.sha256).unlink()
    assert "does not wait here any more" in here.take(one)["error"]


def test_take_pressed_twice_or_on_two_pages_puts_in_force_once(here: Rig) -> None:
    one = here.request("friday.toml", PROFILE)
    here.turn()
    first, second = here.take(one), here.take(one)
    assert first["ok"]
    here.turn()
    assert len({row.event.profile_hash for row in here.rows("house_set")}) == 1
    assert here.at_pit(one).state == "in_force"
    assert second["ok"] or "does not wait here" in second["error"]


@pytest.mark.parametrize("by", ["", "\n", "x" * 81, "\u202eInes", "a\0b", "\u3164"])
def test_a_name_that_no_table_takes_offers_nothing(here: Rig, by: str) -> None:
    path = here.folder / "friday.toml"
    path.write_text(PROFILE)
    with pytest.raises(PitError, match="has no name"):
        offer(here.pit.database, here.pit.house, path, by)


def test_a_file_that_the_pits_disk_has_damaged_is_mended_by_sending_it_again(here: Rig) -> None:
    one = here.offer("friday.toml", PROFILE)
    path = here.pit.house.files.path(one.sha256)
    path.write_bytes(path.read_bytes().replace(b"Friday", b"Fr\0day"))
    here.offer("friday.toml", PROFILE)
    here.ask(one)
    here.turn()
    assert here.at_pit(one).state == "waiting"


def test_a_deck_in_the_middle_of_a_hand_changes_nothing_until_it_is_over(here: Rig) -> None:
    here.table.do(NEXT)
    one = here.request("blue.json", deck_text(model=here.table.process.house.model_hash))
    here.turn()
    assert (here.at_pit(one).state, here.at_pit(one).why) == ("waiting", desk.HAND)
    assert "A hand is open" in here.take(one)["error"]
    assert here.rows("deck_enrolled") == []
    here.table.do('{"do": "void", "reason": "to end it"}')
    assert here.take(one)["ok"]


def test_a_power_cut_after_take_leaves_the_deck_unchecked(here: Rig) -> None:
    one = here.request("blue.json", deck_text(model=here.table.process.house.model_hash))
    here.turn()
    assert here.take(one)["ok"]
    here.starts_again(RUNNING, boot="boot-2")
    assert "was not checked" in here.table.ask(NEXT)["error"]
    here.turn()
    assert here.at_pit(one).why == desk.DECK_UNCHECKED
