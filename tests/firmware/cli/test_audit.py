"""The audit finds what is planted, and nothing in a record that is as it should be."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.cli.record_audit import Audit, _Worker, audit
from firmware.record.hand_history import PastHand, load_hand
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import Journal, JournalReader
from firmware.table import events as ev
from tests.dealer_ui.felt import HANDS, Felt
from tests.dealer_ui.past import corrected, played, ticking
from tests.rendered import rendered
from vision.base.arrays import Image
from vision.felt.geometry import find_felt
from vision.felt.layout import TableLayout
from vision.reading.network import CardReader
from vision.reading.table_reading import TableReading, read

pytestmark = pytest.mark.slow

Swap = Callable[[ev.RowReading], ev.RowReading]


@pytest.fixture(scope="module")
def seen() -> tuple[bytes, TableReading]:
    """The felt's hands as a camera sees them, as a stored frame, and what the reader says of it."""
    hands = {
        place: dict(zip(("front", "middle", "back"), (row.split() for row in HANDS[seat]), strict=True))
        for seat, place in zip(HANDS, "ABCD", strict=True)
    }
    layout = TableLayout.load()
    frame = rendered(hands, layout, seed=5, scale=0.6).frame
    data = cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, 88])[1].tobytes()
    return data, read(picture(data), layout, CardReader(threads=1))


def picture(data: bytes) -> Image:
    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert decoded is not None
    return decoded.astype(np.uint8)


def rows(felt: Felt, reading: TableReading) -> tuple[ev.RowReading, ...]:
    seats = {place: seat for seat, place in felt.seats.items()}
    return tuple(
        ev.RowReading(
            seats[zone.place],
            zone.row,  # type: ignore[arg-type]
            zone.place,
            tuple(ev.CardReading(c.card, c.confidence, c.sure, c.candidates) for c in zone.cards),
        )
        for zone in reading.zones
    )


def read_hand(folder: Path, seen: tuple[bytes, TableReading], swap: Swap = lambda row: row) -> Felt:
    """Play a hand with a real frame; `swap` changes what the record says was read of it."""
    data, reading = seen
    felt = Felt(folder, clock=ticking())
    felt.to_setting()
    felt.to_reading()
    frame = felt.captures.save("000001/frame.jpg", data)
    felt.say(ev.ReadingTaken(tuple(map(swap, rows(felt, reading))), frame))
    while felt.state.questions:
        asked = felt.state.questions[0]
        assert asked.seat is not None
        cards = felt.hands[asked.seat][list(ev.ROWS).index(asked.row or "front")]
        felt.do("key_row", seat=asked.seat, row=asked.row, cards=cards)
    felt.do("archive")
    felt.journal.close()
    return felt


@pytest.fixture
def settled(tmp_path: Path) -> Path:
    """A record with a corrected hand. Its frames are drawn: nothing that the card reader could read."""
    felt = Felt(tmp_path / "felt", clock=ticking())
    corrected(felt)
    felt.journal.close()
    return tmp_path / "felt"


def test_an_untouched_record_settles_again_to_the_same_on_all_cores(settled: Path) -> None:
    assert audit(settled, pictures=False, processes=2) == Audit(hands=1, settlements=2)


def test_a_picture_read_again_says_the_same(tmp_path: Path, seen: tuple[bytes, TableReading]) -> None:
    read_hand(tmp_path, seen)
    assert audit(tmp_path, processes=1) == Audit(hands=1, settlements=1, pictures=1)


def test_a_settlement_that_the_rules_do_not_give_is_found(tmp_path: Path) -> None:
    felt = Felt(tmp_path, clock=ticking())
    felt.to_settled()
    honest = felt.state.settlement
    assert honest is not None
    paid = {**honest["paid"], "1": honest["paid"]["1"] + 500}
    false = [
        ev.ButtonKeyed(4),
        ev.ButtonKeyed(2),
        ev.HandSettled({**honest, "paid": paid}),
        ev.HandArchived(),
    ]
    felt.journal.append(false, "test")
    felt.journal.close()
    found = audit(tmp_path, pictures=False, processes=1).differences
    assert [one.what for one in found] == ["settlement"]
    assert found[0].words == f"paid by seat, in cents: 1: {paid['1']} → {honest['paid']['1']}"


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("card", lambda card: replace(card, card="2c" if card.card != "2c" else "3c")),
        ("doubt", None),
        ("sure_now", lambda card: replace(card, sure=False)),
        ("count", lambda card: None),
    ],
)
def test_a_picture_that_is_read_otherwise_than_the_record_says_is_found(
    tmp_path: Path,
    seen: tuple[bytes, TableReading],
    what: str,
    change: Callable[[ev.CardReading], object] | None,
) -> None:
    data, reading = seen

    def swap(row: ev.RowReading) -> ev.RowReading:
        if change is None or (row.seat, row.row) != (2, "back"):
            return row
        first = change(row.cards[0])
        return replace(row, cards=(*([first] if isinstance(first, ev.CardReading) else []), *row.cards[1:]))

    if what == "doubt":  # a frame so blurred that nothing is sure of it
        data = cv2.imencode(".jpg", cv2.GaussianBlur(picture(data), (0, 0), 2.2))[1].tobytes()
    read_hand(tmp_path, (data, reading), swap)
    found = audit(tmp_path, processes=1).differences
    assert what in {one.what for one in found}, found[:5]
    if what != "doubt":
        assert len(found) == 1
        assert "seat 2, back" in found[0].words


