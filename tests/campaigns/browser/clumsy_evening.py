"""An evening under a clumsy finger: a real Chromium, the page, a real table process; the game goes on or it is said.

    python -m tests.campaigns.browser.clumsy_evening --hands 40 --write docs/clumsy-evening.md

The finger mostly does what the page proposes. Now and then it touches twice, touches what it should not, presses a real
button at any moment, holds, reloads, goes back, gives the showdown before the cards are up, or names a wrong card. The
players sometimes forget the puck. At every step the page must say a sentence and offer a next step; at the end the
stacks must be what they began with, with every closed hand's settlement and every counted chip,
summed up here once more.
"""

from __future__ import annotations

import os
import platform
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import click
from playwright.sync_api import Browser, Error, Page, sync_playwright

from dealer_ui.server.app import Settings, create_app
from firmware.record.journal.journal import Entry, JournalReader
from firmware.rules import profile_names
from firmware.runtime.house_config import house_rules
from firmware.simulation.live.players import Players, SetHand, in_placing_order
from firmware.simulation.placing import true_card
from firmware.table import Phase, State
from firmware.table import events as ev
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.state import Ask
from firmware.table.streets import all_streets, cards_by, open_seats
from tests.browser.chrome import launched
from tests.browser.dealer import Cards, Dealer, Rows, hold
from tests.dealer_ui.house import config
from tests.dealer_ui.served import served
from tests.firmware.running_table import Table
from tests.waiting import DEADLINE

PLAYERS: Final = {1: "Ann", 2: "Bao", 3: "Carla", 4: "Dev"}
STACK: Final = 10_000_000
UNIT: Final = 100
TURN: Final = 0.5
"""Seconds of the table's time that pass with each step of the finger."""
UNSURE: Final = 0.01
PUCK_FORGOTTEN: Final = 0.1
PATIENCE: Final = 1.5
"""Seconds that the finger waits for what it wants to touch."""
STUCK: Final = 400
"""Steps without a new hand after which the evening is at a dead end."""
FINGER: Final = {
    "next": 60,
    "twice": 8,
    "white": 6,
    "green": 2,
    "red": 2,
    "stray": 8,
    "nowhere": 4,
    "held": 1,
    "reload": 2,
    "back": 1,
}
"""What the finger does, and how often among a hundred times."""

LOOK: Final = """() => {
  const shown = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !e.disabled;
  const all = [...document.querySelectorAll("button")];
  const dialog = document.querySelector("dialog[open]");
  const inside = (e) => (dialog ? dialog.contains(e) : !e.closest("dialog"));
  const touchable = all.map((e, i) => [e, i]).filter(([e]) => shown(e) && inside(e));
  const aside = (e) => ["more-dialog", "rules-dialog", "details-dialog", "chips-dialog"].includes(e.dataset.open)
    || (e.dataset.open || "").startsWith("look-");
  const steps = touchable.filter(([e]) => e.dataset.command || e.dataset.pad || (e.dataset.open && !aside(e)));
  const go = steps.filter(([e]) => e.matches(".go, .candidate, .chosen"));
  const mode = document.body.dataset.mode;
  const said = { need: "#need .sentence, #need h1", between: "#between, #centre, #strip" }[mode] || "#centre";
  return {
    page: document.body.classList.contains("glance"), mode, phase: document.body.dataset.phase,
    dialog: dialog ? dialog.id : "",
    sentence: [...document.querySelectorAll(said)].map((e) => e.innerText.trim()).join(" ").trim(),
    touchable: touchable.map(([, i]) => i), steps: steps.map(([, i]) => i), go: go.map(([, i]) => i),
  };
}"""


@dataclass
class Evening:
    """What came of it."""

    profile: str
    hands: int = 0
    steps: int = 0
    touches: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


def _all_seen(state: State, street: int) -> bool:
    """Return whether the record has every open seat's cards of this many streets."""
    return all(seat.placed >= cards_by(street) for seat in open_seats(state))


class HastyDealer(Dealer):
    """Waits for nothing that went away: touches something else."""

    def _until(self, condition: Callable[[], object]) -> None:
        ends = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > ends:
                raise Error("What was to be touched is not there.")
            self.page.wait_for_timeout(50)


