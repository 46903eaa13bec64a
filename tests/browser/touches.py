"""How many touches a dealer needs, counted on the real page: each is tried by a finger that counts itself.

python -m tests.browser.touches --write        docs/dealer/touches.md again
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from dealer_ui.server.app import Settings, create_app
from dealer_ui.web.services import services
from dealer_ui.web.sessions import COOKIE
from firmware.access.control import AccessControl
from firmware.access.pins import PinStore
from firmware.record_folder import SOCKET
from firmware.table import Phase
from firmware.table import events as ev
from firmware.table.people import Role
from tests.browser.chrome import launched
from tests.browser.dealer import hold, key_pin
from tests.dealer_ui.felt import HANDS, Felt
from tests.dealer_ui.past import played
from tests.dealer_ui.served import served
from tests.waiting import DEADLINE, until

PAGE: Final = Path(__file__).parents[2] / "docs/dealer/touches.md"
DECK: Final = tuple(rank + suit for suit in "shdc" for rank in "23456789TJQKA")
WHITE: Final = ".strip button:has(.lamp-white)"
FLOOR: Final = "Moreno F."
PIN: Final = "258053"
ON_SCREEN: Final = """button => {
  const at = button.getBoundingClientRect();
  const there = document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2);
  return there !== null && (button.contains(there) || there.contains(button));
}"""
"""Whether a finger could touch it where it stands now."""
THREE: Final = {1: "A", 2: "B", 3: "C"}


@dataclass
class Finger:
    """Touches the page of a felt, and counts."""

    felt: Felt
    page: Page
    came: list[dict[str, Any]]
    """The commands that reached the table."""
    count: int = 0
    keyed_pin: bool = False

    @property
    def won(self) -> int:
        """What Lin won in hand 1, in cents: the chips that are added lie beside it."""
        return 23_000

    def tap(self, what: str | Locator) -> None:
        """Touch what takes touches: nothing fresh is on the page then."""
        self.page.wait_for_selector(f"body[data-seq='{self.felt.seq}']", state="attached")
        expect(self.page.locator(".fresh")).to_have_count(0)
        button = self.page.locator(what) if isinstance(what, str) else what
        if not button.evaluate(ON_SCREEN):
            self.count += 1  # a finger scrolls to it first
        if button.get_attribute("data-hold") is None:
            button.tap()
        else:
            hold(button)
        self.count += 1

    def key_pin(self) -> None:
        """Key the name and the PIN that the page asks for, and go on to where it leads. Counted apart."""
        key_pin(self.page, PIN, FLOOR[:3])
        self.page.wait_for_selector(".tabs")
        self.keyed_pin = True

    def named(self, words: str) -> Locator:
        """Return the button that says so."""
        return self.page.get_by_role("button", name=words)

    def until(self, so: Callable[[], object]) -> None:
        """Wait while the page goes on."""
        until(so, lambda seconds: self.page.wait_for_timeout(1000 * seconds))

    def until_phase(self, phase: Phase) -> None:
        """Wait for the record and the page."""
        self.until(lambda: self.felt.state.phase is phase)
        self.page.wait_for_selector(f"body[data-phase='{phase}']", state="attached")


def confirm_natural(finger: Finger) -> None:
    """Confirm a natural."""
    finger.tap(finger.named("Confirm the natural"))
    finger.until_phase(Phase.SETTLED)


def pay(finger: Finger) -> None:
    """Pay a hand of four."""
    for left in range(5, -1, -1):
        finger.tap(WHITE)
        finger.until(lambda left=left: len(finger.felt.state.unpaid) == left)  # type: ignore[misc]


def undo(finger: Finger) -> None:
    """Take a payment back that was marked by mistake."""
    finger.tap(finger.named("Undo"))
    finger.until(lambda: not finger.felt.state.paid)


def name_unsure_card(finger: Finger) -> None:
    """Say which card an unsure one is."""
    finger.tap(".candidate >> nth=0")
    finger.until(lambda: not finger.felt.state.questions)


def correct_card(finger: Finger) -> None:
    """Correct a card."""
    finger.tap(finger.page.get_by_label("Seat 1, Lin: look closer"))
    finger.tap(finger.page.get_by_label("Correct: Seat 1 · front, card 3"))
    finger.tap("#pad [data-card=Kc]")
    finger.until(lambda: "Kc" in _row(finger, 1, "front"))


def correct_card_to_a_name_that_lies(finger: Finger) -> None:
    """Correct a card whose name was read at another seat, four hands on the table."""
    finger.tap(finger.page.get_by_label("Seat 1, Lin: look closer"))
    finger.tap(finger.page.get_by_label("Correct: Seat 1 · front, card 3"))
    expect(finger.page.locator("#pad .key")).to_contain_text("change places")
    finger.tap("#pad [data-card=Kc]")
    finger.until(lambda: "Kc" in _row(finger, 1, "front") and "7c" in _row(finger, 4, "back"))
    assert finger.felt.state.phase is Phase.SETTLED


def correct_row(finger: Finger) -> None:
    """Correct a row in which two cards are wrong."""
    finger.tap(finger.page.get_by_label("Seat 1, Lin: look closer"))
    finger.tap(finger.page.locator("#look-A").get_by_role("button", name="Key the front"))
    old = _row(finger, 1, "front")
    for code in (old[1], old[2], "Kc", "Jc"):
        finger.tap(f"#pad [data-card='{code}']")
    finger.until(lambda: _row(finger, 1, "front") == [old[0], "Kc", "Jc"])


def key_hand(finger: Finger) -> None:
    """Key a whole hand of four without a camera."""
    page = finger.page
    keyed: set[str] = set()
    for seat in (1, 2, 3, 4):
        for row, cards in zip(ev.ROWS, HANDS[seat], strict=True):
            if (seat, row) == (4, "back"):
                break  # the deck's last row is what is left
            page.wait_for_selector(f"#pad-title:has-text('Seat {seat} · {row}')")
            todo = cards.split()
            while todo:
                alike = [code for code in todo if code[0] == todo[0][0]]
                left = [code for code in DECK if code[0] == todo[0][0] and code not in keyed]
                whole = len(alike) > 1 and sorted(alike) == sorted(left)  # all that are left of the rank
                finger.tap(f"#pad [data-rank='{todo[0][0]}']" if whole else f"#pad [data-card='{todo[0]}']")
                done = alike if whole else todo[:1]
                keyed.update(done)
                todo = [code for code in todo if code not in done]
    finger.until_phase(Phase.SETTLED)


def add_chips(finger: Finger) -> None:
    """Add $500 to a player's chips."""
    finger.tap(finger.page.locator(".players li", has_text="Lin").locator("[data-amount]").first)
    finger.tap("#keypad [data-chip='50000']")
    finger.until(lambda: finger.felt.state.stacks["Lin"] == 100_000 + finger.won + 50_000)


