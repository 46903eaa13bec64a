"""The archive's list and its hands: what the index says is what the journal says, however it was come by."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from firmware.record.archive import Archive, HandFilter
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import Journal
from firmware.record.journal.row_index import index_to_write
from firmware.table import CommandRefused, JournalError, Phase
from firmware.table import events as ev
from tests.firmware.conftest import FRAME, PIXELS

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.record.journal.clocks import Timestamp
    from tests.firmware.conftest import Deal


ALL = HandFilter()


def settled(deal: Deal) -> ev.HandSettled:
    """Seat 1 fouls, seat 2 has a natural."""
    told = dict(deal.settled().settlement)
    told["hands"] = [
        {"seat": 1, "foul": True, "natural": None},
        {"seat": 2, "foul": False, "natural": {"kind": "six_pairs", "value": 3}},
    ]
    told["points"] = {"1": -4, "2": 4}
    return ev.HandSettled(told)


@pytest.fixture
def data(tmp_path: Path, deal: Deal, ticking: Callable[[], Timestamp]) -> Path:
    """Three hands: plain; with a foul, a natural, an unsure card and a correction; void. Then hand 1 is reopened."""
    CaptureStore(tmp_path).save(FRAME.name, PIXELS)
    play = deal.until(Phase.ARCHIVED)
    unsure = deal.until(Phase.REVIEW, unsure=((1, "front", 0),))[1:]
    with Journal(tmp_path, ticking) as journal:
        journal.append(play, "test")
        journal.append([deal.opened(2), *unsure], "test")
        journal.append([ev.CardResolved(1, "front", 0, "Qs"), settled(deal)], "test")
        journal.append([ev.CardCorrected(1, "front", 2, "4d", "4c"), settled(deal)], "test")
        journal.append([ev.HandArchived()], "test")
        journal.append([deal.opened(3), ev.HandVoided("a test")], "test")
        journal.append([ev.HandDisputed(2, "that was not my card")], "floor:Moreno")
        opened = deal.opened()
        ends = tuple(
            ev.SeatEnd(seat, rows={r: tuple(c.split()) for r, c in of.items()})
            for seat, of in deal.rows.items()
        )
        reopened = ev.HandReopened("a wrong card", opened, 1, ends, deal.settled().settlement)
        journal.append(
            [reopened, ev.CardCorrected(1, "front", 2, "4d", "4c"), deal.settled()], "floor:Moreno"
        )
        journal.append([ev.HandArchived(), ev.HandReviewed(1, "seen")], "floor:Moreno")
    return tmp_path


def numbers(archive: Archive, wanted: HandFilter = ALL, **more: int) -> list[int]:
    return [line.hand for line in archive.hands(wanted, **more)]


def test_the_list_shows_the_newest_hand_first_and_goes_on_page_by_page(data: Path) -> None:
    archive = Archive(data)
    assert numbers(archive) == [3, 2, 1]
    assert numbers(archive, limit=2) == [3, 2]
    assert numbers(archive, before=2, limit=2) == [1]


def test_a_line_says_what_became_of_a_hand(data: Path) -> None:
    archive = Archive(data)
    one, two, three = (archive.line(hand) for hand in (1, 2, 3))
    assert one is not None
    assert two is not None
    assert three is not None
    assert (one.outcome, one.reopened, one.corrections, one.reviewed, one.settled) == ("settled", 1, 1, 1, 2)
    assert (two.fouls, two.naturals, two.corrections, two.unsure, two.disputed) == (1, 1, 1, 1, True)
    assert [(seat.player, seat.points, seat.foul, seat.natural) for seat in two.seats] == [
        ("p1", -4, True, None),
        ("p2", 4, False, "six_pairs"),
    ]
    assert (three.outcome, three.fouls, three.images) == ("void", 0, 0)
    assert (one.images, one.image_bytes, one.cards) == (1, FRAME.size, 26)
    assert archive.line(4) is None


@pytest.mark.parametrize(
    ("wanted", "hands"),
    [
        (HandFilter(marks=frozenset({"foul"})), [2]),
        (HandFilter(marks=frozenset({"natural", "correction"})), [2]),
        (HandFilter(marks=frozenset({"correction"})), [2, 1]),
        (HandFilter(marks=frozenset({"dispute"})), [2]),
        (HandFilter(marks=frozenset({"not_reviewed"})), [3, 2]),
        (HandFilter(player="p2"), [3, 2, 1]),
        (HandFilter(player="p2", seat=1), []),
        (HandFilter(seat=2, marks=frozenset({"foul"})), [2]),
        (HandFilter(player="p1", marks=frozenset({"dispute"})), [2]),
        (HandFilter(player="nobody"), []),
        (HandFilter(profile="washington-1-unit"), [3, 2, 1]),
        (HandFilter(profile="traditional"), []),
        (HandFilter(dealer="Lin"), []),
    ],
)
def test_the_list_can_be_narrowed(data: Path, wanted: HandFilter, hands: list[int]) -> None:
    assert numbers(Archive(data), wanted) == hands


def test_the_list_can_be_narrowed_to_a_time_and_goes_on_by_page_there_too(data: Path) -> None:
    archive = Archive(data)
    times = {line.hand: line.opened_ms for line in archive.hands()}
    assert numbers(archive, HandFilter(since_ms=times[2])) == [3, 2]
    assert numbers(archive, HandFilter(until_ms=times[2])) == [1]
    assert numbers(archive, HandFilter(since_ms=times[1], player="p1"), before=3) == [2, 1]


def test_the_names_to_choose_from_are_those_that_occur(data: Path) -> None:
    assert Archive(data).names() == {"player": ["p1", "p2"], "dealer": [], "profile": ["washington-1-unit"]}


def test_a_hand_comes_with_all_that_was_done_about_it(data: Path) -> None:
    archive = Archive(data)
    hand = archive.hand(1)
    assert hand.opened.hand == 1
    assert [row.type for row in hand.play][-1] == "hand_archived"
    assert [row.type for row in hand.later] == [
        "hand_reopened",
        "card_corrected",
        "settled",
        "hand_archived",
        "hand_reviewed",
    ]
    assert len(hand.settlements) == 2
    assert not hand.disputed
    assert archive.hand(2).disputed
    assert [(image.capture, image.state) for image in archive.images(hand)] == [(FRAME, "ok")]


def test_a_hand_that_does_not_exist_is_said(data: Path) -> None:
    with pytest.raises(CommandRefused, match="Hand 4 is not in the record"):
        Archive(data).hand(4)


def test_dropped_images_are_told_from_missing_ones(data: Path) -> None:
    archive = Archive(data)
    (data / "captures" / FRAME.name).unlink()
    assert [image.state for image in archive.images(archive.hand(1))] == ["missing"]
    with Journal(data) as journal:
        journal.append([ev.ImagesDropped(1, (FRAME,), "older than a day")], "table")
    assert [image.state for image in archive.images(archive.hand(1))] == ["dropped"]
    archive.refresh()
    line = archive.line(1)
    assert line is not None
    assert (line.images, line.image_bytes) == (0, 0)


def test_an_index_follows_the_journal_row_by_row_as_it_does_all_at_once(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = Archive(data)
    at_once = archive.hands()
    index_to_write(data).unlink()
    monkeypatch.setattr("firmware.record.archive_index.BATCH", 1)
    assert archive.hands() == at_once
    assert archive.behind() == 0


def test_a_broken_index_or_one_of_another_record_is_made_again(data: Path, deal: Deal) -> None:
    archive = Archive(data)
    before = archive.hands()
    index_to_write(data).write_bytes(b"no database" * 1000)
    archive.refresh()
    assert archive.hands() == before
    with closing(sqlite3.connect(index_to_write(data))) as db, db:
        db.execute("UPDATE head SET hash = 'of another journal'")
        db.execute("DELETE FROM hands WHERE hand = 2")
    archive.refresh()
    assert archive.hands() == before


def test_who_may_not_write_to_the_folder_still_sees_the_list(
    data: Path,
) -> None:
    data.chmod(0o500)
    assert numbers(Archive(data)) == [3, 2, 1]
    assert not list(data.glob("index*"))


def test_an_index_that_cannot_be_made_is_said(data: Path) -> None:
    index_to_write(data).mkdir()
    with pytest.raises(JournalError, match="index"):
        Archive(data).refresh()


def test_an_empty_folder_has_no_hands(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    assert archive.hands() == []
    assert archive.line(1) is None
    assert archive.names() == {"player": [], "dealer": [], "profile": []}
    assert archive.behind() == 0
    assert list(tmp_path.iterdir()) == []