class Clumsy:
    """The finger, the players, and the cards on the felt."""

    def __init__(self, table: Table, cards: Cards, page: Page, seed: int) -> None:
        self._table, self._cards, self._page = table, cards, page
        self._dealer = HastyDealer(page, table.config.data)
        self._rng = random.Random(seed)
        self._address = page.url
        self._players = Players(seed, house_rules(table.config)[1], backs_tried=6)
        self._hand = 0
        self._hands: dict[int, SetHand] = {}
        self._orders: dict[int, Sequence[tuple[str, str]]] = {}
        self._street, self._up = 1, 0
        self._declared: set[int] = set()
        self.evening = Evening(table.config.profile)

    def play(self, hands: int) -> Evening:
        """Play until so many hands are over. What is wrong is told in the evening's problems."""
        began, still = time.monotonic(), 0
        seen = 0
        while True:
            state = self._table.process.state
            if state.hand > hands or (state.phase in BETWEEN_HANDS and state.hand == hands):
                break  # white closes a hand and opens the next in one
            still = 0 if state.hand != seen else still + 1
            seen = state.hand
            if still > STUCK:
                self._wrong(
                    f"hand {state.hand} ({state.phase}) is at a dead end: {state.questions} {self._seen}"
                )
                break
            self._world(state)
            self._table.clock.let_pass(TURN)
            self._table.process.put(None)
            self._look()
            self._touch(state)
            self.evening.steps += 1
        self.evening.hands = min(hands, self._table.process.state.hand)
        self.evening.seconds = time.monotonic() - began
        self._sum_up()
        return self.evening

    # ---- the players ----

    def _world(self, state: State) -> None:
        """Deal, move the puck, turn the cards up: what happens at a table without the page."""
        if state.phase in BETWEEN_HANDS or state.hand != self._hand:
            self._cards.collect()
        if state.phase in BETWEEN_HANDS:
            return
        if state.hand != self._hand:
            self._hand, self._street, self._up, self._declared = state.hand, 1, 0, set()
            self._hands = self._players.deal([seat.seat for seat in state.seats])
            self._orders = {}
            for seat in state.seats:
                if seat.open:
                    self._hands[seat.seat], order = in_placing_order(self._hands[seat.seat], self._rng)
                    self._orders[seat.seat] = order
            if self._rng.random() >= PUCK_FORGOTTEN:
                self._table.puck_at(self._rng.choice([seat.seat for seat in state.seats]))
        if state.phase is Phase.PLACING:
            if _all_seen(state, self._street) and not state.questions and self._street < all_streets(1):
                self._street += 1
            self._cards.lay({seat.place: self._placed(seat.seat) for seat in open_seats(state)})
        elif state.phase in (Phase.SHOWDOWN, Phase.READING, Phase.REVIEW):
            self._up = min(self._up + self._rng.randrange(3), len(state.seats))  # one after another
            up = state.seats if state.phase is Phase.REVIEW else state.seats[: self._up]
            hands = {s.place: self._hands[s.seat].truth for s in up if s.seat in self._hands}
            codes = (code for rows in hands.values() for row in rows.values() for code in row.split())
            self._cards.lay(hands, frozenset(code for code in codes if self._is_unclear(code)))

    def _is_unclear(self, code: str) -> bool:
        return random.Random(f"{self._hand} {code}").random() < UNSURE

    def _placed(self, seat: int) -> Rows:
        came = self._orders[seat][: cards_by(self._street)]
        return {row: " ".join(card for r, card in came if r == row) for row in ev.ROWS}

    # ---- the page ----

    def _look(self) -> dict[str, Any]:
        """Look at the page; it must say something, and offer something."""
        ends = time.monotonic() + DEADLINE
        while True:
            seen: dict[str, Any] = {}
            with suppress(Error):  # it is being loaded
                seen = self._page.evaluate(LOOK)
            if seen and (not seen["page"] or seen["dialog"] or (seen["sentence"] and seen["steps"])):
                self._seen = seen
                return seen
            if time.monotonic() > ends:
                self._wrong(f"the page has {'no sentence' if seen.get('steps') else 'no next step'}: {seen}")
                self._seen = seen
                return seen
            self._page.wait_for_timeout(100)

    def _touch(self, state: State) -> None:
        seen = self._seen
        if not seen.get("page"):
            self._count("home")
            self._page.goto(self._address)
            return
        what = self._rng.choices(list(FINGER), list(FINGER.values()))[0]
        if seen["dialog"] and what == "next":
            what = "close" if self._rng.random() < 0.7 else "stray"
        self._count(what)
        with suppress(Error):  # what was to be touched went away meanwhile
            match what:
                case "next":
                    self._next(state, seen)
                case "twice":
                    for _ in range(2):
                        self._tap(self._rng.choice(seen["go"] or seen["steps"] or seen["touchable"]))
                case "white" | "green" | "red":
                    self._table.press({"white": "next", "green": "confirm", "red": "reject"}[what])  # type: ignore[arg-type]
                case "stray":
                    self._tap(self._rng.choice(seen["touchable"]))
                case "nowhere":
                    self._page.touchscreen.tap(self._rng.randrange(800), self._rng.randrange(480))
                case "held":
                    hold(self._page.locator("button").nth(self._rng.choice(seen["touchable"])))
                case "reload":
                    self._page.reload()
                case "back":
                    self._page.goto(f"{self._address}menu")
                    self._page.go_back()
                case "close":
                    self._page.locator("dialog[open] [data-close]").first.tap()

    def _tap(self, number: int) -> None:
        self._page.locator(".fresh").first.wait_for(state="detached")  # what is fresh takes no touch
        self._page.locator("button").nth(number).tap()

    def _next(self, state: State, seen: Mapping[str, Any]) -> None:
        """Do what is to be done; at times clumsily."""
        rng = self._rng
        if state.phase in (Phase.SHOWDOWN, Phase.READING) and rng.random() < 0.95:
            return  # the camera looks
        if state.phase is Phase.SETTING:
            for number, hand in self._hands.items():
                seat = state.seat(number)
                if seat is None or number in self._declared or seat.open:
                    continue
                for do, wanted, is_so in (
                    ("surrender", hand.surrenders, seat.surrenders),
                    ("declare", hand.declares, seat.declares),
                ):
                    if wanted and not is_so and self._dealer.offers(do=do, seat=number):
                        self._declared.add(number)
                        self._dealer.touch(do=do, seat=number)
                        return
        question = state.questions[0] if state.questions else None
        if question is not None and seen["mode"] == "need" and state.phase in (Phase.REVIEW, Phase.PLACING):
            asked = self._hands.get(question.seat or 0)
            truth = asked.truth if asked else {}
            if question.what is Ask.CARD and question.row and asked and rng.random() < 0.95:
                right = true_card(state, question, truth.get(question.row, "").split())
                command = {"do": "set_card", "seat": question.seat, "row": question.row, "card": right}
                if self._dealer.offers(**command):
                    self._dealer.touch(**command)
                    return
            if question.what is Ask.COUNT and asked and asked.surrenders:
                self._tap(rng.choice(seen["steps"]))  # nobody has said so before: the page offers it now
                return
            if (
                question.what in (Ask.COUNT, Ask.DUPLICATE)
                and question.row
                and truth.get(question.row)
                and state.phase is Phase.REVIEW
                and rng.random() < 0.3
            ):
                self._key(question.seat, question.row, truth[question.row])
                return
        number = rng.choice(seen["go"] or seen["steps"])
        button = self._page.locator("button").nth(number)
        if button.get_attribute("data-hold") is None:
            self._tap(number)
        else:
            hold(button)

    def _key(self, seat: int | None, row: str, cards: str) -> None:
        self._count("keyed")
        self._dealer.key(cards, do="key_row", seat=seat, row=row)

    def _count(self, what: str) -> None:
        self.evening.touches[what] += 1

    def _wrong(self, what: str) -> None:
        self.evening.problems.append(what)

    # ---- the sum ----

    def _sum_up(self) -> None:
        """Compare the stacks with what the record's settlements come to, summed up without the product."""
        entries = JournalReader(self._table.config.data).events_since(0)
        expected = summed(entries)
        stacks = dict(self._table.process.state.stacks)
        if any(stacks.get(player) != sum_ for player, sum_ in expected.items()):
            self._wrong(f"the stacks are {stacks}, the settlements come to {expected}")
        self.evening.ends = Counter(
            entry.type for entry in entries if entry.type in ("hand_archived", "hand_voided", "hand_misdealt")
        )
        self.evening.ends["resumed"] = sum(
            isinstance(entry.event, ev.HandReopened) and entry.event.resumed for entry in entries
        )


