"""The pages of rule profiles, over HTTP, with a real table process behind them."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any, Final

import pytest
from flask.testing import FlaskClient

from dealer_ui.profiles.versions import compare_profiles
from dealer_ui.server.app import Settings, create_app
from firmware.record.journal.journal import JournalReader
from firmware.rules import load_profile, profile_names, profile_toml
from firmware.table import events as ev
from firmware.table.phase import BETWEEN_HANDS
from tests.dealer_ui.conftest import Lay
from tests.dealer_ui.house import page_of, table
from tests.firmware.rules.test_poisoned_profiles import POISON
from tests.firmware.running_table import Table

__all__ = ["table"]

FLOOR: Final = {"by": "Moreno", "pin": "258053"}


@pytest.fixture(scope="module")
def client(table: Table) -> FlaskClient:
    app = page_of(table)
    client = app.test_client()
    client.environ_base["HTTP_X_CSRF_TOKEN"] = app.config["CSRF_TOKEN"]
    return client


class Form(HTMLParser):
    """What a browser would send of the first form of a page, untouched."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.fields: list[list[str]] = []
        self._in_form = False
        self._text: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag == "form":
            self._in_form = True
        elif self._in_form and tag == "textarea":
            self._text = str(said["name"])
            self.fields.append([self._text, ""])
        elif (
            self._in_form
            and tag == "input"
            and said.get("name")
            and (said.get("type") != "radio" or "checked" in said)
        ):
            self.fields.append([str(said["name"]), said.get("value") or ""])

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._in_form = False
        elif tag == "textarea":
            self._text = None

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self.fields[-1][1] += data


def form(client: FlaskClient, of: str, /, **typed: str) -> list[list[str]]:
    """Fill in the form of a profile."""
    fields = Form(client.get(f"/profiles/{of}/edit").text).fields
    return [[field, typed.get(field.replace(".", "__"), value)] for field, value in fields]


def order(client: FlaskClient, name: str, do: str, **more: Any) -> Any:
    return client.post(f"/profiles/{name}", json={"do": do, **more})


def keep(client: FlaskClient, base: str, /, **typed: str) -> Any:
    return order(client, base, "keep", fields=form(client, base, **typed), reason="a test", **FLOOR)


@pytest.mark.parametrize("name", profile_names())
def test_the_untouched_form_of_every_packaged_profile_is_sound(client: FlaskClient, name: str) -> None:
    answer = order(client, name, "check", fields=form(client, name, name=f"house-{name}"[:40]))
    assert answer.json == {"ok": True}


def test_a_mistake_is_answered_at_its_field_in_the_sentence_of_profiles_check(client: FlaskClient) -> None:
    answer = order(
        client,
        "traditional",
        "check",
        fields=form(client, "traditional", name="thursday", foul__points="nine"),
    )
    assert answer.status_code == 422
    assert answer.json["errors"] == {
        "foul.points": "“Penalty” = 'nine' will not do: allowed: a whole number, 0 or more"
    }


def kept(table: Table, name: str) -> list[Any]:
    """The rows that keep a version of this profile: the table of this file keeps those of the other tests, too."""
    rows = JournalReader(table.config.data).of_type("profile_kept")
    return [row for row in rows if row.event.name == name]  # type: ignore[attr-defined]


def let_a_hand_be(open_: bool, table: Table) -> None:
    """Open a hand, or end it, where another test has left the table otherwise."""
    if (table.process.state.phase not in BETWEEN_HANDS) is not open_:
        table.do('{"do": "next"}' if open_ else '{"do": "void", "reason": "for the test"}')


def test_writing_a_version_down_asks_for_a_floor_person_and_keeps_every_version(
    client: FlaskClient, table: Table
) -> None:
    fields = form(client, "traditional", name="friday", title="Friday")
    refused = order(client, "traditional", "keep", fields=fields, reason="a test")
    assert refused.status_code == 403
    assert refused.json["ask"] == ["floor"]
    assert keep(client, "traditional", name="friday", title="Friday").status_code == 200
    assert keep(client, "friday", foul__points="7").status_code == 200
    shown = client.get("/profiles/friday").text
    assert "A foul pays 7 points to each opponent." in shown
    assert shown.count("Moreno (floor person)") >= 2
    assert "Go back to it" in shown
    rows = kept(table, "friday")
    assert [row.actor for row in rows] == ["floor:Moreno"] * 2
    oldest = rows[0].event.hash[:10]
    before = client.get(f"/profiles/friday?version={oldest}").text
    assert "A foul pays 7 points to each opponent." not in before
    assert order(client, "friday", "back", version=oldest, reason="it was better", **FLOOR).status_code == 200
    assert "A foul pays 7 points to each opponent." not in client.get("/profiles/friday").text
    assert len(kept(table, "friday")) == 3


