"""The simulated evening: nothing is lost, every fault strikes, and a table that goes wrong is found out."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.record.evidence.verify import verify
from firmware.rules import profile_names
from firmware.simulation.evening.auditor import Kind
from firmware.simulation.evening.cli import IN_MEMORY
from firmware.simulation.evening.faults import FAULTS, FaultName, UnknownFault, parse_faults
from firmware.simulation.evening.pixels import FAULTS as PIXEL_FAULTS
from firmware.simulation.evening.pixels import simulate_pixels
from firmware.simulation.evening.reader_model import Rates, ReaderErrors
from firmware.simulation.evening.run import Outcome, simulate
from firmware.simulation.evening.stepped_table import FillableJournal
from firmware.table import Ask, State
from firmware.table import events as ev

pytestmark = pytest.mark.slow

OFTEN = 0.6
Run = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """The product's log tells every fault; of a run that went wrong its errors are read."""
    caplog.set_level("ERROR")
    return iter([None])


@pytest.fixture
def data() -> Iterator[Path]:
    """A folder for the record, in memory where there is some: syncing a disk is not what is tested here."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture
def run(data: Path) -> Run:
    def play(hands: int, faults: str = "none", profile: str = "washington-1-unit", **how: Any) -> Outcome:
        return simulate(data, hands, parse_faults(faults), 7, profile, **how)

    return play


@pytest.fixture
def clumsy() -> ReaderErrors:
    """A reader ten times and more as bad as ours, so that few hands show much."""
    rates = Rates(0.03, 0.01, 0.012, 0.005, 0.005, 0.0)
    return replace(ReaderErrors.load(), ordinary=rates, misread_sure_at_most=rates.misread_sure)


# ---- what it must show ----


def test_an_evening_with_every_fault_loses_nothing(run: Run, data: Path) -> None:
    outcome = run(100, "all")
    assert outcome.problems == ()
    counts = outcome.counts
    assert counts["settled"] + counts["voided"] + counts.get("waiting", 0) == counts["opened"] >= 100
    assert counts["settled"] > 75
    assert counts["questions"] > 0
    assert verify(data).head == outcome.head


@pytest.mark.parametrize("profile", profile_names())
def test_every_profile_plays_through(run: Run, profile: str) -> None:
    outcome = run(8, "all", profile)
    assert outcome.problems == ()
    assert outcome.counts["ended_as_dealt"] > 4


@pytest.mark.sampled
def test_a_face_up_evening_with_every_fault_loses_nothing(run: Run) -> None:
    outcome = run(25, "all", "california-face-up", share=0.05)
    assert outcome.problems == ()
    assert outcome.counts["cards_placed"] > 400
    assert outcome.counts["irregularities"] > 2


@pytest.mark.sampled
def test_the_same_seed_plays_the_same_evening(data: Path) -> None:
    first, second = (
        simulate(data / name, 20, parse_faults("all"), 3, "washington-1-unit") for name in ("a", "b")
    )
    assert first.counts == second.counts
    assert first.faults == second.faults


@pytest.mark.sampled
@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_strikes_and_is_noticed_and_nothing_is_lost(
    run: Run, clumsy: ReaderErrors, name: FaultName
) -> None:
    outcome = run(15, name, share=OFTEN, errors=clumsy)
    assert outcome.problems == ()
    assert set(outcome.faults) == {name}
    assert outcome.faults[name]["struck"] >= 1
    assert outcome.faults[name]["noticed"] >= 1


def test_without_faults_none_strikes(run: Run) -> None:
    outcome = run(20)
    assert outcome.faults == {}
    assert outcome.counts.get("restarts", 0) == 0


def test_dead_table_processes_are_started_again(run: Run) -> None:
    outcome = run(20, "table-killed", share=OFTEN)
    assert outcome.counts["restarts"] == outcome.faults["table-killed"]["struck"]


# ---- alarms: each rings ----


class BentJournal(FillableJournal):
    """A journal of a table that goes wrong: what is written is not what happened."""

    def append(
        self, events: Sequence[ev.Event], actor: str, followed: Sequence[ev.Event] = (), command: str = ""
    ) -> int:
        return super().append(self.bent(events), actor, self.bent(followed), command)

    def bent(self, events: Sequence[ev.Event]) -> list[ev.Event]:
        return [event for event in map(self.bend, events) if event is not None]

    def bend(self, event: ev.Event) -> ev.Event | None:
        return event


def rings(outcome: Outcome, kind: Kind) -> None:
    assert not outcome.ok
    assert outcome.number(kind) > 0, outcome.problems[:3]


def test_an_answer_that_is_not_written_down_rings(run: Run, clumsy: ReaderErrors) -> None:
    class ForgetfulJournal(BentJournal):
        def bend(self, event: ev.Event) -> ev.Event | None:
            return None if isinstance(event, (ev.CardResolved, ev.RowKeyed)) else event

    rings(run(20, journal=ForgetfulJournal, errors=clumsy), "lost")


@pytest.mark.sampled
def test_another_card_than_the_dealer_said_rings(run: Run, clumsy: ReaderErrors) -> None:
    class MishearingJournal(BentJournal):
        def bend(self, event: ev.Event) -> ev.Event | None:
            return replace(event, card="2c") if isinstance(event, ev.CardResolved) else event

    rings(run(20, journal=MishearingJournal, errors=clumsy), "lost")


def test_a_reading_that_is_written_down_otherwise_rings(run: Run, clumsy: ReaderErrors) -> None:
    class SureJournal(BentJournal):
        def bend(self, event: ev.Event) -> ev.Event | None:
            if not isinstance(event, ev.ReadingTaken):
                return event
            rows = tuple(
                replace(row, cards=tuple(replace(c, sure=True) for c in row.cards)) for row in event.rows
            )
            return replace(event, rows=rows)

    rings(run(20, journal=SureJournal, errors=clumsy), "lost")


def test_a_set_card_that_changes_by_itself_rings(run: Run) -> None:
    class RewritingJournal(BentJournal):
        def bend(self, event: ev.Event) -> ev.Event | None:
            if not isinstance(event, ev.CardPlaced) or event.card.card != "As":
                return event
            return replace(event, card=replace(event.card, card="2c"))

    rings(run(3, profile="california-face-up", journal=RewritingJournal), "lost")


def test_a_hand_that_settles_twice_rings(run: Run) -> None:
    class StutteringJournal(BentJournal):
        def bent(self, events: Sequence[ev.Event]) -> list[ev.Event]:
            return [twin for e in events for twin in ([e, e] if isinstance(e, ev.HandSettled) else [e])]

    rings(run(3, journal=StutteringJournal), "twice")


def test_a_settlement_that_the_rules_do_not_give_rings(run: Run) -> None:
    class GivingJournal(BentJournal):
        def bend(self, event: ev.Event) -> ev.Event | None:
            if not isinstance(event, ev.HandSettled):
                return event
            return ev.HandSettled(event.settlement | {"points": {"1": 99}})

    rings(run(3, journal=GivingJournal), "otherwise")


def test_a_stack_that_changes_between_hands_rings(run: Run) -> None:
    class TakingJournal(BentJournal):
        def bend(self, event: ev.Event) -> ev.Event | None:
            if not isinstance(event, ev.HandOpened) or event.hand < 3:
                return event
            first, *others = event.seats
            assert first.stack is not None
            return replace(event, seats=(replace(first, stack=first.stack - 100), *others))

    rings(run(5, journal=TakingJournal), "lost")


def test_a_hand_that_is_never_written_down_rings(run: Run) -> None:
    class SkippingJournal(BentJournal):
        def bend(self, event: ev.Event) -> ev.Event | None:
            return replace(event, hand=event.hand + 1) if isinstance(event, ev.HandOpened) else event

    rings(run(3, journal=SkippingJournal), "lost")


def test_a_settlement_on_cards_in_doubt_rings(run: Run, clumsy: ReaderErrors) -> None:
    class HastyJournal(BentJournal):
        def bent(self, events: Sequence[ev.Event]) -> list[ev.Event]:
            hasty = [ev.HandSettled({}) for event in events if isinstance(event, ev.ReadingTaken)]
            return [*events, *hasty]

    rings(run(3, journal=HastyJournal, errors=clumsy), "unasked")


@pytest.mark.parametrize("what", [Ask.CARD, Ask.DUPLICATE, Ask.COUNT, Ask.BUTTON])
def test_even_a_table_that_forgets_to_ask_settles_nothing_in_doubt(
    run: Run, clumsy: ReaderErrors, monkeypatch: pytest.MonkeyPatch, what: Ask
) -> None:
    asked = State.__dict__["questions"].func
    monkeypatch.setattr(
        State, "questions", property(lambda s: tuple(q for q in asked(s) if q.what is not what))
    )
    outcome = run(6, "camera-unplugged,puck-unplugged", share=OFTEN, errors=clumsy)
    assert (outcome.number("unasked"), outcome.number("otherwise"), outcome.number("twice")) == (0, 0, 0)


def test_a_card_that_the_table_should_have_asked_for_rings(
    run: Run, clumsy: ReaderErrors, monkeypatch: pytest.MonkeyPatch
) -> None:
    from firmware.runtime.reading import translate as reading_events

    card = reading_events._card
    monkeypatch.setattr(reading_events, "_card", lambda said: replace(card(said), sure=True))
    rings(run(20, errors=clumsy), "lost")


def test_a_table_process_that_breaks_rings(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from firmware.runtime.reading import scheduler as looks

    def breaks(*_: object) -> ev.Event:
        raise KeyError("zones")

    monkeypatch.setattr(looks, "reading_taken", breaks)
    rings(run(1), "broken")


# ---- the command ----


def test_the_report_in_json(data: Path) -> None:
    result = CliRunner().invoke(
        main, ["simulate", "--hands", "3", "--faults", "all", "--json", "--data", str(data)]
    )
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert (report["ok"], report["lost"], report["twice"], report["unasked"]) == (True, 0, 0, 0)
    assert set(report["faults"]) == set(FAULTS)
    again = CliRunner().invoke(main, ["simulate", "--hands", "3", "--data", str(data)])
    assert again.exit_code == 2
    assert "choose an empty folder" in again.output


def test_the_report_for_people_and_the_exit_of_a_run_that_lost_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from firmware.table import settling

    settlement = settling.settlement
    monkeypatch.setattr(
        "firmware.table.decide.settlement",
        lambda *args: settlement(*args) | {"points": {}},
        raising=True,
    )
    result = CliRunner().invoke(main, ["simulate", "--hands", "2"])
    assert result.exit_code == 1
    assert "settled otherwise than the rules" in result.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--faults", "earthquake"], "There is no fault 'earthquake'"),
        (["--profile", "no-such"], "The profile cannot be used"),
        (["--hands", "0"], "--hands"),
    ],
)
def test_bad_input_is_said_in_a_sentence(arguments: list[str], says: str) -> None:
    result = CliRunner().invoke(main, ["simulate", *arguments])
    assert result.exit_code == 2
    assert says in result.output
    assert "Traceback" not in result.output


def test_faults_are_named_alone_together_or_all() -> None:
    assert parse_faults("all") == tuple(FAULTS)
    assert parse_faults("none") == parse_faults("") == ()
    assert parse_faults("clock-step, page-gone") == ("clock-step", "page-gone")
    with pytest.raises(UnknownFault, match="puck-babble"):
        parse_faults("all,puck")


# ---- through pixels ----


def test_a_hand_through_pixels_is_audited_too(data: Path) -> None:
    outcome = simulate_pixels(data, 1, parse_faults("all"), 7, "washington-1-unit")
    assert outcome.problems == ()
    assert outcome.counts["ended_as_dealt"] == 1
    assert outcome.counts["cards"] >= 39
    assert set(outcome.faults) == PIXEL_FAULTS
