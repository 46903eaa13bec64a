"""The transition table, written down a second time by hand: what may happen when, and where it leads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from firmware.table import CommandRefused, Phase, State, apply, fold
from firmware.table import events as ev
from firmware.table.people import Role

if TYPE_CHECKING:
    from tests.firmware.conftest import Deal

LETTERS = {
    "I": Phase.IDLE,
    "D": Phase.DEALING,
    "S": Phase.SETTING,
    "P": Phase.PLACING,
    "W": Phase.SHOWDOWN,
    "R": Phase.READING,
    "V": Phase.REVIEW,
    "T": Phase.SETTLED,
    "A": Phase.ARCHIVED,
    "X": Phase.VOID,
}
ORDER = "IDSPWRVTAX"
# One column a phase, in this order; "." is refused, "=" stays, a letter leads there.
EXPECTED = {
    #                       IDSPWRVTAX
    "table_started": "       ==========",
    "device_fault": "        ==========",
    "device_recovered": "    ==========",
    "puck_seen": "           ==========",
    "hand_opened": "         D.......DD",
    "button_keyed": "        .======V..",
    "phase_advanced": "      .SWWR.....",
    "natural_declared": "    ..=====...",
    "natural_withdrawn": "   ..=====...",
    "surrendered": "         ..==......",
    "surrender_withdrawn": " ..==......",
    "cards_awaited": "       .....=....",
    "cards_compared": "      .....=.=..",
    "setting_resumed": "     ....SSS...",
    "reading_taken": "       .....V....",
    "reading_failed": "      .....V....",
    "looked_again": "        ......RR..",
    "card_resolved": "       ...=..=...",
    "card_corrected": "      ...=..VV..",
    "row_keyed": "           ...=..VV..",
    "card_placed": "         ...=.=....",
    "card_reread": "         ...=.=....",
    "irregularity_seen": "   ...=.=....",
    "irregularity_ended": "  ...=.==...",
    "keying_begun": "        ..==VV....",
    "natural_found": "       ......=...",
    "natural_confirmed": "   ......=...",
    "natural_unconfirmed": " ......VV..",
    "settled": "             ......T...",
    "payment_marked": "      .......=..",
    "hand_archived": "       .......A..",
    "hand_voided": "         .XXXXXXX..",
    "hand_misdealt": "       .XXXX.....",
    "hand_withdrawn": "      .XXXXX....",
    "hand_reopened": "       .TTTTTTTTT",
    "button_kept": "         =......===",
    "puck_awaited": "        =......===",
    "payback_marked": "      =.......==",
    "step_settled": "        =.......==",
    "trial_begun": "         =.......==",
    "trial_ended": "         ==========",
    "device_tried": "        =.......==",
    "clock_set": "           =.......==",
    "disks_named": "         =.......==",
    "set_up_ended": "        =.........",
    "stack_counted": "       =.......==",
    "calibrated": "          =.......==",
    "deck_enrolled": "       =.......==",
    "calibration_dropped": " =.......==",
    "deck_checked": "        =.......==",
    "seating_changed": "     =.......==",
    "house_set": "           =.......==",
    "profile_kept": "        ==========",
    "update_begun": "        =.......==",
    "training_begun": "      =.........",
    "player_seated": "       =.......==",
    "player_left": "         =.......==",
    "player_renamed": "      =.......==",
    "bought_in": "           =.......==",
    "added_on": "            =.......==",
    "person_listed": "       ==========",
    "person_struck": "       ==========",
    "pin_set": "             ==========",
    "pin_tried": "           ==========",
    "pin_accepted": "        ==========",
    "name_tried": "          ==========",
    "wait_ended": "          ==========",
    "badge_listed": "        ==========",
    "logged_on": "           ==========",
    "logged_off": "          ==========",
    "floor_called": "        ==========",
    "floor_call_ended": "    ==========",
    "hand_disputed": "       ==========",
    "dispute_closed": "      ==========",
    "hand_reviewed": "       ==========",
    "images_dropped": "      ==========",
    "images_lost": "         ==========",
    "key_announced": "       ==========",
    "head_signed": "         ==========",
    "pit_words_compared": "  ==========",
    "record_restored": "     ==========",
    "note_begun": "          ==========",
    "record_fault": "        ==========",
    "record_fault_read": "   ==========",
}
STAFF = (
    ev.PersonListed("Lin", Role.DEALER),
    ev.PersonListed("Moreno", Role.FLOOR, "a-verifier"),
    ev.LoggedOn("Lin", 1),
)
DOUBT = ev.RecordFault("short", 3, 4, "ab" * 32)
UNSURE: tuple[tuple[int, ev.Row, int], ...] = ((1, "middle", 2),)


def _after(phase: Phase, mark: str) -> Phase | None:
    return {".": None, "=": phase}.get(mark, LETTERS.get(mark))


CASES = {
    name: {
        phase: _after(phase, mark)
        for phase, mark in zip((LETTERS[letter] for letter in ORDER), marks.strip(), strict=True)
    }
    for name, marks in EXPECTED.items()
}


EVIDENCE = {
    "hand_disputed",
    "dispute_closed",
    "hand_reviewed",
    "images_dropped",
    "images_lost",
    "key_announced",
    "head_signed",
    "pit_words_compared",
    "record_restored",
    "note_begun",
    "record_fault",
    "record_fault_read",
}
HOUSE_EVENTS = {
    "house_set",
    "player_seated",
    "player_left",
    "player_renamed",
    "bought_in",
    "added_on",
    "stack_counted",
    "seating_changed",
}
PEOPLE = {
    "person_listed",
    "person_struck",
    "pin_set",
    "pin_tried",
    "pin_accepted",
    "name_tried",
    "wait_ended",
    "badge_listed",
    "logged_on",
    "logged_off",
}
CALLS = {"floor_called", "floor_call_ended"}
FACE_UP = {"card_placed", "card_reread", "irregularity_seen", "irregularity_ended"}
SURE = ev.CardReading("9c", 0.99, True)
MISSING = ev.IrregularitySeen(1, "card_missing", 1, "middle", 0, "9c")
PAST = ev.HandReopened(
    "a dispute",
    ev.HandOpened(1, "washington-1-unit", "", 1, (ev.SeatOpened(1, "p1", "A"),)),
    1,
    (),
    {"paid": {}},
)
HOUSE = ev.HouseSettings(
    unit=100,
    seats=(*(ev.HouseSeat(n, f"p{n}", "ABCD"[n - 1], 10_000) for n in (1, 2)), ev.HouseSeat(3, "p3", "C")),
)
LENS = ev.Calibration("a hash")
OWED = (ev.Payback(1, "p1", "p2", 100),)


def _short(deal: Deal, name: str) -> State:
    """Return a face-up hand that is being read though a card of seat 1's middle is not on record, or unsure."""
    unsure = replace(SURE, sure=False)
    placed = [e for e in deal.placed() if isinstance(e, ev.CardPlaced) and (e.seat, e.row) != (1, "middle")]
    middle = [ev.CardPlaced(1, "middle", unsure)] if name == "card_reread" else []
    way = [*deal.until(Phase.PLACING), *middle, *placed, ev.DeviceFault("camera", "unplugged")]
    return fold([*way, ev.PhaseAdvanced(Phase.SHOWDOWN), ev.PhaseAdvanced(Phase.READING)])


