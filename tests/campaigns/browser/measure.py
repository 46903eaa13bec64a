"""Measures the page on states drawn from play: is nothing cut, does nothing lie on anything, is all on the screen?

python -m tests.campaigns.browser.measure                  320 settlements of all profiles: docs/layout-report.md
python -m tests.campaigns.browser.measure --settlements 8  fewer; writes no report

Each state is shown in four languages at both screens' sizes, by the page's own templates, style and scripts.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click
from playwright.sync_api import Browser, Page, sync_playwright

from dealer_ui.server.app import Settings, create_app
from dealer_ui.text.i18n import COOKIE as LANGUAGE
from dealer_ui.text.i18n import LANGUAGES, speaking
from dealer_ui.view.build import view
from dealer_ui.view.live import Snapshot
from dealer_ui.view.render import parts
from firmware.record_folder import SOCKET
from firmware.rules import paying_in
from firmware.table.house import currency_now
from tests.browser.chrome import launched
from tests.browser.drawn import PROFILES, DrawnState, drawn
from tests.browser.shared_server import OWN_WORKER
from tests.browser.visits import LAYOUT, MEMORY, SETTLED, SIZES
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.served import served
from tests.waiting import DEADLINE

REPORT: Final = Path(__file__).parents[3] / "docs/layout-report.md"
LOOK: Final = Path(__file__).parents[3] / "build/look/misfits"
SETTLEMENTS: Final = 320
HANDS: Final = 5
"""Of one evening: names, stacks and currency are others in the next."""
SCREENS: Final = ("kiosk", "desk")
SHOW: Final = f"""async ({{ html, data }}) => {{
  for (const [id, inner] of Object.entries(html)) document.getElementById(id).innerHTML = inner;
  Object.assign(document.body.dataset, data);
  if (document.querySelector("#asleep:popover-open")) document.getElementById("asleep").hidePopover();
  await new Promise((done) => setTimeout(done));
  return ({LAYOUT})({{ scrolls: false }});
}}"""
"""Shows a state as the page's script does when the stream brings it, then looks for what does not fit."""


STYLED: Final = """style => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets = [sheet];
}"""


@dataclass
class Findings:
    """What was looked at, and what of it does not fit."""

    settlements: Counter[str] = field(default_factory=Counter)
    """By profile."""
    states: Counter[str] = field(default_factory=Counter)
    """By phase."""
    looks: int = 0
    misfits: list[str] = field(default_factory=list)


