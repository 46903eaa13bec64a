"""An owner adds people in the page, gives roles and passphrases, removes people; nobody else does."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest
from werkzeug.test import TestResponse

from dealer_ui.web.passphrases import AccessError
from pit.pages import people_changes
from pit.pages.people import PitPerson, PitRole
from pit.pages.people_page import people
from tests.pit.pages.conftest import House

HEADERS = {"Accept": "text/html", "Origin": "http://localhost"}
GOOD = "seven blue lamps at noon"


class Owner:
    """An owner with the page of people open."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.client = house.logged_in(PitRole.OWNER)
        self.token = house.token()

    def post(self, address: str, **form: str) -> TestResponse:
        return self.client.post(address, data={"token": self.token, **form}, headers=HEADERS)

    def add(self, name: str, role: str = "floor", passphrase: str = GOOD) -> TestResponse:
        return self.post("/people/add", name=name, role=role, passphrase=passphrase, again=passphrase)

    def number(self, name: str) -> int:
        with self.house.database.transaction() as connection:
            row = connection.execute("SELECT person_id FROM person WHERE name = %s", (name,)).fetchone()
        assert row is not None
        return int(row[0])

    def role(self, name: str) -> str | None:
        with self.house.database.transaction() as connection:
            row = connection.execute("SELECT role FROM person WHERE name = %s", (name,)).fetchone()
        return row[0] if row else None

    def acts(self) -> list[tuple[str, str]]:
        with self.house.database.transaction() as connection:
            found = connection.execute(
                "SELECT what, detail FROM act WHERE what LIKE 'people.%' ORDER BY act_id"
            ).fetchall()
        return [(what, detail) for what, detail in found]


@pytest.fixture
def owner(house: House) -> Owner:
    return Owner(house)


def logs_in(house: House, name: str, passphrase: str) -> bool:
    form = {"name": name, "passphrase": passphrase}
    return house.visitor().post("/log-in", data=form, headers=HEADERS).status_code in (302, 303)


def test_a_person_is_added_with_a_typed_passphrase_and_logs_in(house: House, owner: Owner) -> None:
    added = owner.add("Rosa Lind", "auditor")
    assert added.status_code == 303
    page = owner.client.get(added.headers["Location"]).text
    assert "added a person: Rosa Lind: auditor" in page
    assert owner.role("Rosa Lind") == "auditor"
    assert logs_in(house, "Rosa Lind", GOOD)
    assert owner.acts() == [("people.add", "Rosa Lind: auditor")]


def test_a_passphrase_that_the_pit_makes_is_shown_once_and_stored_nowhere(house: House, owner: Owner) -> None:
    shown = owner.add("Rosa", passphrase="").text
    found = re.search(r'class="passphrase" role="status">([^<]+)<', shown)
    assert found is not None
    assert logs_in(house, "Rosa", found[1])
    assert found[1] not in owner.client.get("/people").text
    with house.database.transaction() as connection:
        for table in ("act", "person", "session"):
            rows: Any = connection.execute(f"SELECT t::text FROM {table} t".encode()).fetchall()
            assert found[1] not in str(rows)


def test_another_passphrase_ends_the_old_one(house: House, owner: Owner) -> None:
    owner.add("Rosa")
    given = owner.post(f"/people/{owner.number('Rosa')}/passphrase", passphrase=GOOD + "s", again=GOOD + "s")
    assert given.status_code == 303
    assert not logs_in(house, "Rosa", GOOD)
    assert logs_in(house, "Rosa", GOOD + "s")


def test_another_role_holds_at_once_and_a_removal_ends_the_session(house: House, owner: Owner) -> None:
    client = house.logged_in(PitRole.FLOOR)
    with house.database.transaction() as connection:
        row = connection.execute(
            "SELECT name FROM person WHERE role = 'floor' ORDER BY person_id DESC LIMIT 1"
        )
        (name,) = row.fetchone() or ("",)
    assert client.get("/people").status_code == 403
    assert owner.post(f"/people/{owner.number(name)}/role", role="auditor").status_code == 303
    assert client.get("/people").status_code == 200
    assert owner.post(f"/people/{owner.number(name)}/remove").status_code == 303
    assert client.get("/people").status_code in (302, 303, 401, 403)
    assert owner.role(name) is None
    assert [what for what, _ in owner.acts()] == ["people.role", "people.remove"]


def test_nobody_is_added_who_looks_like_a_listed_person(owner: Owner) -> None:
    owner.add("Rosa Lind")
    for name in ("rosa lind", "R\u043esa Lind", "Rosa L1nd"):
        answer = owner.add(name)
        assert answer.status_code == 400
        assert "looks like Rosa Lind" in answer.text
        assert owner.role(name) is None
    assert "is listed already" in owner.add(" Rosa  Lind").text


