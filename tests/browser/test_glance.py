"""The dealer's page in a real browser, on a real journal."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from firmware.table import Phase
from firmware.table import events as ev
from tests.browser.conftest import SIZES, Screen, Show, each_size
from tests.browser.states import camera_dead, natural_not_verified
from tests.browser.visits import SETTLED
from tests.dealer_ui.felt import HANDS, SIX_PAIRS_DEALT, Felt

pytestmark = pytest.mark.browser


# ---- live ----


def test_a_settled_hand_is_shown_with_its_cards_and_its_payment(show: Show) -> None:
    screen = show(Felt.to_settled)
    page = screen.page
    assert page.inner_text(".amount") == "$55"
    assert page.inner_text(".who >> nth=0")
    assert page.locator(".place .card[aria-label='ace of spades']").is_visible()
    assert page.locator(".place .card").count() == 52
    assert page.inner_text(".place-C .flag.foul") == "FOUL · middle above back"
    assert not screen.trouble


def test_a_card_is_readable_at_forty_pixels_without_any_font_for_its_suit(show: Show) -> None:
    page = show(Felt.to_settled, size="desk").page
    card = page.locator(".place .card").first
    box = card.bounding_box()
    suit, rank = (card.locator(f"svg.{sign}").bounding_box() for sign in ("suit", "rank"))
    assert box is not None
    assert suit is not None
    assert rank is not None
    assert box["height"] >= 40
    assert suit["width"] >= 15
    assert rank["height"] >= 4 * 1280 / 155
    assert page.locator(".place").all_inner_texts() == [
        text for text in page.locator(".place").all_inner_texts() if not set(text) & set("♠♥♦♣")
    ]


def test_what_happens_at_the_table_comes_to_the_page_by_itself(show: Show) -> None:
    screen = show()
    assert screen.page.inner_text(".phase") == "Waiting for a hand"
    screen.felt.deal()
    screen.wait_for_phase("dealing")
    screen.felt.go_on()
    screen.felt.to_reading()
    screen.felt.read()
    screen.wait_for_phase("settled")
    assert screen.page.inner_text(".amount") == "$55"
    assert not screen.trouble


def test_a_page_that_lost_its_server_says_so_and_comes_back_by_itself(show: Show) -> None:
    screen = show(Felt.to_settled, killable=True)
    page = screen.page
    assert screen.process is not None
    screen.wait_for_news()
    screen.process.kill()
    page.wait_for_selector("#notlive", state="visible")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.locator(".strip .go").tap(force=True)
    screen.felt.pay()
    screen.process.start()
    page.wait_for_selector("#notlive", state="hidden")
    assert page.inner_text(".amount") == "$25", "what is old is not called live"
    assert sent == [], "nothing is sent from a page that is not live"
    page.locator(".strip .go").tap()
    screen.wait_for_amount("$60")
    assert [command["do"] for command in screen.came] == ["mark_paid"], "with the new server's token"


# ---- touches ----


def test_payments_are_stepped_through_and_taken_back(show: Show) -> None:
    screen = show(Felt.to_settled)
    page = screen.page
    for amount in ("$25", "$60", "$45"):
        page.locator(".strip .go").tap()
        screen.wait_for_amount(amount)
        screen.until(lambda: page.locator(".fresh").count() == 0)  # what has just come takes no touch
    page.get_by_text("Undo 2 ▸ 1").tap()
    screen.wait_for_amount("$60")
    assert screen.felt.state.paid == {(2, 3), (2, 4)}


def test_two_touches_in_a_row_mark_one_payment(show: Show) -> None:
    screen = show(Felt.to_settled)
    screen.page.locator(".strip .go").dblclick()
    screen.wait_for_amount("$25")
    screen.until(lambda: screen.page.locator(".fresh, [data-sending]").count() == 0)
    assert [command["do"] for command in screen.came] == ["mark_paid"]


TWICE_MS = 350
"""`feltwatch.js` takes a touch this soon after another for the same one."""


def test_a_touch_whose_answer_was_lost_is_sent_again_as_the_same_one(show: Show) -> None:
    screen = show(Felt.to_settled)
    page = screen.page
    sent: list[dict[str, object]] = []

    def lose_the_first(route: Route) -> None:
        sent.append(json.loads(route.request.post_data or ""))
        if len(sent) == 1:
            route.abort()
        else:
            route.continue_()

    page.route("**/command*", lose_the_first)
    pay = page.locator(".strip .go")
    pay.tap()
    screen.until(lambda: page.locator("#error").is_visible())
    screen.until(lambda: page.locator("[data-sending]").count() == 0)
    page.wait_for_timeout(TWICE_MS)
    pay.tap()
    screen.wait_for_amount("$25")
    assert len(sent) == 2
    assert sent[0] == sent[1]
    assert screen.came == [sent[0]], "done once"


def unsure(felt: Felt) -> None:
    felt.to_setting()
    felt.to_reading()
    felt.read({(3, "middle", 1): ("Td", "Th", "Jd")})


def test_a_touch_on_a_candidate_answers_and_settles(show: Show) -> None:
    screen = show(unsure)
    page = screen.page
    assert page.inner_text("h1") == "Which card is it?"
    assert page.locator(".candidate").count() == 3
    page.get_by_label("It is the ten of diamonds").tap()
    screen.wait_for_phase("settled")
    sent = {"do": "set_card", "seat": 3, "row": "middle", "index": 1, "card": "Td", "hand": 1}
    assert screen.came == [sent | {"id": screen.came[0]["id"]}]
    assert page.inner_text(".amount") == "$55"


# What a finger meets at this place in the moment in which something there was replaced: judged in the page, as
# a second touch from here would come too late on a busy machine.
WATCH_THE_FINGER = """([x, y]) => {
  window.meets = null;
  new MutationObserver(() => {
    if (window.meets !== null || !document.querySelector(".fresh")) return;
    const met = document.elementFromPoint(x, y);
    window.meets = Boolean(met && met.closest("button"));
  }).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["class"] });
}"""


def tapped_twice(screen: Screen, button: str) -> tuple[float, float]:
    """Tap a button; the touch that follows at once meets nothing. Returns the place."""
    box = screen.page.locator(button).first.bounding_box()
    assert box is not None
    where = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    screen.page.evaluate(WATCH_THE_FINGER, where)
    screen.page.touchscreen.tap(*where)
    screen.until(lambda: screen.page.evaluate("window.meets") is not None)
    assert not screen.page.evaluate("window.meets"), "a hasty second touch reaches what has just come"
    screen.until(lambda: screen.page.locator(".fresh").count() == 0)
    return where


def test_a_hasty_second_touch_does_not_answer_the_next_question(show: Show) -> None:
    def two_unsure(felt: Felt) -> None:
        felt.to_setting()
        felt.to_reading()
        felt.read({(3, "middle", 1): ("Td", "Th", "Jd"), (4, "front", 0): ("Js", "Jc", "Qs")})

    screen = show(two_unsure)
    where = tapped_twice(screen, ".candidate")
    assert len(screen.came) == 1
    screen.page.touchscreen.tap(*where)
    screen.wait_for_phase("settled")


def test_a_hasty_second_touch_is_not_the_showdown_signal(show: Show) -> None:
    screen = show(Felt.deal)
    where = tapped_twice(screen, ".strip .go")
    screen.wait_for_phase("setting")
    screen.page.touchscreen.tap(*where)
    screen.until(lambda: screen.felt.state.phase is Phase.SHOWDOWN)


def test_the_pad_names_any_card_and_shows_which_lie_already(show: Show) -> None:
    screen = show(unsure)
    page = screen.page
    page.get_by_text("Another card…").tap()
    assert page.locator("#pad [data-card]").count() == 52
    assert page.locator("#pad [data-card=Ah]").get_attribute("data-at") == "1"
    assert page.locator("#pad [data-card=Td]").get_attribute("data-at") == ""
    page.locator("#pad [data-card=Td]").tap()
    screen.wait_for_phase("settled")


def test_a_row_is_keyed_card_by_card(show: Show) -> None:
    def short_row(felt: Felt) -> None:
        felt.hands[4] = (*HANDS[4][:2], "Qs Qc 7d 7s")
        felt.to_settled()

    screen = show(short_row)
    page = screen.page
    page.get_by_text("Key the row…").tap()
    done = page.locator("#pad-done")
    expect(page.locator("#pad [aria-pressed=true]")).to_have_count(4)  # those that are read stand there
    page.locator("#pad [data-card='7d']").tap()  # taken back
    expect(done).to_be_disabled()
    page.locator("#pad [data-card='7d']").tap()
    page.locator("#pad [data-card=Kc]").tap()  # the last one sends the row
    screen.wait_for_phase("settled")
    assert screen.came[-1]["cards"] == "Qs Qc 7d 7s Kc"


def test_a_touched_card_is_corrected_on_the_pad(show: Show) -> None:
    screen = show(Felt.to_settled, seats={1: "A", 2: "B", 3: "C"})
    page = screen.page
    page.get_by_label("Seat 1, Lin: look closer").tap()
    page.get_by_label("Correct: Seat 1 · front, card 3").tap()
    expect(page.locator("#pad-title")).to_contain_text("seven of clubs")
    page.locator("#pad [data-card=Ks]").tap()  # lies at seat 2: the page asks which of the two it is
    page.wait_for_selector("h1:has-text('King of spades: read twice')")
    assert screen.felt.state.phase is Phase.REVIEW


def test_a_natural_is_declared_withdrawn_and_confirmed_by_touch(show: Show) -> None:
    def six_pairs(felt: Felt) -> None:
        felt.hands = dict(SIX_PAIRS_DEALT)
        felt.to_setting()

    screen = show(six_pairs)
    page = screen.page
    page.locator(".place-B").get_by_text("Declare").tap()
    page.locator(".place-B").get_by_text("Take it back").tap()
    page.locator(".place-A").get_by_text("Declare").tap()
    page.wait_for_selector(".place-A .flag >> text=Natural declared")
    screen.felt.to_reading()
    screen.felt.read()
    page.wait_for_selector("h1:has-text('Six pairs')")
    page.get_by_text("Confirm the natural").tap()
    screen.wait_for_phase("settled")
    assert page.inner_text(".place-A .flag") == "Natural · Six pairs"


# Keeps what would be done at the end of a hold, in the place of doing it: however busy the machine, it is not over yet.
KEEP_THE_HOLD = """() => {
  const after = window.setTimeout, never = window.clearTimeout;
  window.setTimeout = (does, ms) => ms === 900 ? (window.held = does, "hold") : after(does, ms);
  window.clearTimeout = (which) => which === "hold" ? (window.held = null) : never(which);
}"""


def test_a_hand_is_voided_only_by_press_and_hold(show: Show) -> None:
    screen = show(Felt.to_setting)
    page = screen.page
    page.locator("[data-open=more-dialog]").tap()
    page.locator("[data-open=stops-dialog]").tap()
    page.evaluate(KEEP_THE_HOLD)
    misdeal = page.get_by_role("button", name="Dealer's error")
    misdeal.click()
    assert page.evaluate("() => window.held") is None, "a hold began, and ended with the touch"
    assert screen.came == []
    misdeal.hover()
    page.mouse.down()
    page.evaluate("() => window.held()")
    screen.wait_for_phase("void")
    assert screen.felt.state.void_reason == "Dealer's error"


def held(screen: Screen, dialog: str) -> bool:
    """Begin a hold where none has begun; say whether one goes on."""
    page = screen.page
    if page.evaluate("() => window.held === undefined"):
        screen.wait_for_news()
        if dialog == "stops-dialog":
            page.locator("[data-open=more-dialog]").tap()
        page.locator(f"[data-open={dialog}]").tap()
        page.evaluate(KEEP_THE_HOLD)
        page.locator(f"#{dialog} button[data-hold]").first.hover()
        page.mouse.down()
    return bool(page.evaluate("() => Boolean(window.held)"))


def test_a_hold_ends_with_the_phase_that_it_was_meant_for(show: Show) -> None:
    screen = show(Felt.to_setting)
    assert held(screen, "stops-dialog")
    screen.felt.to_reading()
    screen.wait_for_phase("reading")
    assert not held(screen, "stops-dialog")


def test_a_hold_ends_with_the_button_that_it_was_meant_for(show: Show) -> None:
    screen = show(Felt.to_settled)
    assert held(screen, "chips-dialog")
    screen.felt.pay()
    screen.wait_for_news()
    assert not held(screen, "chips-dialog")


def test_a_hold_ends_with_the_line_to_the_table(show: Show) -> None:
    screen = show(Felt.to_setting, killable=True)
    assert held(screen, "stops-dialog")
    assert screen.process is not None
    screen.process.kill()
    screen.wait_for("body[data-notlive]")
    assert not held(screen, "stops-dialog")


def test_a_refusal_is_shown_as_the_tables_sentence(show: Show) -> None:
    screen = show(Felt.to_setting)
    page = screen.page
    page.route("**/command", lambda route: route.continue_(post_data='{"do": "next", "hand": 7}'))
    page.locator(".strip .go").tap()
    page.wait_for_selector("#error", state="visible")
    expect(page.locator("#error")).to_have_text("That was meant for hand 7; the table is at hand 1.")


def test_the_missing_button_is_keyed_on_a_pad_of_seats(show: Show) -> None:
    screen = show(lambda felt: felt.to_setting(button=None))
    screen.page.get_by_role("button", name="Seat 3 · Okafor").tap()
    screen.page.wait_for_selector(".place-C .puck")
    assert screen.felt.state.button == 3


# ---- looks ----


def twice(felt: Felt) -> None:
    felt.hands[4] = (*HANDS[4][:2], "Qs Qc 7d 7s Ah")
    felt.to_settled()


STATES: dict[str, Callable[[Felt], object]] = {
    "idle": lambda felt: None,
    "dealing": lambda felt: felt.deal(button=None),
    "setting": Felt.to_setting,
    "reading": lambda felt: (felt.to_setting(), felt.to_reading()),
    "card": unsure,
    "twice": twice,
    "dead camera": camera_dead,
    "button": lambda felt: felt.to_setting(button=None),
    "settled": Felt.to_settled,
    "six lines": lambda felt: (felt.to_settled(), felt.pay(), felt.pay()),
}

OVERFLOWING = """() => {
    const found = [];
    const root = document.documentElement;
    if (root.scrollWidth > innerWidth || root.scrollHeight > innerHeight) found.push("the page itself");
    const shown = (e) => e.checkVisibility() && !e.closest("dialog:not([open])");
    const outer = "main, .place, .centre, .need, .question, .bar, .strip, .payments, .place > header, .seatactions";
    for (const e of document.querySelectorAll(outer)) {
        if (!shown(e)) continue;
        if (e.scrollWidth > e.clientWidth + 1) found.push("wide: " + (e.id || e.className));
        // a header's glyphs may reach out of its line without touching anything
        if (!e.matches("header") && e.scrollHeight > e.clientHeight + 1) found.push("high: " + (e.id || e.className));
    }
    for (const e of document.querySelectorAll("body *")) {
        const box = e.getBoundingClientRect();
        if (shown(e) && box.width && (box.right > innerWidth + 1 || box.left < -1)) found.push("off: " + e.className);
    }
    for (const total of document.querySelectorAll(".total")) {
        const said = total.closest(".place").querySelector(".flags, .player").getBoundingClientRect();
        const own = total.getBoundingClientRect();
        const beside = said.bottom > own.top && said.top < own.bottom;
        if (beside && said.right > own.left + 1) found.push("overlap: " + total.textContent);
    }
    return found;
}"""

SMALL = """(least) => [...document.querySelectorAll("button")]
    .filter((e) => e.checkVisibility() && !e.classList.contains("slot"))
    .map((e) => [e.innerText.trim() || e.ariaLabel, e.getBoundingClientRect()])
    .filter(([, box]) => box.width < least || box.height < least)
    .map(([name, box]) => `${name}: ${box.width} x ${box.height}`)"""


@each_size
def test_nothing_overflows_or_overlaps_and_every_target_is_nine_millimetres(show: Show, size: str) -> None:
    """On a 7-inch screen 154 mm wide. One window, one state after another."""
    screen = show(size=size)
    least = 9 * SIZES[size][0] / 154 - 0.5
    found: dict[str, list[str]] = {}
    for name, prepare in STATES.items():
        if screen.felt.state.phase is not Phase.IDLE:
            screen.felt.do("void", reason="a test")
            screen.felt.hands = dict(HANDS)
            screen.felt.say(ev.PuckSeen("none"), ev.DeviceRecovered("camera"))
        prepare(screen.felt)
        screen.wait_for_news()
        screen.page.evaluate(SETTLED)
        found[name] = screen.page.evaluate(OVERFLOWING) + screen.page.evaluate(SMALL, least)
    assert found == {name: [] for name in STATES}
    assert not screen.trouble


@each_size
def test_large_sums_and_long_names_stay_in_their_place(
    show: Show, size: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tests.dealer_ui.felt.PLAYERS", {seat: f"{seat} Wolfeschlegelsteinhausen" for seat in range(1, 5)}
    )
    screen = show(lambda felt: (felt.to_settled(), felt.pay()), size=size, unit=12_345, stack=None)
    assert screen.page.inner_text(".place-C .inall b") == "−$4,938"
    assert screen.page.evaluate(OVERFLOWING) == []


@pytest.mark.exhaustive  # the states look at each of them
def test_the_pad_and_the_other_dialogs_fit_the_smallest_screen(show: Show) -> None:
    screen = show(Felt.to_settled)
    page = screen.page
    for opener, dialog in (
        ("[data-open=more-dialog]", "#more-dialog"),
        (".payments", "#details-dialog"),
        (".place-C .cover", "#look-C"),
    ):
        page.locator(opener).first.tap()
        expect(page.locator(dialog)).to_be_visible()
        box = page.locator(dialog).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= 800
        assert box["y"] + box["height"] <= 480
        assert page.locator(dialog).evaluate("(e) => e.scrollWidth <= e.clientWidth")
        page.locator(f"{dialog} [data-close]").tap()


# ---- while a question is open ----


def test_any_seat_is_looked_at_and_corrected_from_its_place_beside_an_open_question(show: Show) -> None:
    screen = show(natural_not_verified)
    page = screen.page
    page.locator(".mini [data-open='look-A']").tap()
    expect(page.locator("#look-A")).to_be_visible()
    page.locator("#look-A button[data-pad]").first.tap()
    page.locator("#pad [data-card='2d']").tap()
    screen.until(lambda: screen.came)
    assert {name: screen.came[0][name] for name in ("do", "seat", "row", "index", "card")} == {
        "do": "set_card", "seat": 1, "row": "front", "index": 0, "card": "2d",
    }  # fmt: skip


def test_a_payments_reasons_stay_while_a_device_does_not_work(show: Show) -> None:
    def with_fault(felt: Felt) -> None:
        felt.to_settled()
        felt.say(ev.DeviceFault("puck", "The cable is out."))

    page = show(with_fault).page
    expect(page.locator(".bar .alert")).to_contain_text("The puck is not seen")
    expect(page.locator(".centre .notice")).to_have_count(0)
    expect(page.locator(".centre .reasons li")).to_have_count(3)
