"""Who comes in at the pit's doors, and who does not."""

from __future__ import annotations

import http.client
import shutil
import socket
import ssl
from datetime import timedelta
from pathlib import Path

import pytest

from firmware.record.journal.reader import JournalReader
from firmware.uplink.settings import Settings, load
from firmware.uplink.wire import Head, Offer, encode
from pit import authority
from pit.authority import Authority
from pit.files.offers import HouseRepository
from pit.status.tables import list_tables, strike
from pit.store.database import Database
from tests.generated_record import generate_record
from tests.pit.conftest import Pit, without_nginx
from tests.pit.test_uplink import ask, send_all, stored


def test_a_struck_off_table_is_refused_and_what_it_sent_stays(pit: Pit, data: Path) -> None:
    _, enrolment = pit.enrol("Table 1")
    follower = pit.follower(enrolment, data)
    send_all(follower)
    rows = stored(pit)
    strike(pit.database, "Table 1")
    generate_record(data, 1, pool=1)
    follower.step()
    assert "struck off" in str(follower.status.trouble)
    assert stored(pit) == rows


def test_a_certificate_of_the_authority_without_a_table_is_refused(pit: Pit, tmp_path: Path) -> None:
    pit.authority.enrol("Nobody", tmp_path / "nobody", [f"127.0.0.1:{pit.address[1]}"])
    assert ask(pit, tmp_path / "nobody", "GET", "/v1/record") == (
        403,
        {"error": "No table has this certificate. Enrol the table."},
    )


def test_no_certificate_and_one_of_another_authority_get_no_answer(
    pit: Pit, tmp_path: Path, data: Path
) -> None:
    _, ours = pit.enrol("Table 1")
    foreign = tmp_path / "foreign"
    Authority(tmp_path / "other").enrol("Table 1", foreign, [f"127.0.0.1:{pit.address[1]}"])
    shutil.copy(ours / "pit.crt", foreign / "pit.crt")  # it believes the pit; the pit does not believe it
    follower = pit.follower(foreign, data)
    follower.step()
    assert "cannot be reached" in str(follower.status.trouble) or "shows its certificate" in str(
        follower.status.trouble
    )
    bare = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    bare.check_hostname, bare.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", pit.address[1], context=bare, timeout=30)
    try:
        connection.request("GET", "/v1/record")
        assert connection.getresponse().status in (400, 403)
    except (OSError, http.client.HTTPException):
        pass  # the handshake was refused
    finally:
        connection.close()


def test_an_expired_certificate_is_refused_and_its_table_plays_on_unheard(
    pit: Pit, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authority, "LASTS", timedelta(hours=-1))
    _, enrolment = pit.enrol("Table 1")
    follower = pit.follower(enrolment, data)
    follower.step()
    assert "cannot be reached" in str(follower.status.trouble) or "shows its certificate" in str(
        follower.status.trouble
    )
    assert stored(pit) == []
    assert list_tables(pit.database)[0].fresh.heard_ms is None


def test_a_table_looks_at_no_dates_of_the_pit(
    database: Database, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = Authority(tmp_path / "authority")
    with monkeypatch.context() as past:
        past.setattr(authority, "LASTS", timedelta(hours=-1))
        ours.door()
    house = HouseRepository(tmp_path, ours)
    with without_nginx(database, ours, house, tmp_path) as address:
        pit = Pit(database, ours, address, tmp_path, house)
        _, enrolment = pit.enrol("Table 1")
        settings = load(enrolment)
        assert settings is not None
        strict = settings.context()
        strict.verify_flags = ssl.VerifyFlags.VERIFY_DEFAULT
        with (
            socket.create_connection(address) as plain,
            pytest.raises(ssl.SSLCertVerificationError, match="expired"),
        ):
            strict.wrap_socket(plain)
        send_all(pit.follower(enrolment, data))
        pit.clients[0].close()
    assert stored(pit) == JournalReader(data).events_since(0)


def test_a_table_does_not_believe_a_pit_of_another_authority(pit: Pit, tmp_path: Path, data: Path) -> None:
    _, ours = pit.enrol("Table 1")
    Authority(tmp_path / "other").enrol("x", tmp_path / "x", [])
    shutil.copy(tmp_path / "x" / "pit.crt", ours / "pit.crt")
    follower = pit.follower(ours, data)
    follower.step()
    assert "cannot be reached" in str(follower.status.trouble)
    assert stored(pit) == []


def test_a_header_says_nothing_about_who_a_table_is(pit: Pit, data: Path) -> None:
    one, ours = pit.enrol("Table 1")
    two, theirs = pit.enrol("Table 2")
    send_all(pit.follower(ours, data))
    status, answer = ask(pit, theirs, "GET", "/v1/files/" + "a" * 64, serial=one.serial)
    assert status == 404
    assert answer["error"]
    rows = JournalReader(data).events_since(0)
    body = encode(Offer(rows[0].hash, Head(rows[-1].seq, rows[-1].hash), rows=tuple(rows[:5])))
    status, answer = ask(pit, theirs, "POST", "/v1/rows", body, serial=one.serial)
    assert status == 409
    assert "another table's" in answer["error"]
    assert two.serial != one.serial


def test_half_a_request_and_silent_sockets_keep_nobody_waiting(pit: Pit, data: Path) -> None:
    _, enrolment = pit.enrol("Table 1")
    settings = load(enrolment)
    assert isinstance(settings, Settings)
    silent = [socket.create_connection(pit.address) for _ in range(100)]
    half = settings.context().wrap_socket(socket.create_connection(pit.address))
    half.sendall(b"POST /v1/rows HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
    send_all(pit.follower(enrolment, data))
    half.close()
    for one in silent:
        one.close()