def say_surrender(finger: Finger) -> None:
    """Say at the showdown that a player has surrendered without a word."""
    finger.tap(finger.named("Surrendered"))
    finger.until(lambda: finger.felt.state.phase is Phase.SHOWDOWN and _surrenders(finger.felt, 4))


def _surrenders(felt: Felt, number: int) -> bool:
    seat = felt.state.seat(number)
    return seat is not None and seat.surrenders


def void(finger: Finger) -> None:
    """Call a misdeal, or void a hand."""
    finger.tap("[data-open=more-dialog]")
    finger.tap("[data-open=stops-dialog]")
    finger.tap(finger.page.locator("#stops button[data-command*='misdeal']").first)
    finger.until(lambda: finger.felt.state.phase is Phase.VOID)


def put_on_stick(finger: Finger) -> None:
    """Have the dispute file of an earlier hand put on a stick, a floor person signed on."""
    finger.tap("[data-open=more-dialog]")
    finger.tap("#more a[href='/review/1']")
    finger.tap(".tabs a[href$='/dispute']")
    finger.page.wait_for_selector("body[data-ready] [data-stick]")
    finger.tap("[data-stick]")
    # tests/browser/test_stick.py: and it comes there
    finger.until(lambda: finger.came and finger.came[-1].get("stick"))


