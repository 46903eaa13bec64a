"""A game against the banker, played at the felt: the banker fouls, is short of chips, and leaves."""

from __future__ import annotations

from dealer_ui.view.build import view
from tests.dealer_ui.conftest import Lay
from tests.dealer_ui.felt import Felt

BANKER = {"deal.kind": "closed", "limits.min_points": 0, "scoring.versus": "banker"}


def fouling(felt: Felt, seat: int) -> None:
    """Have a seat set its middle behind, and its back in the middle."""
    front, middle, back = felt.hands[seat]
    felt.hands[seat] = (front, back, middle)


def pairs(felt: Felt) -> dict[frozenset[int], dict[str, int]]:
    assert felt.state.settlement is not None
    return {frozenset((pair["a"], pair["b"])): pair for pair in felt.state.settlement["pairs"]}


def test_a_banker_who_fouls_pays_everybody_and_nobody_else_settles(lay: Lay) -> None:
    felt = lay(options=BANKER)
    fouling(felt, 2)
    felt.to_settled()
    found = pairs(felt)
    assert set(found) == {frozenset((2, other)) for other in (1, 3, 4)}
    screen = view(felt.seq, felt.state, felt.rules)
    assert {(pay.payer, pay.winner) for pay in screen.payments if pay.payer == 2} >= {(2, 1), (2, 4)}
    felt.pay_all()
    assert felt.state.is_paid


def test_a_banker_short_of_chips_pays_in_the_order_of_positions_until_nothing_is_left(lay: Lay) -> None:
    felt = lay(options={**BANKER, "order.naturals_first": False}, stack=6_000)
    fouling(felt, 2)
    felt.to_settled()
    assert felt.state.settlement is not None
    paid = felt.state.settlement["paid"]
    assert paid["2"] == -6_000
    assert sum(paid.values()) == 0
    short = [pair["short"] for pair in felt.state.settlement["pairs"]]
    assert any(short)
    assert all(amount >= 0 for amount in short)
    told = [pay for pay in view(felt.seq, felt.state, felt.rules).payments if "short of" in str(pay)]
    assert told


def test_the_next_player_is_the_banker_once_the_banker_has_left(lay: Lay) -> None:
    felt = lay(options=BANKER)
    felt.to_settled()
    felt.pay_all()
    felt.do("archive")
    banker = felt.state.seat(2)
    assert banker is not None
    felt.do("leave_seat", player=banker.player)
    felt.seats = {seat: place for seat, place in felt.seats.items() if seat != 2}
    felt.deal(button=3)
    assert {seat.seat for seat in felt.state.seats} == {1, 3, 4}
    felt.do("next")
    felt.to_reading()
    felt.read()
    assert set(pairs(felt)) == {frozenset((3, 1)), frozenset((3, 4))}
