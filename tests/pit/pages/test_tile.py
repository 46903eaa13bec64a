"""A tile's band, colour and words, over every combination of what a table may need."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, cycle, product

import pytest

from firmware.messages import Message
from firmware.table.phase import BETWEEN_HANDS, Phase
from firmware.table.state import Ask
from pit.follow.totals import UnusualFigure
from pit.pages.tile import (
    ASKED,
    CLOSED_MS,
    GOING_MS,
    OUT,
    PHASES,
    QUESTION_MS,
    UNHEARD_MS,
    UNUSUAL,
    Band,
    FloorVisit,
    TableSignal,
    Tile,
    Tone,
    tile,
)
from pit.status.freshness import SILENT_MS, Freshness
from pit.status.table_facts import Need, TableFacts
from pit.status.table_health import TableCheck, TableHealth
from tests.examples import THOROUGH

NOW = 10_000_000
FRESH = Freshness(NOW - 1_000, 992, 992, 992, 0.4, NOW - 2_000)
WELL = TableHealth(0.4, 992, (), {"heat": "48 °C"})
HERE = TableSignal("7", FRESH, WELL)
DEALING = TableFacts(
    "setting",
    NOW - 14_000,
    1204,
    "Lin",
    3,
    NOW - 60_000,
    40,
    4,
    0,
    NOW - 2_000,
    NOW - 2_000,
    synchronised=True,
)
LONG = NOW - QUESTION_MS - 1
NEEDS = {
    "record": Need("record", "record", LONG, text="The record is in doubt."),
    "dispute": Need("dispute:9", "dispute", LONG, 9, text="back row was moved", by="floor:Moreno"),
    "camera": Need("fault:camera", "fault", LONG, detail="camera", text="gone"),
    "puck": Need("fault:puck", "fault", LONG, detail="puck", text="gone"),
    "call": Need("call:88", "call", NOW - 1, 1204, by="dealer:Lin"),
    "natural": Need("natural:1", "natural", NOW - 1, 1204, 2, detail="natural"),
    "question": Need("question:1", "question", LONG, 1204, 4, "middle", "card"),
    "new question": Need("question:2", "question", LONG + 2, 1204, 4, "middle", "card"),
    "lamps": Need("fault:lamps", "fault", LONG, detail="lamps", text="dark"),
}
BANDS = {
    "record": (Band.NOW, Tone.ALARM),
    "dispute": (Band.NOW, Tone.ALARM),
    "camera": (Band.NOW, Tone.ALARM),
    "puck": (Band.NOW, Tone.ALARM),
    "call": (Band.NOW, Tone.CALL),
    "natural": (Band.NOW, Tone.CALL),
    "question": (Band.NOW, Tone.CALL),
    "new question": (Band.DEALING, Tone.WELL),
    "lamps": (Band.SOON, Tone.SOON),
}
HEARD = {
    "heard": HERE,
    "silent": replace(HERE, fresh=replace(FRESH, heard_ms=NOW - SILENT_MS - 1)),
    "unheard": replace(HERE, fresh=replace(FRESH, heard_ms=NOW - UNHEARD_MS - 1)),
    "never": replace(HERE, fresh=Freshness()),
    "forked": replace(HERE, fork_seq=88_120, fresh=replace(FRESH, fork_ms=NOW - 5_000)),
    "key": replace(HERE, key="babab-babab-babab-babab-babab"),
    "signature": replace(HERE, bad_seq=88_120),
    "stuck": replace(HERE, stuck="Row 9 is of a later release."),
}


WARM = TableCheck("heat", "look", Message("Temperature"), Message("The box is warm."), "71 °C")
FULL = TableCheck("disk", "bad", Message("Disk"), Message("There is no room left."), "12 MB")
RED = frozenset({"forked", "key", "signature"})


def of(
    *names: str, heard: TableSignal = HERE, health: TableHealth = WELL, facts: TableFacts = DEALING
) -> Tile:
    return tile(
        replace(facts, needs=tuple(NEEDS[name] for name in names)), replace(heard, health=health), NOW
    )


@pytest.mark.parametrize("name", NEEDS)
def test_each_need_has_its_band_and_colour(name: str) -> None:
    made = of(name)
    assert (made.band, made.tone) == BANDS[name]
    if made.band is not Band.DEALING:
        assert made.need == NEEDS[name].key
        assert made.since_ms == NEEDS[name].since_ms


ALL = list(chain.from_iterable(combinations(NEEDS, count) for count in range(len(NEEDS) + 1)))
IN_TURN = cycle(Phase)
EACH = [
    (names, phase) for names in ALL for phase in (Phase if THOROUGH or len(names) < 2 else [next(IN_TURN)])
]
"""Every combination of needs, and a phase: none and each alone in every phase, several in one, which goes round."""


@pytest.mark.parametrize("how", HEARD)
@pytest.mark.parametrize("warm", [False, True])
def test_the_worst_need_stands_on_the_tile_whatever_else_there_is(how: str, warm: bool) -> None:
    health = replace(WELL, checks=(WARM,) if warm else ())
    for names, phase in EACH:
        made = of(*names, heard=HEARD[how], health=health, facts=replace(DEALING, phase=phase.value))
        bands = [BANDS[name][0] for name in names]
        bands += [Band.NOW] * (how in RED) + [Band.SOON] * (how in ("unheard", "never", "stuck") or warm)
        assert made.band is min([*bands, Band.DEALING], key=list(Band).index)
        if how in RED or {"record", "dispute", "camera", "puck"} & set(names):
            assert made.tone is Tone.ALARM
        if how in ("silent", "unheard", "never"):
            assert made.silent
            assert made.tone is not Tone.WELL


@pytest.mark.parametrize(("name", "how"), list(product(NEEDS, ("silent", "unheard", "never"))))
def test_a_table_that_is_not_heard_of_keeps_its_need_and_says_that_it_is_silent(name: str, how: str) -> None:
    made = of(name, heard=HEARD[how])
    assert made.silent
    assert made.band in (Band.NOW, Band.SOON) or how == "silent"
    if BANDS[name][0] is Band.NOW:
        assert made.need == NEEDS[name].key
        assert {"not heard of now", "never heard of"} & set(map(str, made.notes))


def test_a_fork_comes_before_everything_else() -> None:
    made = of(*NEEDS, heard=HEARD["forked"])
    assert (made.need, made.since_ms) == ("fork", NOW - 5_000)
    assert "88,120" in str(made.notes[0])


def test_a_call_stands_before_an_older_dispute_which_still_makes_the_tile_red() -> None:
    made = of("dispute", "call")
    assert (str(made.title), made.tone, made.hand) == ("The dealer calls the floor", Tone.ALARM, None)
    assert [str(note) for note in made.notes] == ["hand 1,204", "Lin deals", "also: Dispute: hand 9"]


def test_the_oldest_dispute_is_shown_and_leads_to_its_hand() -> None:
    newer = replace(NEEDS["dispute"], key="dispute:10", hand=10, since_ms=NOW)
    made = tile(replace(DEALING, needs=(newer, NEEDS["dispute"])), HERE, NOW)
    assert made.hand == 9
    assert str(made.title) == "Dispute: hand 9"
    assert [str(note) for note in made.notes] == [
        "back row was moved",
        "Lin deals",
        "marked by Moreno",
        "also: Dispute: hand 10",
    ]


@pytest.mark.parametrize("ask", [ask for ask in Ask if ask is not Ask.NATURAL])
def test_every_kind_of_question_has_its_words(ask: Ask) -> None:
    made = tile(replace(DEALING, needs=(replace(NEEDS["question"], detail=ask.value),)), HERE, NOW)
    assert str(made.title) == f"Asks: {ASKED[ask.value]}, seat 4 middle"


@pytest.mark.parametrize("phase", list(Phase))
def test_every_phase_has_its_words(phase: Phase) -> None:
    made = of(facts=replace(DEALING, phase=phase.value))
    assert made.title == PHASES[phase]
    assert [str(note) for note in made.notes] == ["Lin deals", "4 of 4 seats"]


@pytest.mark.parametrize("phase", list(Phase))
def test_a_table_without_a_dealer_and_without_a_hand_is_closed_after_a_while(phase: Phase) -> None:
    left = replace(DEALING, phase=phase.value, dealer="", down_ms=None)
    closed = phase in BETWEEN_HANDS
    assert of(facts=left).band is Band.DEALING
    later = replace(left, since_ms=NOW - CLOSED_MS - 1)
    assert (of(facts=later).band is Band.CLOSED) is closed


def test_i_go_stands_until_the_need_ends_or_five_minutes_have_passed() -> None:
    facts = replace(DEALING, needs=(NEEDS["dispute"],))

    def going(need: str, at_ms: int) -> str:
        return tile(facts, HERE, NOW, FloorVisit("Ito", need, at_ms)).going

    assert going("dispute:9", NOW - GOING_MS + 1) == "Ito"
    assert going("dispute:9", NOW - GOING_MS) == ""
    assert going("dispute:8", NOW) == ""
    assert tile(DEALING, HERE, NOW, FloorVisit("Ito", "dispute:9", NOW)).going == ""


def test_a_down_that_ends_is_soon_and_of_the_box_the_table_judges_itself() -> None:
    long = replace(DEALING, down_ms=NOW - 38 * 60_000)
    assert str(of(facts=long).title) == "Dealer's down ends"
    assert of(facts=replace(long, down_minutes=0)).band is Band.DEALING
    warm = of(health=replace(WELL, checks=(WARM,)))
    assert (warm.band, str(warm.title), warm.figure, str(warm.notes[0])) == (
        *(Band.SOON, "Temperature", "71 °C"),
        "The box is warm.",
    )
    full = of(health=replace(WELL, checks=(WARM, FULL)))
    assert (full.band, full.tone, str(full.title)) == (Band.NOW, Tone.ALARM, "Disk")
    assert of(health=replace(WELL, checks=(replace(WARM, verdict="unknown"),))).band is Band.DEALING


@pytest.mark.parametrize("what", UNUSUAL)
def test_a_figure_outside_the_usual_is_soon(what: str) -> None:
    made = tile(DEALING, HERE, NOW, None, (UnusualFigure(what, "6.1 %", "0.1 to 0.4 %"),))
    assert (made.band, made.figure, made.title) == (Band.SOON, "6.1 %", UNUSUAL[what])


def test_times_of_a_table_without_a_set_clock_are_the_pits() -> None:
    lost = replace(DEALING, since_ms=1_000, last_ms=15_000, taken_ms=NOW - 500, synchronised=False)
    assert of(facts=lost).since_ms == NOW - 500 - 14_000


NOT_WELL = {
    "the table process does not answer": replace(FRESH, table_s=3.2),
    "not known whether the table process answers": replace(FRESH, table_s=None),
    "rows that have not come: 1": replace(FRESH, table_seq=993),
    "rows not followed: 633": replace(FRESH, followed=359, waits_ms=NOW - 6_000),
    "not heard of now": replace(FRESH, heard_ms=NOW - SILENT_MS - 1),
}


@pytest.mark.parametrize("words", NOT_WELL)
def test_a_tile_is_green_only_if_all_of_the_table_is_live_and_whole(words: str) -> None:
    assert (of().tone, of().silent) == (Tone.WELL, False)
    made = of(heard=replace(HERE, fresh=NOT_WELL[words]))
    assert (made.tone, made.silent) == (Tone.SILENT, True)
    assert words in map(str, made.notes)


def test_a_table_whose_process_is_gone_for_long_needs_somebody_now() -> None:
    gone = replace(HERE, fresh=replace(FRESH, table_s=31.0))
    made = of("lamps", heard=gone)
    assert (made.band, made.tone, made.need, made.since_ms) == (Band.NOW, Tone.ALARM, "process", NOW - 32_000)
    assert "the table process does not answer" not in map(str, made.notes), "its title says so"


def test_five_seats_are_five_of_five() -> None:
    five = replace(DEALING, taken=5, seats=5)
    assert str(of(facts=five).notes[1]) == "5 of 5 seats"
    assert str(of(facts=replace(five, taken=3)).notes[1]) == "3 of 5 seats"


def test_devices_that_stop_the_reading_are_those_that_need_somebody_now() -> None:
    assert {"camera", "puck"} <= OUT
