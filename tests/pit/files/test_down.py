"""Profiles, decks and releases go down to a table over the real door, and the table decides between hands."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from firmware.runtime.config import PitConfig
from firmware.runtime.inbox.desk import (
    DECK_UNCHECKED,
    DECK_WAITS,
    HAND,
    INSTALL_WITHIN_S,
    INSTALLING,
    NO_CLOCK,
    NO_HOURS,
)
from firmware.runtime.inbox.install_request import (
    MAY_SWITCH,
    REQUEST,
    read_request,
    write_result,
)
from firmware.table import events as ev
from firmware.update.release import TARGETS
from firmware.uplink.inbox.requests import WITHDRAWN, FileRequest, inbox_path
from pit.files.requests import withdraw
from pit.store.database import Database
from tests.pit.conftest import Pit, opened_pit
from tests.pit.files.conftest import PROFILE, deck_text, ended_by, packed
from tests.pit.files.rig import NEWER, NIGHT_MS, RUNNING, Rig, rig, take_file

NEXT, VOID = '{"do": "next"}', '{"do": "void", "reason": "to end it"}'


def now_within(minutes: int) -> str:
    """Return hours that begin so many minutes after the rig's moment, an hour long."""
    first = time.localtime(NIGHT_MS / 1000 + 60 * minutes)
    end = time.localtime(NIGHT_MS / 1000 + 60 * (minutes + 60))
    return f"{first.tm_hour:02}:{first.tm_min:02}-{end.tm_hour:02}:{end.tm_min:02}"


def test_a_profile_is_kept_in_the_pits_name_and_put_in_force_by_a_person(here: Rig) -> None:
    one = here.request("friday.toml", PROFILE)
    here.turn()
    [kept] = here.rows("profile_kept")
    assert (kept.actor, kept.event.name, kept.event.hash) == ("pit:Ines", "friday-game", one.sha256)
    waits = here.at_pit(one)
    assert waits.state == "waiting"
    assert "friday-game" in str(waits.why)
    assert here.here(one).why == waits.why
    assert here.take(one)["ok"]
    here.turn()
    [put] = here.rows("house_set")
    assert (put.actor, put.event.profile_hash) == ("technician:Tran", one.sha256)
    assert here.at_pit(one).state == "in_force"
    here.turn()
    assert not inbox_path(here.inbox, one.sha256).exists(), "what is over is removed"
    assert here.here(one).state == "in_force"
    here.table.do(NEXT)
    [opened] = here.rows("hand_opened")
    assert opened.event.profile_hash == one.sha256
    assert len(here.rows("profile_kept")) == 1


def test_a_profile_is_in_force_by_itself_between_hands_where_the_house_says_so(
    pit: Pit, tmp_path: Path, release_key: Path
) -> None:
    with rig(pit, tmp_path, release_key, PitConfig(profiles="at once")) as here:
        here.table.do(NEXT)
        one = here.request("friday.toml", PROFILE)
        here.turn()
        assert (here.at_pit(one).state, here.at_pit(one).why) == ("waiting", HAND)
        assert here.rows("profile_kept") == here.rows("house_set") == []
        here.table.do(VOID)
        here.turn()
        assert here.at_pit(one).state == "in_force"
        [put] = here.rows("house_set")
        assert (put.actor, put.event.profile_hash) == ("pit:Ines", one.sha256)


def test_only_a_technician_takes_a_file_and_only_between_hands(here: Rig) -> None:
    one = here.request("friday.toml", PROFILE)
    here.turn()
    number = here.here(one).number
    without = json.dumps({"do": "take_file", "number": number, "sha256": one.sha256})
    assert "PIN" in str(here.table.ask(without))
    here.table.do(NEXT)
    assert "A hand is open" in here.take(one)["error"]
    here.table.do(VOID)
    assert here.take(one)["ok"]
    here.turn()
    assert "does not wait here" in here.take(one)["error"]
    for line in (take_file(99, one.sha256), take_file(number, "0" * 64)):
        assert "does not wait here" in here.table.ask(line)["error"]


def test_a_deck_is_taken_by_a_technician_and_in_force_once_it_was_checked(here: Rig) -> None:
    model = here.table.process.house.model_hash
    one = here.request("blue.json", deck_text(model=model))
    here.turn()
    assert (here.at_pit(one).state, here.at_pit(one).why) == ("waiting", DECK_WAITS)
    assert here.take(one)["ok"]
    here.turn()
    assert (here.at_pit(one).state, here.at_pit(one).why) == ("waiting", DECK_UNCHECKED)
    [learnt] = here.rows("deck_enrolled")
    assert (learnt.actor, learnt.event.calibration.hash) == ("technician:Tran", one.sha256)
    assert here.table.readings.setups[-1].deck == deck_text(model=model)
    assert "came from the pit and was not checked" in here.table.ask(NEXT)["error"]
    counted_in_any_order = ev.DeckChecked(52, deck=one.sha256)
    of_another_deck = ev.DeckChecked(52, deck="d" * 64, in_order=True)
    here.starts_again(RUNNING, meanwhile=(counted_in_any_order, of_another_deck))
    here.turn()
    assert (here.at_pit(one).state, here.at_pit(one).why) == ("waiting", DECK_UNCHECKED)
    here.starts_again(RUNNING, meanwhile=(ev.DeckChecked(52, deck=one.sha256, in_order=True),))
    here.turn()
    assert here.at_pit(one).state == "in_force"
    here.table.do(NEXT)