def _ready(deal: Deal, phase: Phase, name: str) -> tuple[State, ev.Event]:
    """Return a state of this phase in which the event would be in order, if the phase allowed it, and the event."""
    if phase is Phase.PLACING or (name in FACE_UP and phase not in (Phase.IDLE, Phase.SETTING)):
        deal = replace(deal, open=frozenset({1, 2}))
    state = deal.at(phase)
    if phase is Phase.PLACING and name == "phase_advanced":
        state = fold(deal.placed(), state)
    if phase is Phase.PLACING and name in ("card_reread", "card_resolved"):
        state = apply(state, ev.CardPlaced(1, "middle", replace(SURE, sure=False)))
    if phase is Phase.PLACING and name == "card_corrected":
        state = apply(state, ev.CardPlaced(1, "middle", SURE))
    if phase is Phase.READING and name in ("card_placed", "card_reread"):
        state = _short(deal, name)
    if name == "irregularity_ended" and phase in (Phase.PLACING, Phase.READING, Phase.REVIEW):
        state = apply(deal.at(Phase.READING if phase is Phase.REVIEW else phase), MISSING)
        state = apply(state, deal.reading()) if phase is Phase.REVIEW else state
    declared, confirmed = ev.NaturalDeclared(1), ev.NaturalConfirmed(1, None)
    if name in ("natural_confirmed", "natural_withdrawn") and phase in (
        Phase.SETTING,
        Phase.PLACING,
        *_LATER,
    ):
        before = [e for e in deal.until(phase) if not isinstance(e, (ev.HandSettled, ev.HandArchived))]
        state = fold([*before, declared])
    if name == "natural_unconfirmed" and phase in (Phase.REVIEW, Phase.SETTLED):
        state = deal.at(Phase.REVIEW, declared, confirmed)
        state = state if phase is Phase.REVIEW else apply(state, deal.settled())
    if name == "surrender_withdrawn" and phase in (Phase.SETTING, Phase.PLACING):
        state = apply(state, ev.PlayerSurrendered(2))
    if name == "hand_reopened":
        state = replace(state, hand=2)
    if name == "hand_withdrawn" and state.opened:
        bare = tuple(replace(seat, front=(), middle=(), back=()) for seat in state.seats)
        state = replace(state, opened=replace(state.opened, closed=1), seats=bare)
    if name == "payback_marked":
        state = replace(state, paybacks=OWED)
    if name in ("button_kept", "puck_awaited") and phase is Phase.SETTLED:
        state = replace(state, paid=frozenset(state.unpaid))
    if name == "calibration_dropped":
        state = replace(state, calibrations={"lens": LENS})
    if name == "card_resolved" and phase is Phase.REVIEW:
        state = fold(deal.until(Phase.REVIEW, UNSURE))
    if name in EVIDENCE:
        disputed = frozenset({1} if name == "dispute_closed" else ())
        state = replace(state, hand=state.hand + 5, disputed=disputed)
    if name == "record_fault_read":
        state = apply(state, DOUBT)
    if name in HOUSE_EVENTS:
        state = apply(state, ev.TableStarted(house=HOUSE))
    if name == "floor_call_ended":
        state = apply(state, ev.FloorCalled())
    if name in PEOPLE:
        state = fold(STAFF, state)
    to = {
        Phase.DEALING: Phase.SETTING,
        Phase.SETTING: Phase.SHOWDOWN,
        Phase.PLACING: Phase.SHOWDOWN,
    }.get(phase, Phase.READING)
    examples: dict[str, ev.Event] = {
        "table_started": ev.TableStarted("1.0"),
        "device_fault": ev.DeviceFault("camera", "unplugged"),
        "device_recovered": ev.DeviceRecovered("camera"),
        "puck_seen": ev.PuckSeen("seat", 2),
        "hand_opened": deal.opened(hand=state.hand + 1),
        "button_keyed": ev.ButtonKeyed(2),
        "phase_advanced": ev.PhaseAdvanced(to),
        "natural_declared": ev.NaturalDeclared(2),
        "natural_withdrawn": ev.NaturalWithdrawn(1),
        "surrendered": ev.PlayerSurrendered(1),
        "surrender_withdrawn": ev.SurrenderWithdrawn(2),
        "reading_taken": deal.reading(),
        "reading_failed": ev.ReadingFailed("The felt's markers are hidden."),
        "looked_again": ev.LookedAgain(),
        "cards_awaited": ev.CardsAwaited((1,)),
        "cards_compared": ev.CardsCompared(True),
        "setting_resumed": ev.SettingResumed(),
        "button_kept": ev.ButtonKept(2),
        "puck_awaited": ev.PuckAwaited(2),
        "card_placed": ev.CardPlaced(1, "middle", SURE),
        "card_reread": ev.CardReread(1, "middle", 0, SURE),
        "irregularity_seen": MISSING,
        "irregularity_ended": ev.IrregularityEnded(1, by="dealer" if phase is Phase.REVIEW else "camera"),
        "keying_begun": ev.KeyingBegun("The camera is dead."),
        "hand_misdealt": ev.HandMisdealt("A card was exposed."),
        "hand_withdrawn": ev.HandWithdrawn(),
        "hand_reopened": PAST,
        "payback_marked": ev.PaybackMarked(1),
        "stack_counted": ev.StackCounted("p1", 5, "counted"),
        "seating_changed": ev.SeatingChanged("passes", True, "p1"),
        "house_set": ev.HouseSet("a new table", table="12"),
        "profile_kept": ev.ProfileKept("friday", "0" * 64, "a new rule"),
        "training_begun": ev.TrainingBegun(),
        "player_seated": ev.PlayerSeated(5, "p5", "", 100),
        "player_left": ev.PlayerLeft("p1", state.stack_of("p1")),
        "player_renamed": ev.PlayerRenamed("p1", "Ann"),
        "bought_in": ev.BoughtIn("p3", 100, 100),
        "added_on": ev.AddedOn("p1", 100, (state.stack_of("p1") or 0) + 100),
        "card_resolved": ev.CardResolved(1, "middle", 0 if phase is Phase.PLACING else 2, "5h"),
        "card_corrected": ev.CardCorrected(1, "middle", 0 if phase is Phase.PLACING else 2, "5s"),
        "row_keyed": ev.RowKeyed(1, "front", ("2c", "3c", "4c")),
        "natural_found": ev.NaturalFound(2, "dragon"),
        "natural_confirmed": confirmed,
        "natural_unconfirmed": ev.NaturalUnconfirmed(1),
        "settled": deal.settled(),
        "payment_marked": ev.PaymentMarked(2, 1),
        "hand_archived": ev.HandArchived(),
        "hand_voided": ev.HandVoided("misdeal"),
        "person_listed": ev.PersonListed("Bao", Role.DEALER),
        "person_struck": ev.PersonStruck("Lin"),
        "pin_set": ev.PinSet("Moreno", "another"),
        "pin_tried": ev.PinTried("Moreno"),
        "pin_accepted": ev.PinAccepted("Moreno"),
        "name_tried": ev.NameTried(),
        "wait_ended": ev.WaitEnded(),
        "badge_listed": ev.BadgeListed("Moreno", "04B1B2B3"),
        "logged_on": ev.LoggedOn("Moreno", 2),
        "logged_off": ev.LoggedOff(),
        "floor_called": ev.FloorCalled(),
        "floor_call_ended": ev.FloorCallEnded(answered=True),
        "hand_disputed": ev.HandDisputed(1, "that was not my card"),
        "dispute_closed": ev.DisputeClosed(1, "it was"),
        "hand_reviewed": ev.HandReviewed(1),
        "images_dropped": ev.ImagesDropped(1, (), "older than a year"),
        "images_lost": ev.ImagesLost(1),
        "key_announced": ev.KeyAnnounced("ab" * 32),
        "head_signed": ev.HeadSigned(1, "", 0, 0, "", "", ""),
        "update_begun": ev.UpdateBegun("0.3.0-1a2b3c4d", "ab" * 32),
        "pit_words_compared": ev.PitWordsCompared("babab-babab-babab-babab-babab", same=True),
        "record_restored": ev.RecordRestored(1, ""),
        "note_begun": ev.NoteBegun(1, ""),
        "record_fault": DOUBT,
        "record_fault_read": ev.RecordFaultRead("looked at"),
        "calibrated": ev.CameraCalibrated("felt", LENS),
        "deck_enrolled": ev.DeckEnrolled(LENS),
        "calibration_dropped": ev.CalibrationDropped("lens"),
        "deck_checked": ev.DeckChecked(52),
        "step_settled": ev.StepSettled("language"),
        "clock_set": ev.ClockSet(1_764_000_000_000, 1_764_003_600_000, "UTC", "Europe/Madrid"),
        "disks_named": ev.DisksNamed(("04D1A2B3C4E580",), (), (), ()),
        "trial_begun": ev.TrialBegun(),
        "trial_ended": ev.TrialEnded(),
        "device_tried": ev.DeviceTried("puck", "pass", "puck_well", {"seen": 5}, {}),
        "set_up_ended": ev.SetUpEnded(),
    }
    return state, examples[name]


