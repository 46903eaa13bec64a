"""The shift report against records made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from firmware.record.journal.journal import Entry
from firmware.record.shift_counts import Counts, Report
from firmware.record.shift_report import report
from firmware.rules import load_profile
from firmware.table import events as ev

RULES = load_profile("california-face-up")
MINUTE = 60_000
BEGAN = 1_700_000_000_000


def row(seq: int, event: ev.Event, minute: int) -> Entry:
    wall = BEGAN + minute * MINUTE
    return Entry(
        seq,
        0,
        "boot",
        minute * MINUTE * 1_000_000,
        wall,
        "unknown",
        "x",
        "",
        event.type,
        ev.payload(event),
        "",
        "",
    )


def rows(*events: tuple[int, ev.Event]) -> list[Entry]:
    return [row(seq, event, minute) for seq, (minute, event) in enumerate(events, start=1)]


def of(entries: Sequence[Entry], **limits: int) -> Report:
    return report(entries, lambda _: RULES, **limits)


def opening(
    hand: int, dealer: str = "", down: int = 0, players: Sequence[str] = ("Lin", "Bo")
) -> ev.HandOpened:
    seats = tuple(ev.SeatOpened(n, name, "ABCD"[n - 1], 100_000) for n, name in enumerate(players, start=1))
    return ev.HandOpened(
        hand,
        "california-face-up",
        "",
        500,
        seats,
        dealer=dealer,
        down=down,
        stacks=dict.fromkeys(players, 100_000),
    )


def settled(fouls: int = 0, naturals: int = 0) -> ev.HandSettled:
    hands: list[JsonValue] = [{"foul": True, "natural": None} for _ in range(fouls)]
    hands += [{"foul": False, "natural": {"kind": "dragon", "value": 13}} for _ in range(naturals)]
    return ev.HandSettled({"hands": [*hands, {"foul": False, "natural": None}]})


def reading(*cards: tuple[str, bool]) -> ev.ReadingTaken:
    told = tuple(ev.CardReading(card, 0.9, sure, (card,)) for card, sure in cards)
    return ev.ReadingTaken((ev.RowReading(1, "back", "A", told),))


def test_what_was_dealt_by_nobody_known_is_one_down_also_where_the_record_starts_in_the_middle() -> None:
    found = of(rows((0, reading(("As", True))), (1, opening(1)), (2, settled()), (3, ev.HandArchived())))
    assert [(down.dealer, down.counts.hands) for down in found.downs] == [("", 1)]


def test_a_hand_of_each_kind_is_counted_where_it_was_closed() -> None:
    found = of(
        rows(
            (0, ev.LoggedOn("Ines", 1)),
            (1, opening(1, "Ines", 1)),
            (2, settled(fouls=2, naturals=1)),
            (3, ev.HandArchived()),
            (4, opening(2, "Ines", 1)),
            (5, ev.HandVoided("a card was exposed")),
            (6, opening(3, "Ines", 1)),
            (7, ev.LoggedOn("Bo", 2)),
            (8, ev.HandMisdealt("short deck")),
        )
    )
    assert [(down.dealer, down.number) for down in found.downs] == [("Ines", 1), ("Bo", 2)]
    first, second = (down.counts for down in found.downs)
    assert (first.hands, first.fouls, first.naturals, first.voids) == (1, 2, 1, 1)
    assert (second.hands, second.misdeals) == (0, 1)
    assert found.hours == ((BEGAN // 3_600_000 * 3_600_000, 1),)


def test_a_card_the_reader_was_sure_of_is_an_error_once_and_one_it_asked_about_is_none() -> None:
    found = of(
        rows(
            (0, opening(1)),
            (1, reading(("Ah", True), ("Kd", True), ("2c", False))),
            (2, ev.CardResolved(1, "back", 2, "3c")),
            (3, ev.CardCorrected(1, "back", 0, "Ad", "Ah")),
            (4, ev.CardCorrected(1, "back", 0, "As", "Ad")),
        )
    ).total
    assert (found.cards, found.unsure, found.errors, found.corrected) == (3, 1, 1, 2)
    assert found.unsure_share == 1 / 3


def test_a_row_keyed_over_what_was_read_counts_the_cards_that_were_none_of_it() -> None:
    keyed = ev.RowKeyed(1, "back", ("Ah", "Qd", "2c", "3c", "4c"))
    assert of(rows((0, opening(1)), (1, reading(("Ah", True), ("Kd", True))), (2, keyed))).total.errors == 1
    unread = of(rows((0, opening(1)), (1, keyed))).total
    assert (unread.errors, unread.corrected) == (0, 0)


def test_a_closing_taken_back_after_the_next_opening_is_no_second_hand() -> None:
    past = opening(1)
    found = of(
        rows(
            (0, past),
            (1, reading(("Ah", True))),
            (2, settled(fouls=2)),
            (3, ev.HandArchived()),
            (4, opening(2)),
            (5, ev.HandWithdrawn()),
            (5, ev.HandReopened("Closed too soon", past, 1, (), {}, resumed=True)),
            (6, ev.CardCorrected(1, "back", 0, "Ad", "Ah")),
            (7, settled(fouls=1)),
            (8, ev.HandArchived()),
        )
    ).total
    assert (found.hands, found.fouls, found.voids, found.misdeals, found.reopened) == (1, 1, 0, 0, 0)
    assert (found.errors, found.corrected) == (1, 1)


def test_a_reopened_hand_is_no_second_hand() -> None:
    past = opening(1)
    end = ev.SeatEnd(1, rows={"back": ("Ah", "Kd")})
    found = of(
        rows(
            (0, past),
            (1, settled(fouls=1)),
            (2, ev.HandArchived()),
            (3, ev.HandReopened("disputed", past, 1, (end,), {})),
            (4, ev.CardCorrected(1, "back", 1, "Kc", "Kd")),
            (5, settled()),
            (6, ev.HandArchived()),
        )
    ).total
    assert (found.hands, found.fouls, found.reopened, found.errors) == (1, 1, 1, 1)


def test_the_collection_is_what_the_page_asks_of_each_player_for_the_down() -> None:
    found = of(
        rows(
            (0, ev.LoggedOn("Ines", 1)),
            (1, opening(1, "Ines", 1)),
            (2, settled()),
            (2, ev.HandArchived()),
            (25, opening(2, "Ines", 1, ("Lin", "Bo", "Ann"))),  # Ann came after the half
            (26, settled()),
            (26, ev.HandArchived()),
        )
    )
    assert found.total.collection == 1000 + 1000 + 500


def test_a_table_whose_limit_is_not_on_the_schedule_owes_nothing() -> None:
    unlisted = replace(opening(1, "Ines", 1), unit=123)
    found = of(rows((0, ev.LoggedOn("Ines", 1)), (1, unlisted), (2, settled()), (2, ev.HandArchived())))
    assert (found.total.hands, found.total.collection) == (1, 0)


def test_a_down_without_a_hand_or_a_dealer_owes_nothing() -> None:
    assert of(rows((0, ev.LoggedOn("Ines", 1)), (1, opening(1, "Ines", 1)))).total.collection == 0
    assert of(rows((0, opening(1)), (1, settled()), (2, ev.HandArchived()))).total.collection == 0


def test_faults_are_counted_by_device() -> None:
    dead = ev.DeviceFault("camera", "It is dark.")
    found = of(
        rows((0, dead), (1, ev.DeviceRecovered("camera")), (2, dead), (3, ev.DeviceFault("puck", "?")))
    )
    assert found.faults == (("camera", 2), ("puck", 1))
    assert found.total.faults == 3


def test_nothing_at_all_makes_an_empty_report() -> None:
    found = of([])
    assert (found.downs, found.began_ms, found.total) == ((), None, Counts())


one_event = st.one_of(
    st.builds(ev.LoggedOn, st.sampled_from(["Ines", "Bo"]), st.integers(1, 4)),
    st.just(ev.LoggedOff()),
    st.builds(settled, st.integers(0, 3), st.integers(0, 2)),
    st.just(ev.HandArchived()),
    st.just(ev.HandVoided("void")),
    st.just(reading(("Ah", True), ("Kd", False))),
    st.just(ev.CardCorrected(1, "back", 0, "Ad", "Ah")),
    st.just(ev.DeviceFault("camera", "dark")),
)
FIELDS = [name for name in vars(Counts()) if name != "collection"]


@given(st.lists(st.tuples(st.integers(0, 3), one_event), max_size=40), st.integers(0, 60))
def test_dealers_downs_hours_and_two_halves_add_up_to_the_whole(
    steps: list[tuple[int, ev.Event]], cut: int
) -> None:
    at, told = 0, []
    for wait, event in steps:
        at += wait
        told.append((at, event))
    entries = rows(*told)
    whole = of(entries)
    middle = BEGAN + cut * MINUTE
    parts = of(entries, until_ms=middle), of(entries, since_ms=middle)
    assert sum((counts for _, counts in whole.dealers), Counts()) == whole.total
    assert sum(hands for _, hands in whole.hours) == whole.total.hands
    assert sum(times for _, times in whole.faults) == whole.total.faults
    for name in FIELDS:
        counted = [getattr(part.total, name) for part in parts]
        assert sum(counted) == getattr(whole.total, name), name
    assert whole.total.faults == sum(isinstance(event, ev.DeviceFault) for event in (e for _, e in steps))