def see_picture(finger: Finger) -> None:
    """A hand of three hands ago with its picture."""
    finger.tap("[data-open=more-dialog]")
    finger.tap("#more a[href='/review/1']")
    finger.tap(".tabs a[href$='/look']")
    finger.key_pin()
    expect(finger.page.locator("svg.frame image")).to_be_visible()


def open_dispute(finger: Finger) -> None:
    """Open what is disputed about the hand of three hands ago."""
    finger.tap("[data-open=more-dialog]")
    finger.tap("#more a[href='/review/1']")
    finger.tap(".tabs a[href$='/dispute']")
    finger.key_pin()
    expect(finger.page.locator("[data-command*='\"reopen\"']").first).to_be_visible()


def reopen_beside(finger: Finger) -> None:
    """Reopen an earlier hand while one is being played, which waits."""
    reopen(finger)
    finger.until(lambda: finger.felt.state.waiting is not None)


def reopen(finger: Finger) -> None:
    """Reopen the hand of three hands ago."""
    finger.tap("[data-open=more-dialog]")
    finger.tap("#more a[href='/review/1']")
    finger.tap(".tabs a[href$='/dispute']")
    finger.key_pin()
    finger.page.wait_for_selector("body[data-ready]")
    finger.tap(finger.page.locator("[data-command*='\"reopen\"']").first)
    finger.until(lambda: finger.felt.state.reopened and finger.felt.state.hand == 1)


def _row(finger: Finger, seat: int, row: ev.Row) -> list[str]:
    found = finger.felt.state.seat(seat)
    assert found is not None
    return [str(card.card) for card in found.row(row)]


def _unsure(felt: Felt) -> None:
    felt.to_setting()
    felt.to_reading()
    felt.read(unsure={(2, "front", 1): ("9d", "6d")})


def without_camera(felt: Felt) -> None:
    felt.to_setting()
    felt.do("key_hand", reason="The camera does not read.")
    felt.do("next")


def _an_earlier_hand(felt: Felt) -> None:
    felt.say(ev.PersonListed(FLOOR, Role.FLOOR, "0" * 16))
    felt.to_archived()
    felt.to_settled()


def _nothing_at_seat_4(felt: Felt) -> None:
    felt.to_setting()
    felt.to_reading()
    felt.say(ev.CardsAwaited((4,), (4,)))


def _four_hands(felt: Felt) -> None:
    felt.access = AccessControl(PinStore(felt.folder), lambda: 0.0)
    felt.say(ev.PersonListed(FLOOR, Role.FLOOR, PinStore(felt.folder).keep(PIN)))
    for _hand in range(4):
        played(felt)


def _beside_a_hand(felt: Felt) -> None:
    _four_hands(felt)
    felt.to_setting()


@dataclass(frozen=True)
class Task:
    """What is tried: from where, by what, on which felt, and how many touches it may take."""

    begin: Callable[[Felt], object]
    do: Callable[[Finger], None]
    limit: int
    seats: Mapping[int, str] | None = None
    profile: str = ""
    """The game, where it is not the usual one."""
    floor: bool = False
    """Whether a floor person is signed on."""
    pin: bool = False
    """Whether a PIN is keyed in addition to the touches."""

    @property
    def title(self) -> str:
        """What a person calls it."""
        return str(self.do.__doc__).rstrip(".")

    @property
    def beside(self) -> str:
        """What is keyed in addition to the touches."""
        return " + PIN" if self.pin else ""


