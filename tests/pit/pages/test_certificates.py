"""A certificate that ends within sixty days rings on the floor page and in the metrics, before tables are refused."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.x509 import load_pem_x509_certificate

from dealer_ui.web import tls
from firmware.update.house import FOLDER
from pit import authority
from pit.authority import Authority
from pit.door.enrolment import remember
from pit.files.offers import GOOD_UNTIL, HouseRepository
from pit.pages.certificates import AUTHORITY, PAGES, WARN_DAYS, WARN_FILES_DAYS, ends, soon
from pit.pages.people import PitRole
from pit.store.facts import set_fact
from tests.pit.pages.conftest import House


def said(house: House) -> str:
    """What the floor page says, after the ten seconds that it may be old."""
    house.app.extensions["feltwatch-pit"].live._hour_at = float("-inf")
    return house.logged_in(PitRole.FLOOR).get("/").text


@pytest.mark.parametrize(("days", "rings"), [(WARN_DAYS + 2, False), (WARN_DAYS - 1, True), (-0.5, True)])
def test_the_authoritys_end_rings_on_the_floor_page_and_in_the_metrics(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: float, rings: bool
) -> None:
    monkeypatch.setattr(authority, "LASTS", timedelta(days=days))
    made = Authority(tmp_path / "authority")
    remember(house.database, made)
    end, _files = ends(house.database, None)
    assert (end.name, f"good until {end.at.date()}" in said(house)) == (AUTHORITY, rings)
    text = house.logged_in(PitRole.OWNER).get("/metrics").text
    found = re.search(
        r'(?m)^feltwatch_pit_certificate_end_time_seconds\{certificate="authority"} (\S+)$', text
    )
    assert found
    assert float(found[1]) == end.at.timestamp()


def test_the_pages_certificate_is_read_where_the_service_manager_puts_it(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ends(house.database, None) == ends(house.database, tmp_path) == ()
    monkeypatch.setattr(tls, "LASTS", timedelta(days=WARN_DAYS - 1))
    made = tls.certificate(tmp_path)
    house.app.extensions["feltwatch-pit"].live._certificate = tmp_path
    assert [(one.name, one.at) for one in ends(house.database, tmp_path)] == [(PAGES, made.ends)]
    assert f"The certificate of these pages is good until {made.ends.date()}" in said(house)
    tls.certificate(tmp_path, again=True)
    monkeypatch.undo()
    tls.certificate(tmp_path, again=True)
    assert "The certificate of these pages" not in said(house), "another one was made"


def test_what_the_pit_cannot_sign_for_its_tables_rings_at_once(house: House, tmp_path: Path) -> None:
    made = Authority(tmp_path / "authority")
    remember(house.database, made)
    assert "The pit cannot sign what its tables may take" in said(house), (
        "its door has not said yet that it can"
    )
    repository = HouseRepository(tmp_path, made)
    with house.database.transaction() as connection:
        repository.renew(connection)
    assert "tables may take" not in said(house)
    (repository.folder / FOLDER / "timestamp.json").write_bytes(b"")  # as a power cut may leave it
    with house.database.transaction() as connection:
        repository.renew(connection)
    assert "The pit cannot sign what its tables may take" in said(house)
    shutil.rmtree(tmp_path / "authority")
    with house.database.transaction() as connection:
        HouseRepository(tmp_path, Authority(tmp_path / "authority")).renew(connection)
    assert "The pit cannot sign what its tables may take" in said(house), (
        "another authority, and its old files"
    )


@pytest.mark.parametrize(
    ("days", "rings"), [(WARN_FILES_DAYS + 1, False), (WARN_FILES_DAYS - 1, True), (-1, True)]
)
def test_what_was_not_signed_again_in_time_rings_before_no_table_takes_a_file(
    house: House, tmp_path: Path, days: int, rings: bool
) -> None:
    remember(house.database, Authority(tmp_path / "authority"))
    end = datetime.now(UTC) + timedelta(days=days, minutes=1)
    with house.database.transaction() as connection:
        set_fact(connection, GOOD_UNTIL, end.isoformat())
    assert (f"good until {end.date()}, and was not signed again in time" in said(house)) is rings


def test_a_certificate_of_the_door_or_of_a_table_never_ends_before_the_authoritys(tmp_path: Path) -> None:
    made = Authority(tmp_path / "authority")
    made.door()
    made.enrol("Table 1", tmp_path / "table", ["127.0.0.1:8443"])
    read = load_pem_x509_certificate
    of_authority = read(made.pem).not_valid_after_utc
    others = (tmp_path / "authority" / authority.DOOR_CERTIFICATE, tmp_path / "table" / "table.crt")
    assert all(read(path.read_bytes()).not_valid_after_utc >= of_authority for path in others)


def test_nothing_is_said_while_all_last(house: House) -> None:
    assert soon(ends(house.database, None), 0.0) == ()
