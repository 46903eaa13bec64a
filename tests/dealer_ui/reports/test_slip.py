"""The slip of a shift's end on the page, and the ways to every page except the table's."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flask.testing import FlaskClient

from dealer_ui.reports.slip import slip_pdf, slip_svg
from dealer_ui.server.menu import MENU
from firmware.record.evidence.anchors import Anchor, sign_head
from firmware.record.evidence.signing import DeviceKey
from tests.dealer_ui.felt import Felt

KEY = DeviceKey(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))


def signed(felt: Felt) -> Anchor:
    seq, digest = felt.journal.head
    event = sign_head(KEY, seq=seq, digest=digest, hands=1, wall_ms=1_790_000_000_000, table="12")
    felt.say(event)
    return Anchor.of(event)


def test_a_record_that_nobody_signed_says_so_and_has_no_slip(client: FlaskClient) -> None:
    assert "has not been signed yet" in client.get("/slip").text
    answer = client.get("/slip.pdf")
    assert answer.status_code == 404
    assert "sign the record first" in answer.text


def test_the_slip_is_that_of_the_last_signed_head(felt: Felt, client: FlaskClient) -> None:
    signed(felt)
    felt.deal()
    anchor = signed(felt)
    said = client.get("/slip").text
    assert slip_svg(anchor) in said
    assert anchor.fingerprint in said
    assert "Print this slip" in said
    assert client.get("/slip.pdf").data == slip_pdf(anchor)


def test_a_slip_says_that_the_record_went_on_since(felt: Felt, client: FlaskClient) -> None:
    signed(felt)
    at = felt.seq
    felt.deal()
    since = felt.seq - at
    assert f"{since} rows more since" in client.get("/slip").text


def test_every_entry_of_the_menu_leads_to_a_page(felt: Felt, client: FlaskClient) -> None:
    said = client.get("/menu").text
    routes = client.application.url_map.bind("localhost")
    for entry in (entry for _group, entries in MENU for entry in entries):
        assert f'href="{entry.address}"' in said
        routes.match(entry.address.partition("?")[0])  # raises where there is no such page
