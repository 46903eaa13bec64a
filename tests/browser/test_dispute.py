"""A dispute from the player's word to the file that proves it: a finger in a real Chromium, a real table process."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dealer_ui.server.app import Settings, create_app
from firmware.access.pins import PinStore
from firmware.cli.dispute_pdf_hook import dispute_pdf
from firmware.record.evidence.anchors import sign_head
from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.clocks import now
from firmware.record.journal.journal import Journal
from firmware.record.stick_request import StickDesk
from firmware.runtime.config import Config, KeepingConfig
from firmware.runtime.house_config import prepare_house
from firmware.runtime.maintenance import RecordMaintenance
from firmware.runtime.table_devices import Devices
from firmware.runtime.table_process import TableProcess
from firmware.table import events as ev
from firmware.table.people import Role
from tests.browser.conftest import own_window
from tests.browser.dealer import Dealer, key_pin
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.house import NO_FANTASY_LAND, config
from tests.dealer_ui.past import played, ticking
from tests.dealer_ui.served import served
from tests.firmware.running_table import FakeReadings
from tests.waiting import DEADLINE

pytestmark = pytest.mark.browser


@dataclass
class Box:
    """A box with a past hand, its page and a dealer's finger."""

    page: Page
    dealer: Dealer
    address: str


def sign(felt: Felt, key: DeviceKey) -> None:
    """Sign the head, as a table does after each hand."""
    seq, digest = felt.journal.head
    felt.say(sign_head(key, seq=seq, digest=digest, hands=felt.state.last_hand, wall_ms=0, table=""))


@pytest.fixture
def box(chromium: Browser, tmp_path: Path) -> Iterator[Box]:
    with ExitStack() as stack:
        data = tmp_path / "d"
        felt = Felt(data, clock=ticking())
        felt.say(ev.PersonListed("Moreno F.", Role.FLOOR, PinStore(data).keep("258053")))
        key = DeviceKey.open(tmp_path / "key")
        felt.say(ev.KeyAnnounced(key.public.hex()))
        played(felt)
        sign(felt, key)
        felt.deal()
        felt.do("void", reason="Misdeal")
        sign(felt, key)
        felt.journal.close()
        made = config(
            data, profile="california-face-up", options={**felt.options, **NO_FANTASY_LAND}, unit=500
        )
        stack.enter_context(running(made, tmp_path / "key"))
        port = stack.enter_context(served(create_app(Settings(made.data, made.socket))))
        page = own_window(chromium)
        stack.callback(page.close)
        yield Box(page, Dealer(page, data), f"http://127.0.0.1:{port}")


def running(made: Config, key: Path, stick: StickDesk | None = None) -> ExitStack:
    """Run the table process, with who keeps its record, until the stack is closed."""
    stack = ExitStack()
    journal = Journal(made.data)
    stack.callback(journal.close)
    process = TableProcess(
        made.data,
        journal,
        prepare_house(made, journal),
        Devices(None, None, None),
        FakeReadings(),
        made.socket,
        0.0,
        maintenance=RecordMaintenance(made.data, journal, key, KeepingConfig(), now, dispute_pdf, stick),
    )
    thread = threading.Thread(target=process.run)
    thread.start()
    stack.callback(thread.join)
    stack.callback(process.stop)
    return stack


def touch(page: Page, selector: str) -> None:
    """Touch the first that matches, once the page hears it."""
    page.locator(f"body[data-ready] {selector}").first.tap()


def test_looking_at_evidence_keeps_the_session_and_its_time_left_is_on_the_screen(box: Box) -> None:
    page = box.page
    page.goto(f"{box.address}/review/1/look")
    key_pin(page, "258053", "moreno")
    left = page.locator("#session [data-left]")
    expect(left).to_have_text(re.compile(r"[45]:\d\d left"))
    page.goto(box.address)
    expect(left).to_have_text(re.compile(r"0:\d\d left"))


