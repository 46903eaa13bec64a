"""A hand is played with PINs at a real table, goes through its uplink and the pit's door over TLS, and is looked at on
every page: no PIN, passphrase or verifier is on the wire, in the database, the logs, the metrics or a page, and no card
of a hand that lies on the table is on a page or in a projection. Each place is also searched with a secret laid there.
"""

from __future__ import annotations

import json
import logging
import random
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pypdfium2
import pytest
from flask.testing import FlaskClient
from psycopg import sql

from dealer_ui.text.words import card_name
from firmware.table.people import PINS_FOLDER
from firmware.table.phase import Phase
from firmware.uplink.client import Client
from firmware.uplink.follow import Follower
from firmware.uplink.settings import load
from pit.follow.follower import Follower as Now
from pit.follow.projector import project
from pit.pages.app import create_app
from pit.pages.guard import METRICS_TOKEN
from pit.pages.people import PitPeople, PitRole
from pit.store.database import Database
from pit.store.rights import FLOOR_RIGHTS, allow
from tests.dealer_ui.house import config
from tests.firmware.running_table import HANDS, Table, reading_json
from tests.pit.conftest import as_role, opened_pit
from tests.pit.pages.conftest import FLOOR

PINS = {"Tran": "913722845001", "Moreno": "258041196302", "Okafor": "864203317745"}
WRONG = "590318862417"
PHRASES = dict(zip(PitRole, (f"{number} of seven violet horses" for number in range(4)), strict=True))
WRONG_PHRASE = "eleven orange lizards there"
CARDS = sorted({card for rows in HANDS.values() for row in rows.values() for card in row.split()})
RAW = ("entry", "quarantine", "content")
"""Tables of evidence: rows as they came, read by no page but through `entry_finished`; texts of profiles."""


class RecordingClient(Client):
    """The uplink's own client, whose bodies are kept as they are before TLS."""

    bodies: list[bytes]

    def _ask(self, method: str, path: str, body: bytes) -> bytes:
        answer = super()._ask(method, path, body)
        for sent in (path.encode(), body, answer):
            try:
                self.bodies.append(zlib.decompress(sent))
            except zlib.error:
                self.bodies.append(sent)
        return answer


@dataclass
class TableAndPit:
    """A table, its uplink, the pit, its pages, and all that can be looked through."""

    table: Table
    client: RecordingClient
    uplink: Follower
    door: Database
    owned: str
    caplog: pytest.LogCaptureFixture
    pages: dict[PitRole | None, FlaskClient] = field(default_factory=dict)
    health: dict[str, Any] = field(default_factory=dict)

    def send(self) -> None:
        """Let the uplink send what is new, and the pit follow it."""
        for _ in range(50):
            if self.uplink.step() and not self.uplink.status.behind:
                break
        assert not self.uplink.status.trouble
        assert self.uplink.status.behind == 0
        follower = Now(self.door)
        while follower.follow() + project(self.door):
            pass

    def stored(self) -> dict[str, str]:
        """Every text and bytes of the database, by table and column."""
        found: dict[str, str] = {}
        with psycopg.connect(self.owned) as connection:
            columns = connection.execute(
                "SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables"
                " USING (table_schema, table_name) WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
                " AND data_type NOT LIKE 'timestamp%%' AND data_type <> 'boolean'"
            ).fetchall()
            for table, column in columns:
                if table.startswith("entry_"):
                    continue  # a partition: its rows are in `entry`
                name = sql.Identifier(column)
                rows = connection.execute(sql.SQL("SELECT {} FROM {}").format(name, sql.Identifier(table)))
                parts = [row[0] if isinstance(row[0], bytes) else str(row[0]).encode() for row in rows]
                found[f"{table}.{column}"] = b"\n".join(parts).decode("utf-8", "replace")
        return found

    def shown(self, only: str = "") -> dict[str, str]:
        """Every page of the application, as every role and as nobody, with the headers; `/metrics` among them."""
        found: dict[str, str] = {}
        for role, client in self.pages.items():
            for rule in client.application.url_map.iter_rules():
                if "GET" not in (rule.methods or ()) or rule.endpoint == "static":
                    continue
                if only not in ("", rule.rule):
                    continue
                for hand in ("1", "2") if "<hand>" in rule.rule else ("1",):
                    address = re.sub("<int:[a-z_]+>", "1", rule.rule).replace("<hand>", hand)
                    address = address.replace("<path:name>", "000002/frame.jpg")
                    with client.get(address) as answer:
                        stream = "event-stream" in answer.content_type
                        body = next(answer.iter_encoded()) if stream else answer.data
                        if stream:
                            body += next(answer.iter_encoded())
                    text = pdf_text(body) if body.startswith(b"%PDF") else body.decode("utf-8", "replace")
                    found[f"{role} {address}"] = f"{answer.headers}{text}"
        return found

    def everything(self) -> dict[str, str]:
        """All places where a secret might be."""
        wire = {"wire": b"\n".join(self.client.bodies).decode("utf-8", "replace")}
        return {**wire, **self.stored(), **self.shown(), "logs": self.caplog.text}

    def secrets(self) -> set[str]:
        """PINs, passphrases, and what both are checked against, as far as each is long enough to be no chance."""
        found = {*PINS.values(), WRONG, *PHRASES.values(), WRONG_PHRASE}
        kept = [path.read_text() for path in (self.table.config.data / PINS_FOLDER).iterdir()]
        with psycopg.connect(self.owned) as connection:
            kept += [text for (text,) in connection.execute("SELECT verifier FROM person")]
            kept += [json.dumps([token]) for (token,) in connection.execute("SELECT token_hash FROM session")]
        for text in kept:
            value = json.loads(text)
            parts = value.values() if isinstance(value, dict) else value
            found |= {part for part in parts if isinstance(part, str) and len(part) > 12}
        for client in self.pages.values():
            cookie = client.get_cookie("feltwatch_pit")
            found |= {cookie.value} if cookie else set()
        return found