def test_a_version_keeps_its_name_whatever_is_sent(client: FlaskClient, table: Table) -> None:
    assert keep(client, "traditional", name="sunday", title="Sunday").status_code == 200
    assert keep(client, "sunday", name="washington-2-4").status_code == 200
    names = [row.event.name for row in JournalReader(table.config.data).of_type("profile_kept")]  # type: ignore[attr-defined]
    assert names[-2:] == ["sunday", "sunday"]


def test_the_name_of_another_profile_is_refused(client: FlaskClient) -> None:
    assert keep(client, "traditional", name="washington-2-4").json["errors"].keys() == {"name"}


def test_a_profile_is_never_put_in_force_under_an_open_hand(client: FlaskClient, table: Table) -> None:
    let_a_hand_be(True, table)
    assert keep(client, "traditional", name="monday", title="Monday").status_code == 200
    refused = order(client, "monday", "use", reason="a test", **FLOOR)
    assert refused.status_code == 409
    table.do('{"do": "void", "reason": "for the test"}')
    assert order(client, "monday", "use", reason="the manager says so", **FLOOR).status_code == 200
    listed = client.get("/profiles").text
    assert "Monday" in listed.partition("</section>")[0]
    assert "the manager says so" in listed
    table.do('{"do": "next"}')
    opened = table.process.state.opened
    assert opened is not None
    assert opened.profile == "monday"
    table.do('{"do": "void", "reason": "for the test"}')


def test_a_packaged_profile_can_be_put_in_force(client: FlaskClient, table: Table) -> None:
    let_a_hand_be(False, table)
    assert order(client, "clean-sweep-online", "use", reason="a test", **FLOOR).status_code == 200
    assert table.process.state.house.profile == "clean-sweep-online"


def test_two_profiles_side_by_side_show_what_differs_first() -> None:
    options = compare_profiles(load_profile("traditional"), load_profile("california-face-up"))
    differ = [option.differs for option in options]
    assert differ == sorted(differ, reverse=True)
    by_path = {option.path: option for option in options}
    assert ("pair of queens", "–", "7") in by_path["bonus.front"].lines
    assert not by_path["hands.wheel"].differs


def test_what_is_compared_is_said_in_words_and_signs(client: FlaskClient) -> None:
    page = client.get("/profiles/compare?one=traditional&other=california-face-up").text
    assert page.index("options differ") < page.index("the same in both")
    assert page.count("differs:") == page.count('<tr class="differs">')


@pytest.mark.parametrize(
    "path", ["/profiles/nobodys", "/profiles/compare?one=traditional", "/profiles/x/edit"]
)
def test_what_is_not_there_is_said_so(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_an_earlier_releases_text_in_force_is_never_shown_as_todays(lay: Lay) -> None:
    felt = lay(profile="traditional", options={})
    earlier = load_profile("traditional").with_options({"foul.points": 5})
    felt.profile_hash = felt.journal.keep("profile", profile_toml(earlier).encode())
    felt.rules = earlier
    felt.say(ev.TableStarted(house=felt.house.settings))
    felt.to_setting()
    client = create_app(Settings(felt.folder, felt.folder / "table.sock")).test_client()
    listed = client.get("/profiles").text
    assert listed.count("In force") == 2  # above all, and at the text that the record holds
    link = f"/profiles/traditional?version={felt.profile_hash[:10]}"
    assert link in listed
    assert "A foul pays 5 points to each opponent." in client.get(link).text
    today = client.get("/profiles/traditional").text
    assert "A foul pays 4 points to each opponent." in today
    assert "In force" not in today


def test_the_house_rules_come_as_a_pdf(client: FlaskClient) -> None:
    answer = client.get("/profiles/traditional/house-rules.pdf")
    assert answer.data.startswith(b"%PDF-")
    assert "house-rules-traditional.pdf" in answer.headers["Content-Disposition"]


@pytest.mark.parametrize("name", POISON)
def test_a_poisoned_profile_gets_a_sentence_from_the_table(table: Table, name: str) -> None:
    text, why = POISON[name]
    for command in (
        {"do": "keep_profile", "text": text, "reason": "a test", **FLOOR},
        {"do": "set_house", "profile_text": text, "reason": "a test", **FLOOR},
    ):
        answer = table.ask(json.dumps(command))
        assert answer["ok"] is False
        assert why in answer["error"] or "cannot be used" in answer["error"]


def test_what_is_no_order_is_refused(client: FlaskClient) -> None:
    for body in (b"[]", b"{", b"[" * 50_000, b'{"do": "burn"}', b'{"do": "back"}'):
        answer = client.post("/profiles/traditional", data=body, content_type="application/json")
        assert answer.status_code == 400
    assert client.post("/profiles/traditional", data=b"x" * 300_000).status_code == 413
    odd = order(client, "traditional", "check", fields=[1, ["a"], ["name", 3], ["foul.points", "9"]])
    assert odd.status_code == 422