_LATER = (Phase.SHOWDOWN, Phase.READING, Phase.REVIEW)


def _led(deal: Deal, phase: Phase, name: str) -> Phase | None:
    """Return the phase to which an event leads; None where it is refused, which says the phase."""
    state, event = _ready(deal, phase, name)
    assert state.phase is phase
    try:
        return apply(state, event).phase
    except CommandRefused as refused:
        if str(phase) not in str(refused):
            raise
        return None


@pytest.mark.parametrize("name", EXPECTED)
def test_each_event_in_each_phase_does_what_the_table_says(deal: Deal, name: str) -> None:
    assert {phase: _led(deal, phase, name) for phase in CASES[name]} == CASES[name]


def test_the_table_names_every_event_once() -> None:
    assert set(EXPECTED) == set(ev.BY_TYPE)


def test_these_events_and_no_others_are_permitted_while_a_record_fault_is_unread() -> None:
    devices = {"table_started", "device_fault", "device_recovered", "puck_seen", "training_begun"}
    set_up = {
        "step_settled",
        "trial_begun",
        "trial_ended",
        "device_tried",
        "clock_set",
        "disks_named",
        "set_up_ended",
    }
    expected = (PEOPLE | EVIDENCE | CALLS | devices | set_up) - {"images_dropped"}
    assert {name for name, kind in ev.BY_TYPE.items() if kind.in_doubt} == expected


def test_phases_are_entered_in_order_and_none_is_skipped(deal: Deal) -> None:
    for phase, to in (
        (Phase.DEALING, Phase.SHOWDOWN),
        (Phase.DEALING, Phase.READING),
        (Phase.SETTING, Phase.READING),
    ):
        with pytest.raises(CommandRefused):
            apply(deal.at(phase), ev.PhaseAdvanced(to))