TASKS: Final = (
    Task(Felt.to_natural, confirm_natural, 1),
    Task(Felt.to_settled, pay, 6),
    Task(lambda felt: (felt.to_settled(), felt.pay()), undo, 1),
    Task(_unsure, name_unsure_card, 2),
    Task(Felt.to_settled, correct_card, 3, THREE),
    Task(Felt.to_settled, correct_card_to_a_name_that_lies, 3),
    Task(Felt.to_settled, correct_row, 6, THREE),
    Task(without_camera, key_hand, 45),
    Task(Felt.to_archived, add_chips, 2),
    Task(_nothing_at_seat_4, say_surrender, 1, profile="poker-flush-eastern"),
    Task(Felt.to_setting, void, 3),
    Task(_four_hands, see_picture, 3, pin=True),
    Task(_four_hands, open_dispute, 3, pin=True),
    Task(_four_hands, reopen, 4, pin=True),
    Task(_beside_a_hand, reopen_beside, 4, pin=True),
    Task(_an_earlier_hand, put_on_stick, 4, floor=True),
)


@contextmanager
def on_page(browser: Browser, folder: Path, task: Task) -> Iterator[Finger]:
    """Open the page of a felt on which the task is to be done."""
    made: dict[str, Any] = {"seats": task.seats} if task.seats else {}
    with ExitStack() as stack:
        if task.profile:
            made |= {"profile": task.profile, "options": {}}
        felt = Felt(folder, **made)
        stack.callback(felt.journal.close)
        if task.seats:
            felt.hands = {seat: HANDS[seat] for seat in task.seats}
        task.begin(felt)
        came = stack.enter_context(felt.answering())
        app = create_app(Settings(felt.folder, felt.folder / SOCKET))
        port = stack.enter_context(served(app))
        context = browser.new_context(has_touch=True, viewport={"width": 800, "height": 480})
        stack.callback(context.close)
        context.set_default_timeout(1000 * DEADLINE)
        if task.floor:
            signed_on = {"session": "s", "role": Role.FLOOR, "name": FLOOR, "expires_s": 120}
            token = services(app).sessions.begin(signed_on)
            context.add_cookies([{"name": COOKIE, "value": token, "url": f"http://127.0.0.1:{port}"}])
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_selector("body[data-seq]", state="attached")
        yield Finger(felt, page, came)


def counted(browser: Browser, folder: Path, task: Task) -> int:
    """Do it; return how many touches it took."""
    with on_page(browser, folder, task) as finger:
        task.do(finger)
        assert finger.keyed_pin is task.pin
        return finger.count


def table(counts: Mapping[str, int]) -> str:
    """Return the page of the book."""
    tasks = {task.title: task for task in TASKS}
    lines = [
        f"| {title} | {count}{tasks[title].beside} | {tasks[title].limit}{tasks[title].beside} |"
        for title, count in counts.items()
    ]
    return "\n".join(
        (
            "# How many touches",
            "",
            "Counted by a finger on the real page at 800×480 (`python -m tests.browser.touches --write`).",
            "A test counts them again. To press and hold is one touch; so is to scroll to what is not on the screen.",
            "“+ PIN”: in addition a floor person keys a name and a PIN. If a card is corrected to one that was read",
            "at another seat, the screen asks about that other card, too; with four hands the two change places.",
            "",
            "| what | touches | at most |",
            "|---|---|---|",
            *lines,
            "",
        )
    )


def told() -> dict[str, int]:
    """Return what the book says: touches by task."""
    found = re.findall(
        r"^\| (.+?) \| (\d+)(?: \+ PIN)? \| \d", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {title: int(count) for title, count in found}


@click.command()
@click.option("--write", is_flag=True, help="Write the book's page.")
def main(write: bool) -> None:
    """Count the touches of every task."""
    counts: dict[str, int] = {}
    with sync_playwright() as playwright, launched(playwright) as browser:
        for number, task in enumerate(TASKS):
            with tempfile.TemporaryDirectory() as folder:
                counts[task.title] = counted(browser, Path(folder) / str(number), task)
                click.echo(f"{task.title}: {counts[task.title]} of at most {task.limit}")
    if write:
        PAGE.write_text(table(counts), encoding="utf-8")


if __name__ == "__main__":
    main()
