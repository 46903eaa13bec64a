"""A tile's band, colour and words, over every combination of what a table may need."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, product

import pytest

from dealer_ui.pit.tile import (
    ASKED,
    CLOSED_MS,
    GOING_MS,
    OUT,
    PHASES,
    QUESTION_MS,
    SILENT_MS,
    UNHEARD_MS,
    UNUSUAL,
    Band,
    Going,
    Health,
    Heard,
    Tile,
    Tone,
    tile,
)
from firmware.pit.table_facts import Need, TableFacts
from firmware.pit.totals import Unusual
from firmware.table.phase import BETWEEN_HANDS, Phase
from firmware.table.state import Ask

NOW = 10_000_000
HERE = Heard("7", NOW - 1_000)
WELL = Health(48.0, 60.0)
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
    "silent": replace(HERE, at_ms=NOW - SILENT_MS - 1),
    "unheard": replace(HERE, at_ms=NOW - UNHEARD_MS - 1),
    "never": replace(HERE, at_ms=None),
    "forked": replace(HERE, fork_seq=88_120, fork_ms=NOW - 5_000),
    "key": replace(HERE, key="babab-babab-babab-babab-babab"),
    "signature": replace(HERE, bad_seq=88_120),
    "stuck": replace(HERE, stuck="Row 9 is of a later release."),
}


RED = frozenset({"forked", "key", "signature"})


def of(*names: str, heard: Heard = HERE, health: Health = WELL, facts: TableFacts = DEALING) -> Tile:
    return tile(replace(facts, needs=tuple(NEEDS[name] for name in names)), health, heard, NOW)


@pytest.mark.parametrize("name", NEEDS)
def test_each_need_has_its_band_and_colour(name: str) -> None:
    made = of(name)
    assert (made.band, made.tone) == BANDS[name]
    if made.band is not Band.DEALING:
        assert made.need == NEEDS[name].key
        assert made.since_ms == NEEDS[name].since_ms


ALL = list(chain.from_iterable(combinations(NEEDS, count) for count in range(len(NEEDS) + 1)))


@pytest.mark.parametrize("how", HEARD)
@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("phase", list(Phase))
def test_the_worst_need_stands_on_the_tile_whatever_else_there_is(how: str, warm: bool, phase: Phase) -> None:
    health = Health(75.0 if warm else 48.0, 60.0)
    facts = replace(DEALING, phase=phase.value)
    for names in ALL:
        made = of(*names, heard=HEARD[how], health=health, facts=facts)
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
        assert "not heard of now" in map(str, made.notes)


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
    made = tile(replace(DEALING, needs=(newer, NEEDS["dispute"])), WELL, HERE, NOW)
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
    made = tile(replace(DEALING, needs=(replace(NEEDS["question"], detail=ask.value),)), WELL, HERE, NOW)
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
        return tile(facts, WELL, HERE, NOW, Going("Ito", need, at_ms)).going

    assert going("dispute:9", NOW - GOING_MS + 1) == "Ito"
    assert going("dispute:9", NOW - GOING_MS) == ""
    assert going("dispute:8", NOW) == ""
    assert tile(DEALING, WELL, HERE, NOW, Going("Ito", "dispute:9", NOW)).going == ""


def test_a_down_that_ends_and_a_warm_full_or_weak_box_are_soon() -> None:
    long = replace(DEALING, down_ms=NOW - 38 * 60_000)
    assert str(of(facts=long).title) == "Dealer's down ends"
    assert of(facts=replace(long, down_minutes=0)).band is Band.DEALING
    assert of(health=Health(71.4, 60.0)).figure == "71 °C"
    assert of(health=Health(50.0, 4.0)).figure == "4 %"
    assert of(health=Health(weak=True)).band is Band.SOON


@pytest.mark.parametrize("what", UNUSUAL)
def test_a_figure_outside_the_usual_is_soon(what: str) -> None:
    made = tile(DEALING, WELL, HERE, NOW, None, (Unusual(what, "6.1 %", "0.1 to 0.4 %"),))
    assert (made.band, made.figure, made.title) == (Band.SOON, "6.1 %", UNUSUAL[what])


def test_times_of_a_table_without_a_set_clock_are_the_pits() -> None:
    lost = replace(DEALING, since_ms=1_000, last_ms=15_000, taken_ms=NOW - 500, synchronised=False)
    assert of(facts=lost).since_ms == NOW - 500 - 14_000


@pytest.mark.parametrize("value", [None, "hot", True, [], {}])
def test_a_health_that_is_no_figure_is_not_known(value: object) -> None:
    assert Health.of_json({"celsius": value, "free_percent": value, "weak": "yes"}) == Health()


def test_devices_that_stop_the_reading_are_those_that_need_somebody_now() -> None:
    assert {"camera", "puck"} <= OUT
