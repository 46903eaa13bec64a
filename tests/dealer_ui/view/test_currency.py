"""Sums in the house's own currency, wherever something is written: the page, past hands, prints, commands."""

from __future__ import annotations

import re

import pypdfium2
import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient

from dealer_ui.reports.dispute_pdf import dispute_pdf
from dealer_ui.reports.pdf import Type
from dealer_ui.server.app import Settings, create_app
from dealer_ui.setup.currency import COMMON
from dealer_ui.text.words import money
from dealer_ui.web.services import services
from firmware.cli.hands import command as hands_command
from firmware.cli.report import command as report_command
from firmware.record.journal.journal import JournalReader
from firmware.record_folder import SOCKET
from firmware.rules import DOLLARS
from firmware.rules.currency import is_symbol
from firmware.table.events import parse
from tests.dealer_ui.conftest import Lay
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.past import corrected

EURO = {"symbol": "€", "symbol_after": True}


def set_to(felt: Felt, symbol: str, *, after: bool = False) -> None:
    felt.do("set_house", symbol=symbol, symbol_after=after, reason="the house's")


@pytest.fixture
def past(felt: Felt) -> Felt:
    """Hand 1 was played and corrected in euros; since then the house plays in Hong Kong dollars."""
    felt.do("set_house", reason="the house's", **EURO)
    corrected(felt)
    set_to(felt, "HK$")
    return felt


def page(client: FlaskClient, path: str) -> str:
    return client.get(path, headers={"Accept": "text/html"}).text


def test_the_page_writes_every_sum_as_the_house_does_and_tells_its_script_how(
    felt: Felt, client: FlaskClient
) -> None:
    set_to(felt, "€", after=True)
    felt.to_settled()
    text = page(client, "/")
    for said in ("55\u00a0€", "+230\u00a0€", "5\u00a0€ a point", 'data-sums="{}\u00a0€"'):
        assert said in text, said
    assert "$" not in text
    screen = client.get("/view.json").get_json()
    assert (screen["unit"], screen["sums"]) == ("5\u00a0€", "{}\u00a0€")
    assert money(500) == "$5", "nothing of a request is left behind it"


def test_an_open_page_is_told_that_sums_are_written_otherwise(felt: Felt, app: Flask) -> None:
    felt.to_archived()
    served = services(app)
    text, _ = served.messages.text(served.live.now())
    assert '"sums":"${}"' in text
    set_to(felt, "MOP$")
    text, _ = served.messages.text(served.live.now())
    assert '"sums":"MOP${}"' in text
    assert "MOP$1,230" in text


def test_a_past_hand_stays_in_the_currency_in_which_it_was_played(past: Felt, client: FlaskClient) -> None:
    assert "HK$" in page(client, "/")
    for path in ("/review/1", "/review/1/changes"):
        text = page(client, path)
        assert "\u00a0€" in text, path
        assert "HK$" not in text, path


def test_a_printed_hand_is_in_its_own_currency(past: Felt) -> None:
    with pypdfium2.PdfDocument(dispute_pdf(past.folder, 1)) as document:
        text = "".join(one.get_textpage().get_text_bounded() for one in document).replace("\u00a0", " ")
    assert "pays Moreno 45 €" in text
    assert "5 € a point" in text
    assert "$" not in text


def test_the_commands_on_a_record_say_sums_as_it_does(past: Felt) -> None:
    def said(command: object, *words: str) -> str:
        done = CliRunner().invoke(command, [*words, "--data", str(past.folder)])  # type: ignore[arg-type]
        assert done.exit_code == 0, done.output
        return done.output.replace("\u00a0", " ")

    for words in (("show", "1"), ("recall", "1")):
        text = said(hands_command, *words)
        assert "55 €" in text
        assert "$" not in text
    assert "HK$0" in said(report_command), "a shift's collection is in the house's currency of now"


def test_the_rules_of_the_house_are_in_its_currency(felt: Felt, client: FlaskClient) -> None:
    text = page(client, f"/profiles/{felt.profile}")
    assert "$" in text
    set_to(felt, "€", after=True)
    told = page(client, f"/profiles/{felt.profile}")
    assert "\u00a0€" in told
    own = re.sub("“[^”]*”", "", told)
    assert own.count("$") == 0, "only a document's own words keep its currency"


def test_a_symbol_that_no_page_can_show_is_refused_with_a_sentence_in_its_readers_language(
    felt: Felt, app: Flask
) -> None:
    client = app.test_client()
    client.set_cookie("language", "es", domain="localhost")
    with felt.answering():
        answer = client.post(
            "/command",
            json={"do": "set_house", "symbol": "<b>", "reason": "Set-up"},
            headers={"X-CSRF-Token": app.config["CSRF_TOKEN"]},
        ).get_json()
    assert answer["error"].startswith("El símbolo de una moneda son de 1 a 4 letras")
    assert felt.state.house.currency == DOLLARS


def test_every_currency_that_is_offered_can_be_set_and_printed() -> None:
    assert len(set(COMMON)) == len(COMMON)
    for currency in COMMON:
        assert is_symbol(currency.symbol)
        for language in ("en", "zh_Hant"):
            assert all(Type(language).has(letter) for letter in currency.say(125_050)), currency


def test_the_set_up_marks_the_currency_that_holds(lay: Lay) -> None:
    felt = lay(set_up=False)
    client = create_app(Settings(felt.folder, felt.folder / SOCKET)).test_client()
    assert page(client, "/set-up/game").count("Currency: $…") == 1
    set_to(felt, "£", after=True)
    text = page(client, "/set-up/game/currency")
    assert text.count('aria-pressed="true"') == 1
    assert 'aria-pressed="true"><span>1,250\u00a0£</span>' in text


def test_a_record_older_than_the_choice_is_in_dollars(felt: Felt) -> None:
    felt.to_settled()
    rows = JournalReader(felt.folder).of_hand(1)
    opened = next(row for row in rows if row.type == "hand_opened")
    older = opened.payload.replace('"currency":{"after":false,"symbol":"$"},', "")
    assert older != opened.payload
    assert parse("hand_opened", older) == opened.event
