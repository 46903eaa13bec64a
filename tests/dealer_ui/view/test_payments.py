"""The order of payment and its marks, from a recorded settlement."""

from __future__ import annotations

from typing import Any

from dealer_ui.view.build import view
from dealer_ui.view.payments import chips, foul_reasons, payments, row_outcomes
from firmware.rules.recorded_settlement import RecordedSettlement, read_settlement
from tests.dealer_ui.felt import Felt


def pair(a: int, b: int, points: int, *lines: dict[str, Any], paid: int | None = None) -> dict[str, Any]:
    owed = points * 500
    moved = owed if paid is None else paid
    return {
        "a": a,
        "b": b,
        "points": points,
        "owed": owed,
        "paid": moved,
        "short": abs(owed) - abs(moved),
        "lines": list(lines),
    }


def line(id: str, points: int, **args: Any) -> dict[str, Any]:
    return {"id": id, "args": args, "points": points, "why": f"because of {id}", "clause": "scoring.row"}


def settled(*pairs: dict[str, Any]) -> RecordedSettlement:
    return read_settlement({"pairs": pairs})


SETTLED = settled(pair(1, 2, 0), pair(1, 3, 4), pair(2, 3, -2))


def test_a_pair_of_nothing_is_even_and_never_waited_for() -> None:
    shown, current = payments(SETTLED, frozenset())
    assert [pay.state for pay in shown] == ["nothing", "now", "later"]
    assert shown[0].amount == "even"
    assert current == 1


def test_marks_lead_through_the_payments_and_back(felt: Felt) -> None:
    felt.to_settled()
    assert felt.state.settlement is not None
    pairs = [(p["a"], p["b"]) for p in felt.state.settlement["pairs"] if p["paid"]]
    for done, (a, b) in enumerate(pairs):
        *undo, forward = view(felt.seq, felt.state, felt.rules).actions
        assert forward.command == {"do": "mark_paid", "a": a, "b": b, "paid": True, "hand": 1}
        marked = [{"do": "mark_paid", "a": a, "b": b, "paid": False, "hand": 1} for a, b in pairs[:done]]
        assert [action.command for action in undo] == marked[-1:]
        felt.do(**forward.command)
    back, following = view(felt.seq, felt.state, felt.rules).actions
    assert (back.command["b"], following.command["do"]) == (pairs[-1][1], "next")


def test_a_payment_taken_back_in_the_middle_is_due_again_first() -> None:
    _, current = payments(SETTLED, frozenset({(2, 3)}))
    assert current == 1


def test_points_are_counted_as_the_one_who_collects_counts_them() -> None:
    lines = line("row_won", -6, row="front", winner=1), line("bonus", 1, row="back")
    (pay,), _ = payments(settled(pair(2, 1, -5, *lines)), frozenset())
    assert (pay.payer, pay.winner, pay.amount, pay.points) == (2, 1, "$25", "+5")
    assert [said.points for said in pay.lines] == ["+6", "−1"]


def test_what_is_cut_off_is_said_and_the_rest_is_paid() -> None:
    (pay,), current = payments(settled(pair(1, 2, 9, paid=3000)), frozenset())
    assert (pay.amount, pay.short) == ("$30", "$15 short of the $45 owed: the stakes end here")
    assert current == 0


def test_a_payment_cut_off_altogether_is_not_waited_for() -> None:
    (pay,), current = payments(settled(pair(1, 2, 9, paid=0)), frozenset())
    assert current is None
    assert (pay.state, pay.amount) == ("nothing", "short")
    assert pay.short == "$45 short of the $45 owed: the stakes end here"
    assert (pay.payer, pay.winner) == (2, 1)


def test_rows_are_won_lost_or_pushed_whoever_is_named_first() -> None:
    outcomes = pair(
        3,
        1,
        0,
        line("row_won", 1, row="front", winner=3, loser=1),
        line("row_tied", 0, row="middle"),
        line("bonus_in_place", -8, row="back", winner=1, loser=3),
        line("bonus", 2, row="front", winner=1, loser=3),
    )
    assert row_outcomes(settled(outcomes).pairs[0]) == {
        3: {"front": "won", "middle": "push", "back": "lost"},
        1: {"front": "lost", "middle": "push", "back": "won"},
    }


def test_a_row_that_is_worth_no_point_is_still_won() -> None:
    outcomes = row_outcomes(
        settled(pair(1, 2, 0, line("row_won", 0, row="front", winner=2, loser=1))).pairs[0]
    )
    assert outcomes[2]["front"] == "won"


def test_the_reason_of_a_foul_is_told_in_a_few_words() -> None:
    foul = line("foul", 3, fault="front_above_middle", winner=1, loser=2)
    assert foul_reasons(settled(pair(1, 2, 3, foul))) == {2: "front above middle"}


def test_the_chips_plan_moves_the_same_nets_in_fewer_movements(felt: Felt) -> None:
    felt.to_settled()
    screen = view(felt.seq, felt.state, felt.rules)
    assert [(move.payer, move.winner, move.amount) for move in screen.transfers] == [
        ("3 Okafor", "1 Lin", "$200"),
        ("4 Tran", "1 Lin", "$30"),
        ("4 Tran", "2 Moreno", "$20"),
    ]


def test_chips_that_went_by_the_plan_mark_every_payment(felt: Felt) -> None:
    felt.to_settled()
    moved = view(felt.seq, felt.state, felt.rules).transferred
    assert moved is not None
    assert moved.hold
    for command in (moved.command, *moved.also):
        felt.do(**command)
    assert view(felt.seq, felt.state, felt.rules).phase_title == "All paid"


def test_the_plan_is_offered_only_before_the_first_payment(felt: Felt) -> None:
    felt.to_settled()
    felt.pay()
    screen = view(felt.seq, felt.state, felt.rules)
    assert screen.transfers == ()
    assert screen.transferred is None


def test_two_hands_of_one_player_are_one_pile_of_chips() -> None:
    settlement = read_settlement({"paid": {"1": 500, "3": 1000, "2": -700, "4": -800}})
    (move,) = chips(settlement, {1: "Lin", 2: "Tran", 3: "Lin", 4: "Tran"}, frozenset())
    assert (move.payer, move.winner, move.amount) == ("2+4 Tran", "1+3 Lin", "$15")