def summed(entries: Sequence[Entry]) -> dict[str, int]:
    """Return each player's chips in cents by the record: what they began with, won, lost, and what was counted."""
    chips: dict[str, int] = {}
    players: dict[int, str] = {}
    moved: dict[str, int] = {}
    settlement: Mapping[str, Any] = {}
    for entry in entries:
        match entry.event:
            case ev.HandOpened(seats=seats):
                players = {seat.seat: seat.player for seat in seats}
                for seat in seats:
                    if seat.stack is not None:
                        chips.setdefault(seat.player, seat.stack)
            case ev.HandSettled(settlement=settlement):
                pass
            case ev.HandArchived():
                moved = dict.fromkeys(players.values(), 0)
                for pair in settlement["pairs"]:
                    moved[players[pair["a"]]] += pair["paid"]
                    moved[players[pair["b"]]] -= pair["paid"]
                for player, amount in moved.items():
                    chips[player] += amount
            case ev.HandReopened(resumed=True, opened=opened, settlement=settlement):
                players = {seat.seat: seat.player for seat in opened.seats}
                for player, amount in moved.items():
                    chips[player] -= amount
            case ev.StackCounted(player=player, stack=int(stack)):
                chips[player] = stack
            case ev.AddedOn(player=player, amount=amount) | ev.BoughtIn(player=player, amount=amount):
                chips[player] = chips.get(player, 0) + amount
            case ev.PlayerLeft(player=player):
                chips.pop(player, None)
    return chips


