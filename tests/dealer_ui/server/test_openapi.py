"""The HTTP interface and its description."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jsonschema_rs import validator_for
from werkzeug.wrappers import Response as Redirect

from dealer_ui.server.openapi import description
from firmware.table.command import COMMAND_ROLES, parse_command
from firmware.table.people import Role
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.fuzz import Attack, Breach, attacks

PEOPLES = {
    "/review",
    "/report.csv",
    "/report.pdf",
    "/review/<hand>/file",
    "/slip.pdf",
    "/profiles/<name>/house-rules.pdf",
}
"""Besides the routes that return a string: what is shown, saved or printed for people."""


def test_every_route_for_programs_is_described_and_no_page_is(app: Flask) -> None:
    described = {(path, method) for path, item in description(app)["paths"].items() for method in item}
    asked = set()
    for rule in app.url_map.iter_rules():
        answers = get_type_hints(app.view_functions[rule.endpoint]).get("return")
        is_page = str in (answers, *get_args(answers)) or answers is Redirect
        if rule.endpoint != "static" and rule.rule not in PEOPLES and not is_page:
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
            asked |= {(path, method.lower()) for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}}
    assert described == asked
    assert ("/command", "post") in described
    assert ("/captures/{name}", "get") in described


def test_a_described_route_says_what_it_does_and_to_whom_it_is_open(app: Flask) -> None:
    paths = description(app)["paths"]
    assert paths["/view.json"]["get"]["summary"] == "Return the view as JSON, for programs."
    assert paths["/setup/look"]["post"]["description"] == "Open to: technician."
    assert {"302", "403", "404"} <= set(paths["/setup/picture/{number}"]["get"]["responses"])
    for item in paths.values():
        for operation in item.values():
            assert operation["summary"].endswith((".", ":")), operation


def test_the_order_of_a_trial_is_what_the_table_takes_without_who_and_which(app: Flask) -> None:
    order = description(app)["components"]["schemas"]["TrialOrder"]
    assert set(order["properties"]) == {"act", "name", "seen"}
    assert order["properties"]["name"]["maxLength"] == 40


def test_every_command_is_described_with_the_roles_that_may_give_it(app: Flask) -> None:
    command = description(app)["components"]["schemas"]["Command"]
    assert set(command["discriminator"]["mapping"]) == set(COMMAND_ROLES)
    for do, roles in COMMAND_ROLES.items():
        assert f"- `{do}`: {', '.join(sorted(roles))}" in command["description"]


def test_a_described_command_is_one_that_the_table_takes_and_a_session_is_not_the_browsers_to_send(
    app: Flask,
) -> None:
    schemas = description(app)["components"]["schemas"]
    assert parse_command('{"do": "key_button", "seat": 2}').do == "key_button"
    for model in set(schemas["Command"]["discriminator"]["mapping"].values()):
        schema = schemas[model.rpartition("/")[2]]
        assert "do" in schema["required"]
        assert {"session", "actor"}.isdisjoint(schema["properties"])
        assert schema["additionalProperties"] is False


@pytest.mark.parametrize("prepare", [Felt.deal, Felt.to_setting, Felt.to_settled])
def test_the_view_fits_its_description(felt: Felt, client: FlaskClient, prepare: object) -> None:
    assert callable(prepare)
    prepare(felt)
    told = description(client.application)
    schema = {"$ref": "#/components/schemas/View", "components": told["components"]}
    data = client.get("/view.json").get_json()
    validator_for(schema).validate(data)
    del data["trouble"]
    assert not validator_for(schema).is_valid(data)


def test_the_description_is_given_by_the_page_itself(client: FlaskClient) -> None:
    response = client.get("/openapi.json")
    assert response.get_json() == description(client.application)
    assert response.get_json()["openapi"].startswith("3.1")


# schemathesis closes no WSGI file
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "examples"),
    [
        pytest.param(Role.DEALER, 10, id="dealer"),
        pytest.param(Role.DEALER, 25, id="dealer at length", marks=pytest.mark.exhaustive),
        pytest.param(Role.FLOOR, 25, id="floor at length", marks=pytest.mark.exhaustive),
    ],
)
def test_no_request_breaks_the_page_or_passes_its_role(tmp_path: Path, role: Role, examples: int) -> None:
    """The short run of `python -m tests.dealer_ui.fuzz`."""
    with attacks(tmp_path) as ready:
        ready[role].run(examples)
        pages = [label for label in ready[role].codes if label.startswith("GET /review")]
        tried = ready[role].codes["POST /command"]
    assert tried.total() >= examples
    assert len(pages) >= 8
    assert 409 in tried, "no command reached the table"


@pytest.mark.slow
def test_the_fuzzer_sees_a_role_that_may_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with attacks(tmp_path) as ready:
        dealer: Attack = ready[Role.DEALER]
        monkeypatch.setattr(
            "tests.dealer_ui.fuzz.COMMAND_ROLES", dict.fromkeys(COMMAND_ROLES, frozenset({Role.AUDITOR}))
        )
        with pytest.raises(Breach, match="dealer could"):
            dealer.run(1000, only="POST /command")  # it ends with the first that it finds


def test_brackets_without_end_are_refused(app: Flask, client: FlaskClient) -> None:
    headers = {"X-CSRF-Token": app.config["CSRF_TOKEN"], "Content-Type": "application/json"}
    assert client.post("/command", data="[" * 16_000, headers=headers).status_code == 400