def pdf_text(data: bytes) -> str:
    """Return what a PDF says."""
    with pypdfium2.PdfDocument(data) as document:
        return "\n".join(page.get_textpage().get_text_range() for page in document)


OWN_PLACE = {"person.verifier": "verifiers", "session.token_hash": "hashes of tokens"}


def leaks(places: Mapping[str, str], secrets: set[str]) -> dict[str, set[str]]:
    """Return where which secrets are, but for the columns that are there for them."""
    found = {name: {one for one in secrets if one in text} for name, text in places.items()}
    return {name: which for name, which in found.items() if which and name not in OWN_PLACE}


def cards_in(places: Mapping[str, str]) -> dict[str, set[str]]:
    """Return where which cards are: by their codes, names, or the sign of a suit."""
    found = {}
    for name, text in places.items():
        if name.partition(".")[0] in RAW or name in ("wire", "logs"):
            continue
        which = set(re.findall(rf"(?<![0-9A-Za-z])({'|'.join(CARDS)})(?![0-9A-Za-z])", text))
        which |= {card_name(card) for card in CARDS if card_name(card) in text} | (set(text) & set("♠♥♦♣"))
        if which:
            found[name] = which
    return found


@pytest.fixture
def hand(
    owned: str, database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> Iterator[TableAndPit]:
    """Hand 1 was void before a card was read; hand 2 is read and settled, and lies on the table."""
    caplog.set_level(logging.DEBUG)
    allow_floor(owned)
    with ExitStack() as opened:
        pit = opened.enter_context(opened_pit("without nginx", database))
        _, enrolment = pit.enrol("Table 1")
        settings = load(enrolment)
        assert settings is not None
        client = RecordingClient(settings)
        client.bodies = []
        pit.clients.append(client)
        seats = [
            {"seat": 1, "place": "A", "player": "Ann", "stack": 10_000},
            {"seat": 2, "place": "B", "player": "Bo"},
        ]
        table = Table(config(tmp_path / "table", seats=seats))
        opened.callback(table.stop)
        health: dict[str, Any] = {}
        uplink = Follower(
            table.config.data,
            client,
            release="0.2.0",
            health=lambda: health,
            clock=clock(),
            rng=random.Random(1),
        )
        play(table)
        floor = opened.enter_context(Database(as_role(owned, FLOOR), connections=4))
        people = PitPeople(floor)
        app = create_app(floor, tmp_path / "pit", "Pit 2", secure=False)
        (tmp_path / "pit").mkdir()
        (tmp_path / "pit" / METRICS_TOKEN).write_text("x" * 32)
        made = TableAndPit(table, client, uplink, database, owned, caplog, {None: app.test_client()}, health)
        for number, role in enumerate(PitRole):
            people.add(role.value.capitalize(), role, PHRASES[role])
            one = app.test_client()
            one.environ_base |= {"HTTP_ACCEPT": "text/html", "REMOTE_ADDR": f"192.0.2.{number}"}
            for phrase, code in ((WRONG_PHRASE, 403), (PHRASES[role], 303)):
                form = {"name": role.value.capitalize(), "passphrase": phrase}
                assert one.post("/log-in", data=form).status_code == code
            made.pages[role] = one
        made.send()
        yield made


def allow_floor(owned: str) -> None:
    with psycopg.connect(owned, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (FLOOR,)).fetchone():
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(FLOOR)))
    allow(owned, FLOOR, FLOOR_RIGHTS)