def evenings(folder: Path, settlements: int, seed: int = 1) -> Iterator[DrawnState]:
    """Play under one profile after the other until so many settlements were seen."""
    seen: set[str] = set()
    for number in range(10**6):
        profile = PROFILES[number % len(PROFILES)]
        for state in drawn(folder / str(number), profile, seed + number // len(PROFILES), HANDS):
            if state.settled:
                seen.add(state.settlement)
            if len(seen) > settlements:
                return
            if _shows(state):
                yield state


def _shows(state: DrawnState) -> bool:
    """Of a settlement the first payment and the end are looked at; of the rest, every sixth state."""
    if state.settled and (not state.state.paid or not state.state.unpaid):
        return True
    return state.seq % 6 == 0


def measure(
    browser: Browser,
    states: Iterable[DrawnState],
    languages: Sequence[str] = tuple(LANGUAGES),
    style: str = "",
) -> Findings:
    """Show every state in these languages at both sizes; `style` is added to the page's own."""
    found = Findings()
    seen: set[str] = set()
    with _pages(browser, languages) as (pages, app):
        for page in pages.values():
            page.evaluate(STYLED, style)
        for state in states:
            found.states[str(state.state.phase)] += 1
            if state.settled and state.settlement not in seen:
                seen.add(state.settlement)
                found.settlements[state.profile] += 1
            for (language, size), page in pages.items():
                with app.app_context(), speaking(language), paying_in(currency_now(state.state)):
                    screen = view(state.seq, state.state, state.rules)
                    html = parts(Snapshot(1, screen))
                data = {"mode": screen.mode, "phase": screen.phase, "hand": str(screen.hand or "")}
                found.looks += 1
                for misfit in page.evaluate(SHOW, {"html": html, "data": data}):
                    click.echo(f"{state.name}, {language}, {size}: {misfit}", err=True)
                    where = f"{state.name}, {language}, {size}"
                    found.misfits.append(f"{where}: {misfit}")
                    _keep(page, where)
    return found


def _keep(page: Page, where: str) -> None:
    LOOK.mkdir(parents=True, exist_ok=True)
    path = LOOK / f"{where.replace(' ', '-').replace(',', '').replace(':', '')}.png"
    if not path.exists():
        path.write_bytes(page.screenshot())


@contextmanager
def _pages(browser: Browser, languages: Sequence[str]) -> Iterator[tuple[dict[tuple[str, str], Page], Any]]:
    """Open the page in each language and size; yields them and their application."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        felt = Felt(Path(folder) / "felt")
        felt.to_settled()
        with felt.answering():
            app = create_app(Settings(felt.folder, felt.folder / SOCKET))
            with served(app) as port:
                contexts, pages = [], {}
                for language in languages:
                    for size in SCREENS:
                        width, height = SIZES[size]
                        context = browser.new_context(
                            viewport={"width": width, "height": height}, reduced_motion="reduce"
                        )
                        contexts.append(context)
                        context.set_default_timeout(1000 * DEADLINE)
                        context.add_init_script(OWN_WORKER)
                        address = f"http://127.0.0.1:{port}/"
                        context.add_cookies([{"name": LANGUAGE, "value": language, "url": address}])
                        page = pages[language, size] = context.new_page()
                        page.goto(address)
                        page.wait_for_selector(f"body[data-seq='{felt.seq}']")
                        page.evaluate(SETTLED)
                try:
                    yield pages, app
                finally:
                    for context in contexts:
                        context.close()
        felt.journal.close()


def report(found: Findings, seconds: float) -> str:
    """Return the report: what was shown, and each misfit."""
    lines = [
        "# Layout on states drawn from play",
        "",
        "Hands of every profile, played by the simulated people with long names, four and five seats, several",
        "units, stacks and currencies, and faults of devices; each state shown in four languages at 800×480 and",
        "1280×720 by the page's own templates and scripts. Looked for: text, cards or buttons that are cut, text or",
        "buttons that lie on others, anything outside the screen (`tests/browser/layout.js`).",
        "",
        "    python -m tests.campaigns.browser.measure",
        "",
        f"{sum(found.settlements.values())} settlements, {sum(found.states.values()):,} states, "
        f"{found.looks:,} looks in {seconds / 60:.0f} minutes: {len(found.misfits)} misfits.",
        "",
        "| profile | settlements |",
        "|---|---|",
        *(f"| {profile} | {count} |" for profile, count in sorted(found.settlements.items())),
        "",
        "| phase | states |",
        "|---|---|",
        *(f"| {phase} | {count} |" for phase, count in sorted(found.states.items())),
        "",
        *(f"- {misfit}" for misfit in found.misfits),
    ]
    return "\n".join(lines).rstrip() + "\n"


@click.command()
@click.option(
    "--settlements", default=SETTLEMENTS, show_default=True, help="How many settlements to play to."
)
@click.option("--seed", default=1, show_default=True, help="Another one plays other evenings.")
def main(settlements: int, seed: int) -> None:
    """Measure the page on states drawn from play; the whole run writes docs/layout-report.md."""
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(dir=MEMORY) as folder,
        sync_playwright() as playwright,
        launched(playwright) as browser,
    ):
        found = measure(browser, evenings(Path(folder), settlements, seed))
    written = report(found, time.monotonic() - began)
    if settlements >= SETTLEMENTS:
        REPORT.write_text(written, encoding="utf-8")
    click.echo(written)
    if found.misfits:
        raise click.ClickException(f"{len(found.misfits)} misfits; pictures in {LOOK}")


if __name__ == "__main__":
    main()