def play(browser: Browser, folder: Path, profile: str, hands: int, seed: int, players: int = 4) -> Evening:
    """Play one evening of a profile in a window of its own."""
    seats = [
        {"seat": seat, "place": place, "player": PLAYERS[seat], "stack": STACK}
        for seat, place in zip(PLAYERS, "ABCD"[:players], strict=False)
    ]
    cards = Cards()
    with ExitStack() as stack:
        folder.mkdir(parents=True, exist_ok=True)
        table = Table(config(folder, seats=seats, unit=UNIT, profile=profile), cards)
        stack.callback(table.stop)
        port = stack.enter_context(served(create_app(Settings(folder, table.config.socket))))
        context = browser.new_context(has_touch=True, viewport={"width": 800, "height": 480})
        stack.callback(context.close)
        context.set_default_timeout(1000 * DEADLINE)
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_selector("body[data-seq]")
        page.set_default_timeout(1000 * PATIENCE)  # a finger does not wait for what went away
        page.set_default_navigation_timeout(1000 * DEADLINE)
        return Clumsy(table, cards, page, seed).play(hands)


def play_alone(profile: str, hands: int, seed: int) -> Evening:
    """Play one evening in a browser and a folder of its own."""
    with (
        sync_playwright() as playwright,
        launched(playwright) as browser,
        tempfile.TemporaryDirectory(prefix="feltwatch-clumsy-") as folder,
    ):
        return play(browser, Path(folder) / "d", profile, hands, seed)


def report(evenings: Sequence[Evening], seed: int) -> str:
    """Return the report as Markdown."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    lines = [
        "# Evenings under a clumsy finger",
        "",
        "    python -m tests.campaigns.browser.clumsy_evening --write docs/clumsy-evening.md",
        "",
        f"Seed {seed}; {machine}. A real Chromium at 800×480, a real table process; no camera: the program reports "
        "the cards.",
        "",
        "| game | hands | closed | void, misdealt | closings taken back | steps | stray touches | problems |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in evenings:
        void = one.ends["hand_voided"] + one.ends["hand_misdealt"]
        stray = sum(count for what, count in one.touches.items() if what not in ("next", "keyed", "close"))
        lines.append(
            f"| {one.profile} | {one.hands} | {one.ends['hand_archived']} | {void} | {one.ends['resumed']} "
            f"| {one.steps} | {stray} | {len(one.problems)} |"
        )
    total = sum(one.hands for one in evenings)
    wrong = sum(len(one.problems) for one in evenings)
    lines += [
        "",
        f"{total} hands, {wrong} problems. A problem is a page without a sentence or without a next step, a "
        "hand that goes no further, or stacks that differ from the settlements' own sum.",
        "",
    ]
    return "\n".join(lines)


@click.command()
@click.option("--hands", default=40, show_default=True, help="Hands of each game.")
@click.option("--profile", "profiles", multiple=True, help="A game.  [default: all]")
@click.option("--seed", default=1, show_default=True)
@click.option("--write", type=click.Path(path_type=Path), help="Write the report there, too.")
def main(hands: int, profiles: tuple[str, ...], seed: int, write: Path | None) -> None:
    """Play clumsy evenings; exits with 1 where something is wrong."""
    names = profiles or profile_names()
    evenings = []
    with ProcessPoolExecutor(len(names), mp_context=get_context("spawn")) as pool:  # they mostly wait
        for evening in pool.map(play_alone, names, [hands] * len(names), [seed] * len(names)):
            evenings.append(evening)
            told = f"{evening.profile}: {evening.hands} hands, {evening.steps} steps, {evening.seconds:.0f} s"
            click.echo("\n  ".join((told, *evening.problems)))
    text = report(evenings, seed)
    click.echo(text)
    if write:
        write.write_text(text, encoding="utf-8")
    raise SystemExit(any(one.problems for one in evenings))


if __name__ == "__main__":
    main()
