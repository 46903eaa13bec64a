"""An error is a page with a way back for a person's browser, and one sentence or JSON for a program."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

CHROMIUM = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)
"""What Chromium sends: to Werkzeug its best match is `application/signed-exchange`."""


@pytest.mark.parametrize(
    ("address", "code"), [("/nowhere", 404), ("/review/9999", 404), ("/healthz/x", 404), ("/command", 405)]
)
def test_a_browser_gets_a_page_that_leads_back_to_the_table(
    client: FlaskClient, address: str, code: int
) -> None:
    answer = client.get(address, headers={"Accept": CHROMIUM})
    assert (answer.status_code, answer.mimetype) == (code, "text/html")
    assert 'href="/"' in answer.get_data(as_text=True)


def test_a_program_gets_a_sentence_or_json(client: FlaskClient) -> None:
    assert client.get("/nowhere", headers={"Accept": "*/*"}).mimetype == "text/plain"
    assert client.get("/nowhere", headers={"Accept": "application/json"}).get_json()["ok"] is False