@pytest.mark.parametrize(
    ("then", "sure", "what"), [("", True, []), ("2c", True, ["card"]), ("2c", False, [])]
)
def test_a_placed_card_that_its_zones_picture_does_not_show_is_found(
    tmp_path: Path, seen: tuple[bytes, TableReading], then: str, sure: bool, what: list[str]
) -> None:
    place_cards(tmp_path, seen, then, sure)
    found = audit(tmp_path, processes=1)
    assert (found.pictures, [one.what for one in found.differences]) == (1, what)
    assert all(one.words.startswith("seat 2, back: 2c then, ") for one in found.differences)


def test_a_card_at_a_seat_that_the_hand_does_not_have_is_a_difference_and_ends_nothing(
    tmp_path: Path, seen: tuple[bytes, TableReading], monkeypatch: pytest.MonkeyPatch
) -> None:
    place_cards(tmp_path, seen)

    def without_seat_2(reader: JournalReader, number: int) -> PastHand:
        hand = load_hand(reader, number)
        seats = tuple(one for one in hand.opened.seats if one.seat != 2)
        return replace(hand, opened=replace(hand.opened, seats=seats))

    monkeypatch.setattr("firmware.cli.record_audit.load_hand", without_seat_2)
    found = audit(tmp_path, processes=1)
    assert found.pictures == 1
    assert {one.what for one in found.differences} == {"record"}
    assert "seat 2, which the hand does not have" in found.differences[0].words


def place_cards(folder: Path, seen: tuple[bytes, TableReading], then: str = "", sure: bool = True) -> None:
    """Play a face-up hand to a misdeal, with two cards at seat 2; `then` is what the first was read as."""
    frame, layout = picture(seen[0]), TableLayout.load()
    felt = Felt(folder, clock=ticking(), options={"limits.min_points": 0})
    felt.deal()
    felt.go_on()
    zone = find_felt(frame, layout).rectify(frame, layout.zone(felt.seats[2], "back"), 2.5)
    data = cv2.imencode(".jpg", zone, [cv2.IMWRITE_JPEG_QUALITY, 85])[1].tobytes()
    capture = felt.captures.save("000001/placed.jpg", data)
    first, second, *_ = HANDS[2][2].split()
    for card in (then or first, second):
        told = ev.CardReading(card, 0.9, sure or card == second, (card,))
        felt.say(ev.CardPlaced(2, "back", told, capture))
    felt.do("void", reason="Misdeal")
    felt.journal.close()


def test_a_picture_that_was_changed_or_lost_is_found_and_one_dropped_by_the_rule_is_none(
    tmp_path: Path, seen: tuple[bytes, TableReading]
) -> None:
    felt = read_hand(tmp_path, seen)
    path = CaptureStore(tmp_path).path("000001/frame.jpg")
    path.write_bytes(path.read_bytes() + b"x")
    assert [one.what for one in audit(tmp_path, processes=1).differences] == ["picture"]
    path.unlink()
    assert [one.what for one in audit(tmp_path, processes=1).differences] == ["picture"]
    frame = next(e.event for e in JournalReader(tmp_path).of_type("reading_taken")).frame  # type: ignore[attr-defined]
    with Journal(tmp_path, felt.clock) as journal:
        journal.append([ev.ImagesDropped(1, (frame,), "older than 90 days")], "table")
    assert audit(tmp_path, processes=1) == Audit(hands=1, settlements=1, dropped=1)


