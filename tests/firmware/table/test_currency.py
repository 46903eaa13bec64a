"""The currency in the record: set at the table, carried by each hand, in dollars where a record is older than it."""

from __future__ import annotations

import pytest

from firmware.rules import DOLLARS, Currency
from firmware.table import CommandRefused, Phase, apply, fold
from firmware.table import events as ev
from firmware.table.events import parse
from firmware.table.house import currency_now
from firmware.table.topics.opening import open_hand
from tests.firmware.table.test_house import Table, face_up, house_of, table

__all__ = ["face_up", "table"]


def test_a_currency_is_set_and_its_place_alone_and_the_next_hand_carries_it(table: Table) -> None:
    assert table.state.house.currency == DOLLARS
    table.do("set_house", symbol="€", symbol_after=True, reason="the house's")
    assert table.do("set_house", unit=250, reason="another limit").house.currency == Currency("€", after=True)
    state = table.do("set_house", symbol_after=False, reason="as the floor writes it")
    assert state.house.currency == Currency("€")
    assert state.house.said == ("currency", "unit")
    assert open_hand(state, table.house).house.currency == Currency("€")
    again = apply(state, ev.TableStarted(house=house_of().settings))
    assert again.house.currency == Currency("€"), "a configuration does not take it back"


def test_a_setting_of_a_record_without_a_currency_is_in_dollars() -> None:
    said = parse("house_set", '{"reason":"Set-up","unit":500}')
    state = fold([parse("table_started", '{"software":"0.1","house":{"unit":100,"table":"7"}}'), said])
    assert (state.house.unit, state.house.table, state.house.currency) == (500, "7", DOLLARS)


@pytest.mark.parametrize("symbol", ["", " ", "5", "Dinar", "$1", "a b", "<i>", "\u202e$", "\n$x", "R.D"])
def test_what_is_no_symbol_is_refused_with_a_sentence_and_by_the_record_too(
    table: Table, symbol: str
) -> None:
    with pytest.raises(CommandRefused, match="A currency's symbol is 1 to 4 letters or signs"):
        table.do("set_house", symbol=symbol, reason="x")
    with pytest.raises(CommandRefused, match="A currency's symbol is"):
        apply(table.state, ev.HouseSet("x", currency=Currency(symbol)))
    assert table.state.house.currency == DOLLARS


def test_the_house_is_refused_in_its_own_currency(face_up: Table) -> None:
    face_up.do("set_house", symbol="HK$", reason="the house's")
    with pytest.raises(CommandRefused, match=r"bring at least HK\$30"):
        face_up.do("seat_player", seat=3, player="Ann", stack=1000)


def test_a_past_hand_on_the_table_again_is_paid_in_its_own_currency(table: Table) -> None:
    table.do("set_house", symbol="€", reason="the house's")
    assert currency_now(table.state) == Currency("€")
    hand = open_hand(table.state, table.house)
    table.state = apply(table.state, hand)
    assert table.state.phase is Phase.DEALING
    table.do("misdeal", reason="a card was exposed")
    table.do("set_house", symbol="£", reason="another room")
    assert currency_now(table.state) == Currency("£"), "between hands the next one's counts"
    assert currency_now(fold([hand])) == Currency("€")
