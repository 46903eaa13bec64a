"""A past hand, and a page about it, as the tests ask for them."""

from __future__ import annotations

import re
from contextlib import closing
from html import unescape

from flask import Flask
from flask.testing import FlaskClient

from dealer_ui.web.services import services
from dealer_ui.web.sessions import COOKIE
from firmware.record.hand_history import PastHand, load_hand
from firmware.record.journal.journal import JournalReader
from firmware.table import events as ev
from firmware.table.people import Role
from tests.dealer_ui.felt import Felt


def of(felt: Felt, hand: int = 1) -> PastHand:
    return load_hand(JournalReader(felt.folder), hand)


def sign_on(app: Flask, client: FlaskClient, felt: Felt, role: Role) -> None:
    felt.say(ev.PersonListed("Moreno F.", role, "0" * 16))
    answer = {"session": "s", "role": role, "name": "Moreno F.", "expires_s": 120}
    client.set_cookie(COOKIE, services(app).sessions.begin(answer))


def page(client: FlaskClient, path: str) -> tuple[int, str]:
    with closing(client.get(path, headers={"Accept": "text/html"})) as response:
        return response.status_code, unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text)))