def clock() -> Any:
    """Return a clock on which every step of the uplink is due."""
    seconds = iter(range(0, 10_000_000, 60))
    return lambda: float(next(seconds))


def play(table: Table) -> None:
    people = (("Tran", "technician"), ("Moreno", "floor"), ("Okafor", "auditor"))
    for name, role in people:
        by = {} if name == "Tran" else {"by": "Tran", "pin": PINS["Tran"]}
        listed = {"do": "list_person", "person": name, "role": role, "new_pin": PINS[name]}
        table.do(json.dumps({**listed, **by}))
    assert not table.ask(json.dumps({"do": "unlock", "by": "Moreno", "pin": WRONG}))["ok"]
    table.do(json.dumps({"do": "unlock", "by": "Moreno", "pin": PINS["Moreno"]}))
    table.do('{"do":"next"}', '{"do":"void","reason":"a hand of the past"}')
    table.readings.ready = [reading_json(HANDS)]
    table.do('{"do":"next"}', '{"do":"key_button","seat":1}', '{"do":"next"}', '{"do":"next"}')
    table.until_phase(Phase.SETTLED)


def test_no_pin_passphrase_or_verifier_leaves_its_place_and_no_open_card_is_shown(hand: TableAndPit) -> None:
    secrets, places = hand.secrets(), hand.everything()
    assert len(secrets) > 15
    assert {"wire", "logs", "entry.payload", "table_now.facts", "act.detail"} <= set(places)
    assert {f"{role} /metrics" for role in PitRole} < set(places)
    assert all("Qs" in places[name] for name in ("wire", "entry.payload")), "the hand has come"
    assert leaks(places, secrets) == {}
    assert cards_in(places) == {}


def test_the_cards_are_found_once_the_hand_is_over(hand: TableAndPit) -> None:
    hand.table.do('{"do":"archive"}')
    hand.send()
    found = cards_in(hand.everything())
    for role in (PitRole.FLOOR, PitRole.AUDITOR, PitRole.OWNER):
        assert {card_name("Qs"), card_name("Kd")} <= found[f"{role} /record/1/review/2"]
    assert not [name for name in found if name.startswith((str(PitRole.TECHNICIAN), "None"))]
    assert leaks(hand.everything(), hand.secrets()) == {}


def test_a_secret_that_leaks_is_found_where_it_is(hand: TableAndPit) -> None:
    """Each place is given another one."""
    wire, act, stored, page, log = (*PINS.values(), WRONG, WRONG_PHRASE)
    hand.health["name"] = wire
    hand.send()
    logging.getLogger("pit").info("a passphrase: %s", log)
    with psycopg.connect(hand.owned) as connection:
        connection.execute(
            "INSERT INTO act (person, role, what, detail) VALUES ('a', 'floor', 'x', %s)", (act,)
        )
        connection.execute("INSERT INTO content VALUES ('0', %s)", (b"\xff" + stored.encode(),))
        connection.execute("UPDATE head SET release = %s", (page,))
    found = leaks(hand.everything(), {wire, act, stored, page, log})
    for secret, place in (
        (wire, "wire"),
        (log, "logs"),
        (act, "act.detail"),
        (stored, "content.bytes"),
        (page, f"{PitRole.TECHNICIAN} /tables"),
        (page, f"{PitRole.OWNER} /metrics"),
    ):
        assert secret in found.get(place, set()), place


def test_an_open_card_that_leaks_into_a_projection_is_found_there_and_on_pages(hand: TableAndPit) -> None:
    for words in ("Qs", "queen of spades", "Q♠"):
        for column in ("dealer", "profile"):
            with psycopg.connect(hand.owned) as connection:
                connection.execute("UPDATE hand SET dealer = '', profile = '' WHERE hand = 1")
                change = sql.SQL("UPDATE hand SET {} = %s WHERE hand = 1").format(sql.Identifier(column))
                connection.execute(change, (words,))
            found = cards_in({**hand.stored(), **hand.shown("/hands")})
            assert {f"hand.{column}", f"{PitRole.AUDITOR} /hands"} <= set(found), (words, column)
