"""A felt, and the page's application on its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from dealer_ui.server.app import Settings, create_app
from firmware.record_folder import SOCKET
from tests.dealer_ui.felt import Felt

Lay = Callable[..., Felt]


@pytest.fixture
def lay(tmp_path: Path) -> Iterator[Lay]:
    """Lays a felt out, as `Felt` is made but for its folder; its journal is closed at the end."""
    laid: list[Felt] = []

    def lay_out(**made: Any) -> Felt:
        laid.append(Felt(tmp_path / f"felt-{len(laid)}", **made))
        return laid[-1]

    yield lay_out
    for felt in laid:
        felt.journal.close()


@pytest.fixture
def felt(lay: Lay) -> Felt:
    return lay()


@pytest.fixture
def app(felt: Felt) -> Flask:
    app = create_app(Settings(felt.folder, felt.folder / SOCKET, pit=felt.folder / "pit"))
    app.config["TESTING"] = False  # errors are answered as they are in the card room
    return app


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()
