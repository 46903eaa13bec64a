"""Asks everything of the page's HTTP interface that its own description allows, and much that it does not; then each
page and file with any query.

    python -m tests.dealer_ui.fuzz --examples 3000

The table behind it is a real table process with people, a past hand and an open one. No answer may be an error of the
page's own or one that the description lacks; nothing may be read or done without the role for it.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import click
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.specs.openapi import checks as known
from werkzeug.http import parse_cookie

from dealer_ui.web.guard import PAST
from dealer_ui.web.services import services
from dealer_ui.web.sessions import COOKIE
from firmware.table.command import COMMAND_ROLES
from firmware.table.people import Role
from tests.dealer_ui.house import PEOPLE, house, page_of
from tests.firmware.running_table import Table

NOT_ASKED: Final = [
    known.ignored_auth,  # without a session anyone who asks is the dealer; roles are checked here
    known.negative_data_rejection,  # the table refuses with 409, not 400
    known.positive_data_acceptance,  # what may be done depends on the hand
]

PAGE_CODES: Final = frozenset({200, 206, 302, 304, 308, 400, 403, 404, 416})
NAMES: Final = st.sampled_from(("1", "2", "traditional", "clock", "puck", "felt", "feltwatch.css")) | st.text(
    min_size=1, max_size=12
)
# fmt: off
FIELDS: Final = (
    "of", "back", "for", "one", "other", "version", "checks", "seat", "player", "profile", "dealer", "with", "from",
    "to", "day", "hour", "before", "row", "card", "marks", "job", "down", "kiosk",
)
# fmt: on
QUERY: Final = st.dictionaries(
    st.sampled_from(FIELDS),
    st.sampled_from(
        ("1", "-1", "2026-11-20", "2026-11-20T18:30", "floor", "traditional", "traditional@a", "/set-up")
    )
    | st.text(max_size=12),
    max_size=3,
)
"""Every field of a query that a page reads, with sound and unsound values."""


class Breach(AssertionError):
    """Something was read or done without its role, or a secret was told."""


class _EarlyEnd(BaseException):
    """Ends the tries at once: the table went on, so the same request may be answered otherwise when tried again."""

    def __init__(self, found: Exception) -> None:
        self.found = found


@dataclass
class Attack:
    """One role's requests to one table."""

    app: Flask
    table: Table
    role: Role
    cookie: str | None
    codes: dict[str, Counter[int]] = field(default_factory=dict)

    def run(self, examples: int, only: str = "") -> None:
        """Ask everything, or one operation, so many times. Raises Found, or what schemathesis finds."""
        schema = schemathesis.openapi.from_wsgi("/openapi.json", self.app)
        for found in schema.get_all_operations():
            operation = found.ok()  # type: ignore[union-attr]
            if only not in ("", operation.label):
                continue
            seen = self.codes.setdefault(operation.label, Counter())
            asked = operation.body or operation.path_parameters
            for mode in GenerationMode if operation.body else (GenerationMode.POSITIVE,):

                @given(case=operation.as_strategy(generation_mode=mode))
                @settings(
                    max_examples=examples if operation.body else max(4, examples // 4) if asked else 2,
                    deadline=None,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                )
                def ask(case: Any) -> None:
                    try:
                        self._ask(case, seen)  # noqa: B023 -- called at once
                    except Exception as error:
                        raise _EarlyEnd(error) from error

                try:
                    ask()
                except _EarlyEnd as ended:
                    raise ended.found from None
        if not only:
            self._run_pages(max(4, examples // 4), set(schema.raw_schema["paths"]))

    def _run_pages(self, examples: int, described: set[str]) -> None:
        """Ask each page and file that the description leaves out, with any name and query."""
        for rule in self.app.url_map.iter_rules():
            if (
                "GET" in (rule.methods or ())
                and re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule) not in described
            ):
                seen = self.codes.setdefault(f"GET {rule.rule}", Counter())

                @given(names=st.fixed_dictionaries(dict.fromkeys(rule.arguments, NAMES)), query=QUERY)
                @settings(
                    max_examples=examples,
                    deadline=None,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                )
                def ask(names: dict[str, str], query: dict[str, str]) -> None:
                    path = rule.rule  # noqa: B023 -- called at once
                    for name, value in names.items():
                        path = re.sub(rf"<(?:\w+:)?{name}>", lambda _: quote(value, safe=""), path)  # noqa: B023
                    self._ask_page(path, query, seen)  # noqa: B023

                ask()

    def _ask_page(self, path: str, query: dict[str, str], seen: Counter[int]) -> None:
        client = self.app.test_client()
        if self.cookie:
            client.set_cookie(COOKIE, self.cookie)
        with client.get(path, query_string=query) as response:
            seen[response.status_code] += 1
            if response.status_code not in PAGE_CODES:
                raise Breach(f"{path} with {query} answered {response.status_code}")
            for secret in self._secrets():
                if secret.encode() in response.data:
                    raise Breach(f"{path} tells a secret")

    def _ask(self, case: Any, seen: Counter[int]) -> None:
        case.cookies.clear()
        token = {"X-CSRF-Token": self.app.config["CSRF_TOKEN"], "Accept-Encoding": "identity"}
        response = case.call(headers=token, cookies={COOKIE: self.cookie} if self.cookie else {})
        seen[response.status_code] += 1
        # a void hand that nobody signs, and other commands, may make a check bad
        is_health = case.path == "/healthz" and response.status_code == 503
        case.validate_response(response, excluded_checks=NOT_ASKED + is_health * [not_a_server_error])
        text = response.content
        for secret in self._secrets():
            if secret.encode() in text:
                raise Breach(f"{case.path} tells a secret")
        if response.status_code != 200:
            return
        if case.path == "/command":
            do = case.body["do"]
            if not {Role.DEALER, self.role} & COMMAND_ROLES[do]:
                raise Breach(f"{self.role} could {do}")
        if case.path == "/captures/{name}" and "000001" in case.formatted_path and self.role not in PAST:
            raise Breach(f"{self.role} could read {case.formatted_path}")

    def _secrets(self) -> Iterator[str]:
        yield from (person.pin for person in self.table.process.state.people if person.pin)
        if self.cookie:
            yield self.cookie


@contextmanager
def attacks(folder: Path) -> Iterator[dict[Role, Attack]]:
    """One attack for each role, on one house."""
    load_all_checks()
    with house(folder) as table:
        app = page_of(table)
        services(app).live.stop()  # a stream then ends after its first view
        token = {"X-CSRF-Token": app.config["CSRF_TOKEN"]}
        ready = {Role.DEALER: Attack(app, table, Role.DEALER, None)}
        for name, (role, pin) in PEOPLE.items():
            order = {"do": "unlock", "by": name, **({"pin": pin} if pin else {})}
            answer = app.test_client().post("/command", json=order, headers=token)
            cookie = parse_cookie(answer.headers["Set-Cookie"])[COOKIE]
            ready[role] = Attack(app, table, role, cookie)
        yield ready


@click.command()
@click.option("--examples", default=3000, show_default=True, help="Commands a role and kind of data.")
def main(examples: int) -> None:
    """Fuzz the page's HTTP interface as each role."""
    with tempfile.TemporaryDirectory() as folder, attacks(Path(folder)) as ready:
        for role, attack in ready.items():
            begun = time.monotonic()
            attack.run(examples)
            click.echo(f"{role}: {time.monotonic() - begun:.0f} s")
            for label, codes in attack.codes.items():
                click.echo(f"  {label}: " + ", ".join(f"{code}: {n}" for code, n in sorted(codes.items())))
    click.echo("No error of the page's own; nothing read or done without its role.")


if __name__ == "__main__":
    main()
