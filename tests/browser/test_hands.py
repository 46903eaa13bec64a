"""Whole hands from deal to settled: a finger on the page in a real Chromium, a real table process behind it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from dealer_ui.server.app import Settings, create_app
from firmware.record.journal.journal import Journal
from firmware.record_folder import SOCKET
from firmware.runtime.liveness.presses import PAID_S
from firmware.table import State
from firmware.table import events as ev
from tests.browser.conftest import Window, own_window
from tests.browser.dealer import Cards, Dealer
from tests.browser.test_stream import Line
from tests.dealer_ui.felt import HANDS, PLAYERS, SIX_PAIRS_DEALT
from tests.dealer_ui.house import config
from tests.dealer_ui.served import served
from tests.firmware.running_table import Table
from tests.waiting import until

pytestmark = pytest.mark.browser

ROWS = ("front", "middle", "back")
CLOSED = {"deal.kind": "closed", "fantasyland.entry": {}, "fantasyland.stay": {}, "limits.min_points": 0}


def rows(hand: tuple[str, str, str]) -> dict[str, str]:
    return dict(zip(ROWS, hand, strict=True))


FOUR = {place: rows(HANDS[seat]) for seat, place in zip((1, 2, 3, 4), "ABCD", strict=True)}
NATURAL = {place: rows(SIX_PAIRS_DEALT[seat]) for seat, place in zip((1, 2, 3, 4), "ABCD", strict=True)}
TWO = {"A": FOUR["A"], "B": FOUR["B"]}


class Evening:
    """A table, its page and the dealer's finger."""

    def __init__(self, table: Table, cards: Cards, dealer: Dealer) -> None:
        self.table = table
        self.cards = cards
        self.dealer = dealer

    def deal(self, button: int = 2) -> None:
        """Open a hand, and the cards are out."""
        self.dealer.touch(do="next")
        self.dealer.until_phase("dealing")
        self.table.puck_at(button)
        self.dealer.until(lambda state: state.button == button)
        self.dealer.touch(do="next")

    def show(self, hands: dict[str, dict[str, str]]) -> None:
        """Lay the cards, and the showdown."""
        self.cards.lay(hands)
        self.dealer.until(lambda state: state.phase in ("setting", "placing"))
        self.dealer.touch(do="next")

    def pay(self, state: State) -> None:
        """Mark every payment, in the order of payment."""
        assert state.settlement is not None
        for number, pair in enumerate([p for p in state.settlement["pairs"] if p["paid"]], 1):
            self.dealer.touch(do="mark_paid", a=pair["a"], b=pair["b"])
            self.dealer.until(lambda state, paid=number: len(state.paid) == paid)  # type: ignore[misc]


Begin = Callable[..., Evening]


@pytest.fixture
def begin(chromium: Browser, window: Window, tmp_path: Path) -> Iterator[Begin]:
    with ExitStack() as stack:

        def start(seats: int = 4, through: Callable[[int], Line] | None = None, **values: Any) -> Evening:
            players = [
                {"seat": seat, "place": place, "player": PLAYERS[seat], "stack": 100_000}
                for seat, place in zip(range(1, seats + 1), "ABCD", strict=False)
            ]
            cards = Cards()
            made = config(tmp_path / "d", seats=players, unit=500, **values)
            (tmp_path / "d").mkdir()
            table = Table(made, cards)
            stack.callback(table.stop)
            app = create_app(Settings(made.data, made.socket))
            if through is None:
                page, address = stack.enter_context(window.on(app))
            else:
                port = stack.enter_context(through(stack.enter_context(served(app)))).port
                page, address = own_window(chromium), f"http://127.0.0.1:{port}/"
                stack.callback(page.close)
            page.goto(address)
            page.wait_for_selector("body[data-seq]")
            return Evening(table, cards, Dealer(page, made.data, look=lambda: table.clock.let_pass(PAID_S)))

        yield start


CALIFORNIA = {"profile": "california-face-up", "options": CLOSED}


