"""A felt with its page, for attacks on it; a switch that takes one defence away."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from dealer_ui.server.app import Settings, create_app
from firmware.record_folder import SOCKET
from tests.dealer_ui.conftest import felt, lay
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.house import table
from tests.dealer_ui.past import played
from tests.dealer_ui.remote_house import remote_app
from tests.firmware.update.fixtures import box, maker, new

__all__ = ["box", "felt", "lay", "maker", "new", "table"]


@pytest.fixture
def app(felt: Felt) -> Flask:
    app = create_app(Settings(felt.folder, felt.folder / SOCKET))
    app.config["TESTING"] = False  # errors are answered as they are in the card room
    return app


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    return tmp_path / "secrets"


@pytest.fixture
def remote_felt(felt: Felt) -> Felt:
    """Hand 1 is over and has pictures."""
    played(felt)
    return felt


@pytest.fixture
def review_app(remote_felt: Felt, secrets: Path) -> Flask:
    """The review of past hands for other machines."""
    return remote_app(remote_felt.folder, secrets)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()
