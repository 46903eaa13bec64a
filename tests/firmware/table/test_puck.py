"""The puck is a condition of the next hand: on every path, under every profile, with a reader and without one."""

from __future__ import annotations

import pytest

from dealer_ui.view.build import view
from firmware.record.journal.journal import JournalReader
from firmware.rules import profile_names
from firmware.table import CommandRefused, Phase, State
from firmware.table import events as ev
from firmware.table.dealing import button_due
from firmware.table.topics.puck import opening_when_right
from tests.dealer_ui.conftest import Lay, lay
from tests.dealer_ui.felt import Felt

__all__ = ["lay"]


@pytest.fixture
def felt(lay: Lay) -> Felt:
    return paid(lay(profile="washington-1-unit", options={"deal.kind": "closed"}))


def paid(felt: Felt, puck: int = 2) -> Felt:
    """Play hand 1 with the puck at a seat, until all is paid."""
    felt.to_settled(puck)
    felt.pay_all()
    return felt


def arrive(felt: Felt) -> State:
    """Do what the table process does after every reading of the puck: open the hand for which white has asked."""
    events = opening_when_right(felt.state, felt.house)
    return felt.say(*events) if events else felt.state


def seen(felt: Felt, seat: int | None, how: ev.PuckState = "seat") -> State:
    felt.say(ev.PuckSeen(how, seat))
    return arrive(felt)


def test_white_with_a_forgotten_puck_opens_nothing_and_the_pucks_arrival_does(felt: Felt) -> None:
    state = felt.do("next")
    assert (state.phase, state.hand, state.puck_awaited) == (Phase.SETTLED, 1, True)
    with pytest.raises(CommandRefused, match="must be at seat 3"):
        felt.do("next")
    assert seen(felt, 4).phase is Phase.SETTLED, "another wrong seat"
    state = seen(felt, 3)
    assert (state.phase, state.hand, state.button) == (Phase.DEALING, 2, 3)
    assert felt.journal.recover() == state


def test_a_puck_that_was_moved_in_time_costs_no_touch(felt: Felt) -> None:
    assert seen(felt, 3).phase is Phase.SETTLED, "nothing opens without white"
    state = felt.do("next")
    assert (state.phase, state.button, state.button_keyed) == (Phase.DEALING, 3, False)


def test_the_puck_stays_by_the_dealers_word_before_white_and_after_it(felt: Felt, lay: Lay) -> None:
    assert felt.do("keep_button", seat=2).phase is Phase.SETTLED
    state = felt.do("next")
    assert (state.phase, state.button, state.button_keyed) == (Phase.DEALING, 2, False)
    other = paid(lay(profile="washington-1-unit", options={"deal.kind": "closed"}))
    other.do("next")
    state = other.do("keep_button", seat=2)
    assert (state.phase, state.button) == (Phase.DEALING, 2)
    last = list(JournalReader(other.folder).of_type("button_kept"))
    assert [row.actor for row in last] == ["test"], "the record names who said so"


def test_the_word_of_a_seat_ends_where_the_puck_is_seen_at_another(felt: Felt) -> None:
    felt.do("keep_button", seat=2)
    assert seen(felt, 4).button_kept is None
    assert felt.do("next").phase is Phase.SETTLED


@pytest.mark.parametrize("how", ["none", "unknown", "ambiguous", "apart", "fault"])
def test_where_the_reader_names_no_seat_only_the_dealers_word_opens_the_hand(
    felt: Felt, how: ev.PuckState
) -> None:
    seen(felt, None, how)
    felt.do("next")
    assert felt.state.phase is Phase.SETTLED
    state = felt.do("keep_button", seat=3)
    assert (state.phase, state.button, state.button_keyed) == (Phase.DEALING, 3, True)
    assert felt.say(ev.PuckSeen("seat", 5)).button == 3, "a reader that comes back does not override the word"


@pytest.mark.parametrize("undo", ["mark", "archive", "restart"])
def test_what_white_asked_for_ends_with_what_it_was_asked_on(felt: Felt, undo: str) -> None:
    felt.do("next")
    if undo == "mark":
        a, b = sorted(felt.state.paid)[0]
        felt.do("mark_paid", a=a, b=b, paid=False)
    elif undo == "archive":
        felt.do("archive")
    else:
        felt.say(ev.TableStarted())
    assert seen(felt, 3).phase is not Phase.DEALING


def test_a_closed_hand_waits_for_the_puck_too_and_a_void_one_for_the_seat_it_had(felt: Felt) -> None:
    felt.do("archive")
    with pytest.raises(CommandRefused, match="must be at seat 3"):
        felt.do("open_hand")
    assert felt.do("next").puck_awaited
    assert seen(felt, 3).hand == 2
    felt.do("void", reason="Damaged card")
    seen(felt, 4)
    assert felt.do("next").phase is Phase.VOID
    state = seen(felt, 3)
    assert (state.hand, state.button) == (3, 3)