def test_a_plain_hand_with_a_foul_is_paid_to_the_last_payment(begin: Begin) -> None:
    evening = begin(**CALIFORNIA)
    dealer = evening.dealer
    evening.deal()
    evening.show(FOUR)
    state = dealer.until_phase("settled")
    assert state.settlement is not None
    assert [hand["seat"] for hand in state.settlement["hands"] if hand["foul"]] == [3]
    expect(dealer.page.locator("#place-C")).to_contain_text("FOUL", ignore_case=True)
    evening.pay(state)
    evening.table.puck_at(3)
    dealer.touch(do="next")
    assert dealer.until(lambda state: state.hand == 2 and state.phase == "dealing")
    before = dict.fromkeys(PLAYERS.values(), 100000)
    assert dealer.state.stacks != before
    assert sum(stack or 0 for stack in dealer.state.stacks.values()) == sum(before.values())


def test_a_natural_is_looked_at_again_and_confirmed(begin: Begin) -> None:
    evening = begin(**CALIFORNIA)
    dealer = evening.dealer
    evening.deal()
    dealer.until_phase("setting")
    dealer.touch(do="declare", seat=1)
    dealer.until(lambda state: state.seats[0].declares)
    evening.show(
        {**NATURAL, "A": {**NATURAL["A"], "front": "2h 2d Ks"}, "B": {**NATURAL["B"], "front": "Kc 9d 6c"}}
    )
    dealer.until_phase("review")
    evening.cards.lay(NATURAL)  # the dealer has put two cards right
    dealer.touch(do="look_again")
    dealer.until(lambda state: state.seats[0].front[2].card == "Kc" and state.phase == "review")
    dealer.touch(do="confirm")
    state = dealer.until_phase("settled")
    assert state.settlement is not None
    assert state.settlement["hands"][[h["seat"] for h in state.settlement["hands"]].index(1)]["natural"]
    assert state.seats[0].front[2].card == "Kc"


def test_a_card_is_corrected_after_the_settlement_and_it_settles_again(begin: Begin) -> None:
    evening = begin(**CALIFORNIA)
    dealer = evening.dealer
    evening.deal()
    evening.show(FOUR)
    before = dealer.until_phase("settled").settlement
    dealer.key("3c", do="set_card", seat=1, row="front", index=2)  # lies at seat 2: they change places
    state = dealer.until(lambda state: state.settlement and state.settlement != before)
    assert (state.seats[0].front[2].card, state.seats[1].middle[4].card) == ("3c", "7c")
    expect(dealer.page.locator(".centre .notice")).to_contain_text(
        "seat 2, middle, card 5 is the seven of clubs"
    )
    expect(dealer.page.locator(".card.swapped >> visible=true")).to_have_count(2)
    dealer.page.get_by_role("button", name="Undo", exact=True).tap()
    state = dealer.until(lambda state: state.settlement == before)
    assert (state.seats[0].front[2].card, state.seats[1].middle[4].card) == ("7c", "3c")
    expect(dealer.page.locator(".card.swapped")).to_have_count(0)


def test_a_surrendered_hand_pays_its_price_and_its_cards_are_not_asked(begin: Begin) -> None:
    evening = begin(profile="poker-flush-eastern")
    dealer = evening.dealer
    evening.deal()
    dealer.until_phase("setting")
    dealer.touch(do="surrender", seat=4)
    dealer.until(lambda state: state.seats[3].surrenders)
    evening.show({place: FOUR[place] for place in "ABC"})
    state = dealer.until_phase("settled")
    assert state.settlement is not None
    assert state.settlement["points"]["4"] < 0


def test_fantasy_land_is_earned_announced_played_face_down_and_kept(begin: Begin) -> None:
    evening = begin(seats=2, profile="california-face-up", options={"limits.min_points": 0})
    dealer = evening.dealer
    evening.deal()
    dealer.until_phase("placing")
    first = {"A": rows(("Ah Ad 7c", "8s 8d 8c Kh 4d", "2h 6h 9h Jh Qh")), "B": FOUR["B"]}
    first["B"] = rows(("Ks 9d 5c", "As Qd 6s 6d 3c", "5s 6c 7h 8h 9s"))
    evening.cards.lay(first)
    dealer.until(lambda state: all(seat.placed == 13 for seat in state.seats))
    dealer.touch(do="next")
    state = dealer.until_phase("settled")
    assert state.settlement is not None
    expect(dealer.page.locator("#place-A")).to_contain_text("Fantasy Land")
    evening.pay(state)
    evening.cards.collect()
    evening.table.puck_at(1)
    dealer.touch(do="next")
    state = dealer.until(lambda state: state.hand == 2 and state.phase == "dealing")
    assert (state.seats[0].fantasyland, state.seats[0].open) == (True, False)
    expect(dealer.page.locator("#place-A")).to_contain_text("Fantasy Land")
    evening.table.puck_at(1)
    dealer.until(lambda state: state.button == 1)
    dealer.touch(do="next")
    dealer.until_phase("placing")
    evening.cards.lay({"B": rows(("Kc 9c 5d", "Ac Qs 6h 6d 3d", "5c 7s 7h 8h 9s"))})
    dealer.until(lambda state: state.seats[1].placed == 13)
    evening.cards.lay({"A": rows(("4s 4d 4c", "Js Jd Jc 3s 3h", "Tc Td Th Ts 2h"))})
    dealer.touch(do="next")
    state = dealer.until_phase("settled")
    assert state.settlement is not None
    hand = next(hand for hand in state.settlement["hands"] if hand["seat"] == 1)
    assert (hand["foul"], hand["fantasyland_next"]) == (False, True), "three fours in front keep it"


