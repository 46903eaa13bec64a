"""The slip of a shift's end on the page, and the ways to every page except the table's."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flask.testing import FlaskClient

from dealer_ui.reports.slip import checkpoint_lines, slip_pdf, slip_svg
from dealer_ui.server.menu import MENU
from dealer_ui.web.services import services
from firmware.record.evidence.anchors import Anchor, sign_head
from firmware.record.evidence.signing import DeviceKey
from firmware.uplink.held_checkpoint import read_checkpoint
from firmware.uplink.status_file import FILE
from tests.dealer_ui.checkpoints import holds_checkpoint
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


@pytest.mark.parametrize(
    ("proven", "doubted", "says"),
    [
        ((5, 3, 4), False, ["proven by 3 of 4 tables"]),
        ((4, 3, 4), False, ["4 proven so far"]),
        (None, True, ["not proven yet", "The pit has shown another history since: tell surveillance."]),
    ],
)
def test_a_slip_carries_the_newest_checkpoint_that_the_table_holds(
    felt: Felt, client: FlaskClient, proven: tuple[int, int, int] | None, doubted: bool, says: list[str]
) -> None:
    anchor = signed(felt)
    folder = services(client.application).pit
    assert folder is not None
    checkpoint = holds_checkpoint(folder, 5, proven, doubted=doubted)
    said = client.get("/slip").text
    for one in ("5 signed heads", checkpoint.origin, checkpoint.text.splitlines()[2], *says):
        assert one in said
    printed = "\n".join(checkpoint_lines(read_checkpoint(folder)))  # type: ignore[arg-type]
    for one in ("size 5 signed heads", checkpoint.origin, *says):
        assert one in printed
    assert checkpoint.text.splitlines()[2] in "".join(printed.split())
    assert client.get("/slip.pdf").data == slip_pdf(anchor, read_checkpoint(folder)) != slip_pdf(anchor)


@pytest.mark.parametrize("bent", ["no JSON", '{"checkpoint": 7}', "another signature", "no file"])
def test_without_a_checkpoint_that_holds_a_slip_is_as_without_a_pit(
    felt: Felt, client: FlaskClient, bent: str
) -> None:
    anchor = signed(felt)
    before = client.get("/slip").text
    folder = services(client.application).pit
    assert folder is not None
    holds_checkpoint(folder, 5, None)
    file = folder / FILE
    if bent == "no file":
        file.unlink()
    elif bent == "another signature":
        file.write_text(file.read_text().replace("\\n5\\n", "\\n6\\n"))
    else:
        file.write_text(bent)
    assert client.get("/slip").text == before
    assert client.get("/slip.pdf").data == slip_pdf(anchor)


def test_every_entry_of_the_menu_leads_to_a_page(felt: Felt, client: FlaskClient) -> None:
    said = client.get("/menu").text
    routes = client.application.url_map.bind("localhost")
    for entry in (entry for _group, entries in MENU for entry in entries):
        assert f'href="{entry.address}"' in said
        routes.match(entry.address.partition("?")[0])  # raises where there is no such page