def test_a_puck_at_a_seat_that_sits_out_is_not_where_it_is_due(felt: Felt) -> None:
    felt.do("archive")
    felt.do("sit_out", player="Okafor", on=True)
    seen(felt, 3)
    assert felt.do("next").puck_awaited
    state = seen(felt, 4)
    assert (state.phase, state.button) == (Phase.DEALING, 4)


@pytest.mark.parametrize("profile", profile_names())
@pytest.mark.parametrize("kind", ["closed", "face_up"])
def test_no_profile_and_no_way_of_dealing_goes_on_without_the_puck(lay: Lay, profile: str, kind: str) -> None:
    felt = lay(profile=profile, options={"deal.kind": kind, "limits.min_points": 0})
    felt.deal()
    felt.do("void", reason="Damaged card")
    seen(felt, 1)
    assert felt.do("next").phase is Phase.VOID, "the puck of a void hand stays at 2"
    assert seen(felt, 2).phase is Phase.DEALING


# ---- what it costs ----


def second_hand(felt: Felt, moves: bool) -> tuple[int | None, dict[str, int]]:
    """Play the hand after the first: the puck is moved one seat on, or stays by the dealer's word."""
    was = felt.state.button
    felt.do("next")
    assert felt.state.phase is Phase.SETTLED, "nothing opens on the stale puck"
    if moves:
        seen(felt, button_due(felt.state, felt.house))
    else:
        felt.do("keep_button", seat=was)
    felt.do("next")
    felt.to_reading()
    state = felt.read()
    assert state.settlement is not None
    return state.button, state.settlement["paid"]


@pytest.mark.parametrize(
    ("moves", "button", "expected"),
    [
        # from seat 4 on: 4 pays 1 its $10 and 2 $30, wins $30 of 3; 3 pays 2 $30: 1's winnings are at its $10
        (True, 3, {"1": 1000, "2": 6000, "3": -6000, "4": -1000}),
        # from seat 3 on: 3 pays 4 $30, 1 its $10 and 2 $30; then 4 pays 2 $30 and nothing to 1
        (False, 2, {"1": 1000, "2": 6000, "3": -7000, "4": 0}),
    ],
)
def test_the_puck_decides_what_a_player_of_ten_dollars_wins_from_whom(
    lay: Lay, moves: bool, button: int, expected: dict[str, int]
) -> None:
    felt = paid(lay(profile="washington-1-unit", options={"deal.kind": "closed"}, unit=1000, stack=None))
    felt.do("archive")
    for player, stack in {"Lin": 1000, "Moreno": 100_000, "Okafor": 100_000, "Tran": 100_000}.items():
        felt.do("count_stack", player=player, stack=stack, reason="Counted")
    assert felt.do("next").puck_awaited
    if moves:
        seen(felt, 3)
    else:
        felt.do("keep_button", seat=2)
    felt.do("next")
    felt.to_reading()
    state = felt.read()
    assert state.settlement is not None
    assert (state.button, state.settlement["paid"]) == (button, expected)


@pytest.mark.parametrize(("moves", "button", "gain"), [(True, 2, -1500), (False, 1, 1500)])
def test_under_california_every_tie_goes_to_the_button(lay: Lay, moves: bool, button: int, gain: int) -> None:
    """Seats 1 and 2 hold equal rows: three points, $15, go to whichever of the two has the puck."""
    equal = {
        1: ("Kh 9d 5c", "As 9s 8d 4h 3c", "Qh Qs Jc 8h 2d"),
        2: ("Kd 9c 5s", "Ad 9h 8c 4s 3h", "Qd Qc Js 8s 2c"),
    }
    felt = paid(lay(seats={1: "A", 2: "B"}, hands=equal), puck=1)
    assert second_hand(felt, moves) == (button, {"1": gain, "2": -gain})


def test_without_a_reader_the_puck_moves_by_itself_and_a_touch_moves_it_elsewhere(lay: Lay) -> None:
    felt = lay(profile="washington-1-unit", options={"deal.kind": "closed"})
    felt.say(ev.TableStarted(house=felt.configured.settings, without=("puck", "panel")))
    opened = felt.do("next")
    assert (opened.button, opened.without) == (None, ("puck", "panel")), (
        "nobody said where the first hand's is"
    )
    felt.do("key_button", seat=2)
    felt.do("next")
    felt.to_reading()
    felt.read()
    felt.pay_all()
    assert button_due(felt.state, felt.house) is None, "nobody is asked to move a disk that is not there"
    screen = view(felt.journal.seq, felt.state, felt.rules)
    assert "moves by itself to seat 3" in " ".join(screen.notices)
    assert screen.puck_due is None
    assert [device.name for device in screen.devices] == ["camera"], "what is not there does not work either"
    state = felt.do("next")
    assert (state.phase, state.button, state.button_keyed) == (Phase.DEALING, 3, True), "told, and not read"
    assert felt.journal.recover() == state
    felt.do("misdeal", reason="Exposed card")
    assert felt.do("keep_button", seat=1).button_kept == 1
    state = felt.do("next")
    assert (state.button, state.button_keyed) == (1, True)