def test_a_hand_goes_on_after_the_stream_broke_in_the_midst_of_it(begin: Begin) -> None:
    lines: list[Line] = []

    def line(port: int) -> Line:
        lines.append(Line(port))
        return lines[0]

    evening = begin(through=line, **CALIFORNIA)
    dealer = evening.dealer
    evening.deal()
    dealer.until_phase("setting")
    lines[0].swallow()
    dealer.page.wait_for_selector("#notlive", state="visible")
    evening.cards.lay(FOUR)
    evening.table.press("next")  # the real button, while the page is blind
    lines[0].carry()
    dealer.until_phase("settled")
    dealer.page.wait_for_selector("#notlive", state="hidden")
    assert dealer.offers(do="mark_paid")


# ---- a killed table process ----


def test_a_hand_goes_on_after_the_table_process_was_killed(chromium: Browser, tmp_path: Path) -> None:
    """`feltwatch run` without a camera: the hand is keyed, the process is killed in the midst of it."""
    data = tmp_path / "d"
    data.mkdir()
    file = tmp_path / "feltwatch.toml"
    seats = "\n".join(
        f'[[seats]]\nseat = {seat}\nplace = "{place}"\nstack = 100000' for seat, place in ((1, "A"), (2, "B"))
    )
    key = json.dumps(str(tmp_path / "key"))
    file.write_text(f"data = {json.dumps(str(data))}\nin_memory = true\nkey = {key}\n{seats}\n")
    with Journal(data) as journal:
        journal.append([ev.SetUpEnded()], "test")

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "firmware.cli", "run", "--config", str(file)],
            stderr=subprocess.DEVNULL,
        )

    def end() -> None:
        process.kill()
        process.wait()

    process = start()
    with ExitStack() as stack:
        stack.callback(end)
        until((data / SOCKET).exists)
        port = stack.enter_context(served(create_app(Settings(data, data / SOCKET))))
        page = own_window(chromium)
        stack.callback(page.close)
        page.goto(f"http://127.0.0.1:{port}/")
        dealer = Dealer(page, data)
        dealer.until(lambda state: "camera" in state.faults)
        dealer.touch(do="next")
        dealer.until_phase("dealing")
        dealer.touch(do="key_button", seat=1)
        dealer.until(lambda state: state.button == 1)
        dealer.touch(do="next")
        dealer.until_phase("setting")
        dealer.touch(do="key_hand")
        dealer.until(lambda state: state.keyed)
        process.send_signal(signal.SIGKILL)
        process.wait()
        told = page.get_by_text("The table process does not answer.").locator("visible=true").first
        told.wait_for()
        assert not dealer.offers(do="next"), "nothing is offered that nobody can do"
        process = start()
        until(lambda: dealer.offers(do="next"), lambda seconds: page.wait_for_timeout(seconds * 1000))
        dealer.touch(do="next")
        dealer.until_phase("review")
        for seat, place in ((1, "A"), (2, "B")):
            for row in ROWS:
                dealer.key(TWO[place][row], do="key_row", seat=seat, row=row)
                dealer.until(lambda state, s=seat, r=row: state.seat(s).row(r))  # type: ignore[misc]
        state = dealer.until_phase("settled")
    assert [card.by for card in state.seats[0].back] == ["dealer"] * 5
