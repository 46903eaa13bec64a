"""What the pit's routes share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flask import Flask, current_app, render_template

from dealer_ui.web import guard
from pit.pages.floor import FloorLive, FloorMessages
from pit.store.database import Database
from pit.store.files import Files
from pit.store.replica import Replica


@dataclass(frozen=True)
class Pit:
    """What the pit's routes use."""

    database: Database
    files: Files
    folder: Path
    live: FloorLive
    messages: FloorMessages
    name: str
    metrics_token: str = ""
    replica: Replica | None = None
    certificate: Path | None = None
    """The folder of the pages' own certificate, where TLS is before them."""

    @property
    def searched(self) -> Database:
        """The database that answers searches and reports: a copy, where there is one that is not behind."""
        return self.replica.database() if self.replica else self.database


def pit(app: Flask | None = None) -> Pit:
    """Return an application's parts, or those of the current request's."""
    found = (app or current_app).extensions["feltwatch-pit"]
    assert isinstance(found, Pit)
    return found


def page(template: str, title: str, **values: Any) -> str:
    """Render a page of the pit."""
    return render_template(
        f"pit/{template}.html", title=title, token=guard.token(), build=current_app.config["BUILD"], **values
    )