def test_a_dispute_goes_from_the_list_to_a_file_that_a_bare_python_verifies(box: Box, tmp_path: Path) -> None:
    page, dealer = box.page, box.dealer
    page.goto(box.address)
    page.wait_for_selector("body[data-seq]")

    # the hand, in two touches
    page.locator("[data-open=more-dialog]").tap()
    page.locator("#more a[href='/review/1']").tap()
    expect(page.locator(".recalled")).to_contain_text("Not live")
    expect(page.locator(".settled")).not_to_contain_text("foul.points")

    # its picture, for anyone who has a PIN; a card closer
    page.locator(".tabs a[href$='/look']").tap()
    expect(page.locator("#keyed-says")).to_contain_text("asks for a PIN")
    assert "Moreno" not in page.content(), "nobody's name is offered"
    key_pin(page, "258053", "moreno")
    expect(page.locator("svg.frame polygon.unsure")).to_have_count(1)
    page.locator("svg.frame a[href$='card=46']").tap()
    expect(page.locator(".looking h2")).to_have_text("seat 4, middle, 5th card")
    expect(page.locator(".looking .beside img")).to_have_attribute("alt", "four of clubs")

    # the correction: on the table, then before and after
    page.locator(".tabs a[href$='/dispute']").tap()
    touch(page, "[data-command*='\"reopen\"'][data-command*='The payment is disputed']")
    assert dealer.until(lambda state: state.reopened).reopened == "The payment is disputed"
    page.wait_for_selector("body[data-phase='settled']")
    dealer.key("2d", do="set_card", seat=1, row="front", index=1)
    dealer.until(lambda state: state.seats[2].back[4].card == "Qd")  # it lay there: they change places
    dealer.until_phase("settled")
    dealer.touch(do="next")
    paid_back = dealer.until(lambda state: state.paybacks).paybacks
    page.goto(f"{box.address}/review/1/dispute")
    for back in paid_back:
        words = f"{back.payer} pays {back.winner} ${back.amount // 100} back"
        expect(page.locator(".paybacks")).to_contain_text(words)
    expect(page.locator(".correction .settled.differs")).to_have_count(2)

    # kept as disputed, and looked at
    touch(page, "[data-command*='\"dispute\"']")
    expect(page.locator(".recalled .disputed")).to_be_visible()
    with page.expect_navigation():
        touch(page, "[data-command*='mark_reviewed']")
    page.locator(".tabs a[href$='/story']").tap()
    expect(page.locator(".story")).to_contain_text("Reviewed.")
    page.locator(".tabs a[href$='/dispute']").tap()
    expect(page.locator(".proofs .holds")).to_have_count(2)

    # the file
    with page.expect_download() as loading:
        touch(page, "[data-export]")
    file = tmp_path / loading.value.suggested_filename
    loading.value.save_as(file)
    with zipfile.ZipFile(file) as packed:
        names = packed.namelist()
        packed.extract("verify.py", tmp_path)
        pdf = packed.read("hand.pdf")
    assert pdf.startswith(b"%PDF")
    assert sum(name.startswith("images/") for name in names) == 2

    def verified(path: Path) -> subprocess.CompletedProcess[str]:
        bare = [sys.executable, "-I", "-S", str(tmp_path / "verify.py"), str(path)]
        return subprocess.run(bare, capture_output=True, text=True, check=False, timeout=DEADLINE)

    told = verified(file)
    assert told.returncode == 0, told.stdout + told.stderr
    spoilt = tmp_path / "spoilt.zip"
    with zipfile.ZipFile(file) as packed, zipfile.ZipFile(spoilt, "w") as other:
        for name in names:
            part = packed.read(name)
            other.writestr(name, part.replace(b"Qd", b"Qs") if name == "rows.jsonl" else part)
    told = verified(spoilt)
    assert told.returncode == 1
    assert told.stdout + told.stderr