def test_what_cannot_be_is_said_and_nothing_is_stored(owner: Owner) -> None:
    for form, says in (
        ({"name": " "}, "A name has 1 to 40 letters."),
        ({"name": "n" * 200}, "A name has 1 to 40 letters."),
        ({"name": "a\0b"}, "This one holds U+0000."),
        ({"name": "\u3164"}, "This one holds U+3164."),
        ({"passphrase": "short", "again": "short"}, "A passphrase has 12 to"),
        ({"again": "another one, longer"}, "The two passphrases differ."),
        ({"passphrase": "a" * 14, "again": "a" * 14}, "too easy to guess"),
    ):
        asked = {"name": "Rosa", "role": "floor", "passphrase": GOOD, "again": GOOD, **form}
        answer = owner.post("/people/add", **asked)
        assert answer.status_code == 400, (form, says)
        assert owner.role("Rosa") is None, (form, says)
        assert owner.acts() == [], (form, says)
        assert says in answer.text, (form, says)


def test_somebody_who_is_added_again_was_not_seen_since(house: House, owner: Owner) -> None:
    def seen_ms() -> int | None:
        return next(one.seen_ms for one in people(house.database) if one.name == "Ines")

    owner.add("Ines")
    assert seen_ms() is None
    assert logs_in(house, "Ines", GOOD)
    assert seen_ms() is not None
    owner.post(f"/people/{owner.number('Ines')}/remove")
    owner.add("Ines")
    assert seen_ms() is None


def test_a_name_that_is_listed_is_not_added_again(house: House, owner: Owner) -> None:
    owner.add("Rosa", "auditor")
    assert "is listed already" in owner.add("Rosa", "owner", GOOD + " and more").text
    assert owner.role("Rosa") == "auditor"
    assert logs_in(house, "Rosa", GOOD)


def test_nobody_but_an_owner_changes_people(house: House, owner: Owner) -> None:
    owner.add("Rosa")
    for role in (PitRole.FLOOR, PitRole.AUDITOR, PitRole.TECHNICIAN):
        client, number = house.logged_in(role), owner.number("Rosa")
        for address in ("add", f"{number}/role", f"{number}/passphrase", f"{number}/remove"):
            form = {"token": house.token(), "name": "Eve", "role": "owner", "passphrase": GOOD, "again": GOOD}
            assert client.post(f"/people/{address}", data=form, headers=HEADERS).status_code == 403, address
        assert client.get(f"/people/{number}").status_code == 403, role
        assert (owner.role("Rosa"), owner.role("Eve")) == ("floor", None), role


def test_a_form_without_the_pages_token_is_refused(owner: Owner) -> None:
    for wrong in ("", "x" * 32):
        form = {"token": wrong, "name": "Eve", "role": "owner"}
        answer = owner.client.post("/people/add", data=form, headers=HEADERS)
        assert answer.status_code == 403
    assert owner.role("Eve") is None


def test_nobody_takes_away_their_own_role_or_access(house: House, owner: Owner) -> None:
    with house.database.transaction() as connection:
        row = connection.execute(
            "SELECT name FROM person WHERE role = 'owner' ORDER BY person_id DESC LIMIT 1"
        )
        (name,) = row.fetchone() or ("",)
    for change in ("role", "remove"):
        answer = owner.post(f"/people/{owner.number(name)}/{change}", role="floor")
        assert answer.status_code == 409
        assert "one owner is always left" in answer.text
    assert owner.role(name) == "owner"


def test_two_owners_who_demote_each_other_at_once_leave_one(house: House, owner: Owner) -> None:
    names = ("First", "Second")
    for name in names:
        owner.add(name, "owner")
    with house.database.transaction() as connection:
        connection.execute("DELETE FROM person WHERE role = 'owner' AND name <> ALL(%s)", (list(names),))
    refused: list[str] = []

    def demote(by: str, other: str) -> None:
        try:
            people_changes.change_role(
                house.database, PitPerson(by, PitRole.OWNER), owner.number(other), PitRole.FLOOR
            )
        except AccessError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=demote, args=pair) for pair in (names, names[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(str(owner.role(name)) for name in names) == ["floor", "owner"]
    assert len(refused) == 1


def test_a_person_who_is_gone_is_said(owner: Owner) -> None:
    for number in (99_999, 1 << 70):
        assert owner.client.get(f"/people/{number}", headers={"Accept": "text/html"}).status_code == 404
        assert owner.post(f"/people/{number}/remove").status_code == 404