@pytest.mark.parametrize("text", [b"\xff", b"a = " + b"[" * 5_000, b"a = " + b"9" * 5_000])
def test_a_layout_that_no_reader_can_read_is_a_difference_and_ends_nothing(
    tmp_path: Path, seen: tuple[bytes, TableReading], text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_hand(tmp_path, seen)
    kept, layout = JournalReader.content, _Worker._layout

    def planted(reader: JournalReader, digest: str) -> bytes | None:
        return text if digest == "planted" else kept(reader, digest)

    monkeypatch.setattr(JournalReader, "content", planted)
    monkeypatch.setattr(_Worker, "_layout", lambda worker, _: layout(worker, "planted"))
    (found,) = audit(tmp_path, processes=1).differences
    assert found.what == "picture"
    assert "not a TOML file" in found.words


def test_a_hand_on_the_table_is_left_alone_and_progress_is_told(tmp_path: Path) -> None:
    felt = Felt(tmp_path, clock=ticking())
    played(felt)
    felt.to_setting()
    felt.journal.close()
    told: list[tuple[int, int]] = []
    found = audit(
        tmp_path, pictures=False, processes=1, on_progress=lambda hands, of: told.append((hands, of))
    )
    assert (found.hands, told[-1]) == (1, (2, 2))


def test_the_command_lists_differences_and_ends_with_1_where_there_are_any(
    settled: Path, tmp_path: Path
) -> None:
    run = CliRunner()
    fine = run.invoke(main, ["audit", "--data", str(settled), "--no-pictures", "--processes", "1"])
    assert (fine.exit_code, "1 hands, 2 settlements" in fine.output) == (0, True)
    shutil.rmtree(settled / "captures")
    spoilt = run.invoke(main, ["audit", "--data", str(settled), "--processes", "1", "--json"])
    assert spoilt.exit_code == 1
    told = json.loads(spoilt.stdout)
    assert [one["what"] for one in told["differences"]] == ["picture", "picture"]


def test_a_record_of_which_no_hand_has_ended_is_not_well(tmp_path: Path) -> None:
    felt = Felt(tmp_path, clock=ticking())
    felt.to_setting()
    felt.journal.close()
    result = CliRunner().invoke(main, ["audit", "--data", str(tmp_path), "--processes", "1"])
    assert (result.exit_code, "nothing was gone through" in result.output) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["--from", "9"], "There is no such hand"), ([], None)],
)
def test_a_record_without_such_hands_is_said_in_a_sentence(
    settled: Path, tmp_path: Path, arguments: list[str], sentence: str | None
) -> None:
    data = settled if sentence else tmp_path / "nothing"
    result = CliRunner().invoke(main, ["audit", "--data", str(data), *arguments])
    assert result.exit_code == 2
    assert (sentence or "There is no hand on record") in result.output


# ---- the report on the command line ----


def test_a_shift_is_counted_on_the_command_line(settled: Path, tmp_path: Path) -> None:
    run = CliRunner()
    told = json.loads(run.invoke(main, ["report", "--data", str(settled), "--json"]).stdout)
    assert (told["total"]["hands"], told["total"]["errors"]) == (1, 2)
    lines = run.invoke(main, ["report", "--data", str(settled), "--csv"]).stdout.splitlines()
    assert len(lines) == 2
    shown = run.invoke(main, ["report", "--data", str(settled)])
    assert (shown.exit_code, "Together" in shown.output) == (0, True)
    pdf = tmp_path / "shift.pdf"
    assert run.invoke(main, ["report", "--data", str(settled), "--pdf", str(pdf)]).exit_code == 0
    assert pdf.read_bytes().startswith(b"%PDF")


def test_a_full_disk_leaves_no_half_report(
    settled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    before = sorted(tmp_path.iterdir())
    done = CliRunner().invoke(main, ["report", "--data", str(settled), "--pdf", str(tmp_path / "shift.pdf")])
    assert (done.exit_code, "No space left on device" in done.output) == (1, True)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--from", "noon"], 2, "is no time"),
        (["--shift", "--down", "1"], 2, "Choose one"),
        (["--csv", "--json"], 2, "Choose --csv or --json"),
        (["--down", "5"], 1, "No hand was opened in a down 5"),
        (["--from", "2026-11-20T19:00", "--to", "2026-11-20T18:30"], 2, "--from must lie before --to."),
    ],
)
def test_a_report_of_nonsense_is_refused_in_a_sentence(
    settled: Path, arguments: list[str], code: int, sentence: str
) -> None:
    result = CliRunner().invoke(main, ["report", "--data", str(settled), *arguments])
    assert (result.exit_code, sentence in result.output) == (code, True), result.output