def test_a_deck_of_another_card_readers_model_is_refused(here: Rig) -> None:
    one = here.request("odd.json", deck_text(model="e" * 64))
    here.turn()
    assert here.at_pit(one).state == "refused"
    assert "another card reader's model" in str(here.at_pit(one).why)
    assert here.rows("deck_enrolled") == []


def test_a_release_waits_for_a_technician_where_the_house_allows_no_hours(here: Rig) -> None:
    one = here.request("", packed(here.folder, NEWER, here.release_key))
    here.turn()
    assert (here.at_pit(one).state, here.at_pit(one).why) == ("waiting", NO_HOURS)
    assert not (here.folder / "run" / REQUEST).exists()
    assert here.take(one)["ok"]
    here.turn()
    assert (here.at_pit(one).state, here.at_pit(one).why) == ("waiting", INSTALLING)
    assert read_request(here.folder / "run" / REQUEST) == FileRequest(*here.here(one).key)
    [begun] = here.rows("update_begun")
    assert (begun.actor, begun.event.release) == ("technician:Tran", NEWER)


def test_a_release_is_installed_in_the_houses_hours_between_hands_and_reports_itself(
    pit: Pit, tmp_path: Path, release_key: Path
) -> None:
    with rig(pit, tmp_path, release_key, PitConfig(release_hours=now_within(5))) as here:
        one = here.request("", packed(here.folder, NEWER, here.release_key))
        here.turn()
        assert str(here.at_pit(one).why) == f"The hours for updates are {now_within(5)}."
        here.moves(minutes=10, clock="unknown")
        here.turn()
        assert here.at_pit(one).why == NO_CLOCK
        here.table.do(NEXT)
        here.moves(minutes=10)
        here.turn()
        assert here.at_pit(one).why == HAND
        here.table.do(VOID)
        here.turn()
        assert here.at_pit(one).why == INSTALLING
        [begun] = here.rows("update_begun")
        assert begun.actor == "pit:Ines"
        switch = here.folder / "run" / MAY_SWITCH
        here.turn()
        assert switch.exists()
        here.table.do(NEXT)
        here.turn()
        assert not switch.exists(), "what runs is not stopped while a hand lies on the table"

        request = here.here(one)
        here.starts_again(NEWER)
        here.turn()
        assert here.at_pit(one).why == INSTALLING, "the installer still looks whether it holds"
        write_result(here.folder / "result.json", request, "")
        here.turn()
        assert here.at_pit(one).state == "in_force"


@pytest.mark.parametrize("how", ["it says so", "the power was cut", "it never ends"])
def test_a_release_that_went_back_is_refused_with_the_reason(
    pit: Pit, tmp_path: Path, release_key: Path, how: str
) -> None:
    with rig(pit, tmp_path, release_key, PitConfig(release_hours=now_within(-5))) as here:
        one = here.request("", packed(here.folder, NEWER, here.release_key))
        here.turn()
        assert here.at_pit(one).why == INSTALLING
        if how == "it says so":
            write_result(
                here.folder / "result.json",
                here.here(one),
                "Release x was rolled back.",
            )
        elif how == "the power was cut":
            here.starts_again("0.2.0-00000000", boot="boot-2")
        else:
            here.moves(minutes=INSTALL_WITHIN_S / 60 + 1)
        here.turn()
        assert here.at_pit(one).state == "refused"
        assert ("rolled back" if how == "it says so" else "runs 0.2.0-00000000") in str(here.at_pit(one).why)
        here.turn()
        assert len(here.rows("update_begun")) == 1, "it is not tried again by itself"


def test_a_release_that_runs_already_is_in_force_without_an_installation(here: Rig) -> None:
    here.starts_again(NEWER)
    one = here.request("", packed(here.folder, NEWER, here.release_key))
    here.turn()
    assert here.at_pit(one).state == "in_force"
    assert here.rows("update_begun") == []


def test_a_release_comes_through_nginx_in_pieces(
    database: Database, tmp_path: Path, release_key: Path
) -> None:
    with opened_pit("nginx", database) as pit, rig(pit, tmp_path, release_key) as here:
        one = here.request("", packed(here.folder, NEWER, here.release_key, filler=here.noise(3)))
        here.turn()
        assert here.client.pieces == 3
        assert here.at_pit(one).state == "waiting"


def test_what_is_withdrawn_in_the_middle_is_gone_at_the_table_with_a_sentence(here: Rig) -> None:
    deck = here.offer("blue.json", deck_text(model=here.table.process.house.model_hash))
    release = here.offer("", packed(here.folder, NEWER, here.release_key, filler=here.noise(3)))
    for one in (deck, release):
        here.ask(one)
    here.client.cut_after = 2
    here.turn()
    assert {path.name for path in (here.inbox / TARGETS).iterdir()} == {deck.sha256, release.sha256}
    with here.pit.database.transaction() as connection:
        for one in (deck, release):
            assert withdraw(connection, here.enrolled.table_id, "Max", sha256=one.sha256)
    here.client.cut_after = None
    here.turn()
    assert list((here.inbox / TARGETS).iterdir()) == []
    assert (here.here(release).state, here.here(release).why) == ("withdrawn", WITHDRAWN)
    with here.pit.database.transaction() as connection:
        assert ended_by(connection, here.at_pit(release)) == "Max"
