"""The review for other machines: what is shown there, who may look, the certificate."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import socket
import ssl
import stat
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from cryptography import x509
from flask import Flask
from flask.testing import FlaskClient

from dealer_ui.remote import front
from dealer_ui.remote.access import RemotePeople, RemoteSessions
from dealer_ui.remote.app import remote_access
from dealer_ui.web import tls
from dealer_ui.web.passphrases import AccessError
from dealer_ui.web.rate_limit import Limit, canonical_address, network_of
from dealer_ui.web.tls import CERTIFICATE, KEY, TlsError, certificate, need_usable, write_owner_only
from firmware.cli.main import main
from firmware.table.people import Role
from tests.dealer_ui.conftest import Lay
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.past import corrected, drop_pictures, ticking
from tests.dealer_ui.remote_house import NAME, PASSPHRASE, logged_in, remote_app, visitor


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    return tmp_path / "secrets"


@pytest.fixture
def past(lay: Lay) -> Felt:
    felt = lay(clock=ticking())
    corrected(felt)
    return felt


@pytest.fixture
def remote(past: Felt, secrets: Path) -> Flask:
    return remote_app(past.folder, secrets)


def asked(client: FlaskClient, path: str, **more: Any) -> tuple[int, bytes]:
    with closing(client.open(path, **more)) as response:
        return response.status_code, response.get_data()


def page(client: FlaskClient, path: str, **more: Any) -> tuple[int, str]:
    code, data = asked(client, path, **more)
    return code, data.decode()


# ---- reading ----


def test_whoever_logs_in_reads_past_hands_until_they_log_out(
    remote: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    client = visitor(remote)
    wrong = page(client, "/log-in", method="POST", data={"name": NAME, "passphrase": "wrong passphrase"})
    assert wrong[0] == 403
    assert "Name or passphrase is wrong." in wrong[1]
    right = {"name": f" {NAME} ", "passphrase": PASSPHRASE}
    with closing(client.post("/log-in", data=right)) as answer:
        assert (answer.status_code, answer.location) == (303, "/review")
        assert answer.headers["Set-Cookie"].split("; ")[1:] == [
            "Secure",
            "HttpOnly",
            "Path=/",
            "SameSite=Strict",
        ]
    said = " ".join(record.getMessage() for record in caplog.records)
    assert f"log-in of {NAME} from 192.0.2.10" in said
    assert "log-in refused to 192.0.2.10" in said
    assert PASSPHRASE not in said
    assert "wrong passphrase" not in said
    assert page(client, "/review")[0] == 200
    assert page(client, "/log-out", method="POST")[0] == 303
    assert page(client, "/review")[0] == 302


def test_every_page_of_a_hand_is_shown_without_a_script_and_leads_nowhere_else(remote: Flask) -> None:
    client = logged_in(remote)
    for path in ("", "/1", "/1/story", "/1/look", "/1/changes", "/1/again", "/1/dispute", "/7"):
        code, text = page(client, f"/review{path}")
        assert code == (404 if path == "/7" else 200)
        assert "<script" not in text
        assert "<button" not in text.replace('<button class="action quiet"><span>Log out', "")
        assert "Log out" in text
        assert 'href="/"' not in text
        assert "data-seq" not in text
    assert asked(client, "/captures/000001/second.jpg")[0] == 200


def test_who_plays_a_first_hand_is_not_named_before_it_is_over(remote: Flask, past: Felt) -> None:
    past.do("rename_player", player="Lin", name="Nobody yet")
    past.deal()
    assert "Nobody yet" not in page(logged_in(remote), "/review")[1]
    past.do("void", reason="Exposed card")
    assert "Nobody yet" in page(logged_in(remote), "/review")[1]


def test_the_shift_report_is_read_there_too(remote: Flask) -> None:
    client = logged_in(remote)
    code, text = page(client, "/report")
    assert code == 200
    assert "/slip" not in text
    assert page(client, "/report.csv")[1].startswith('"dealer","down"')
    assert asked(client, "/report.pdf")[1].startswith(b"%PDF")


def test_a_dispute_file_is_given_once_the_table_has_made_it(remote: Flask, past: Felt) -> None:
    client = logged_in(remote)
    assert "Nobody has made it yet" in page(client, "/review/1/dispute")[1]
    assert page(client, "/review/1/file")[0] == 404
    (past.folder / "exports").mkdir()
    (past.folder / "exports/hand-000001.zip").write_bytes(b"PK")
    assert 'href="/review/1/file" download' in page(client, "/review/1/dispute")[1]
    assert asked(client, "/review/1/file") == (200, b"PK")
    assert hashlib.sha256(b"PK").hexdigest()[:16] in page(client, "/review/1/dispute")[1], "to be compared"
    assert page(client, "/review/1/stick")[0] == 404, "nobody elsewhere asks for a stick"


def test_a_picture_that_the_houses_rule_removed_is_not_there(remote: Flask, past: Felt) -> None:
    drop_pictures(past)
    assert page(logged_in(remote), "/captures/000001/second.jpg")[0] == 404


def test_a_page_is_found_again_by_a_reader_without_a_browser(remote: Flask) -> None:
    client = visitor(remote)
    client.environ_base["HTTP_ACCEPT"] = "application/json"
    assert page(client, "/review") == (401, '{"error":"Log in first.","ok":false}\n')


# ---- people ----


@pytest.mark.parametrize(
    ("name", "passphrase", "why"),
    [
        ("Ines", "too short", "12 to 200"),
        ("Ines", "aaaaaaaaaaaaaaaa", "easy to guess"),
        ("Ines", "ines and her dog", "easy to guess"),
        ("Ines", "x" * 300, "12 to 200"),
        ("", PASSPHRASE, "1 to 40"),
        ("\u3164", PASSPHRASE, "can be seen"),
        ("Ines\u200f", PASSPHRASE, "can be seen"),
    ],
)
def test_a_name_or_passphrase_that_does_not_do_is_refused(
    secrets: Path, name: str, passphrase: str, why: str
) -> None:
    with pytest.raises(AccessError, match=why):
        RemotePeople(secrets).add(name, passphrase)
    assert RemotePeople(secrets).names() == []


def test_nobody_is_listed_who_looks_like_somebody_else(secrets: Path) -> None:
    people = RemotePeople(secrets)
    people.add("Ines", PASSPHRASE)
    for name in ("ines", "lnes", "In\u0435s"):
        with pytest.raises(AccessError, match="looks like Ines"):
            people.add(name, PASSPHRASE)
    assert people.add(" Ines ", f"{PASSPHRASE} again") == "Ines"
    assert people.names() == ["Ines"]


def test_a_person_listed_by_an_earlier_release_gets_another_passphrase_and_is_removed(secrets: Path) -> None:
    people = RemotePeople(secrets)
    people.add("Ines", PASSPHRASE)
    path = secrets / "people.json"
    path.write_text(path.read_text().replace("Ines", "\u3164"))
    people = RemotePeople(secrets)
    assert people.identify("\u3164", PASSPHRASE)
    assert people.add("\u3164", f"{PASSPHRASE} again") == "\u3164"
    people.remove("\u3164")
    assert people.names() == []


def test_a_passphrase_is_known_however_its_accents_were_typed(secrets: Path) -> None:
    people = RemotePeople(secrets)
    people.add("Inés", "café con leche y más")
    assert people.identify("Inés", "cafe\u0301 con leche y ma\u0301s ")
    assert people.identify("Inés", "cafe con leche y mas") is None
    assert people.identify("Nobody", "café con leche y más") is None


def test_a_list_of_people_that_is_broken_lets_nobody_in(remote: Flask, secrets: Path) -> None:
    (secrets / "people.json").write_text("[]")
    client = visitor(remote)
    code, text = page(client, "/log-in", method="POST", data={"name": NAME, "passphrase": PASSPHRASE})
    assert code == 503
    assert "Traceback" not in text


def test_the_oldest_session_ends_where_there_are_too_many(secrets: Path) -> None:
    people = RemotePeople(secrets)
    people.add(NAME, PASSPHRASE)
    known = people.identify(NAME, PASSPHRASE)
    assert known
    sessions = RemoteSessions(people)
    tokens = [sessions.open(NAME, known) for _ in range(65)]
    assert [sessions.role(token) for token in (tokens[0], tokens[1], "", None)] == [
        None,
        Role.AUDITOR,
        None,
        None,
    ]


def test_addresses_are_counted_by_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        canonical_address("2001:db8:0:0::1")
        == canonical_address("2001:db8::1")
        != canonical_address("2001:db8::2")
    )
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:2") != network_of("2001:db8:0:1::1")
    assert canonical_address("fe80::1%eth0") == "fe80::1"
    assert canonical_address("nonsense") == ""
    limit = Limit((1, 1e-9), (1 << 60, 1.0), lambda: 0.0)
    monkeypatch.setattr("dealer_ui.web.rate_limit.MAX_ADDRESSES", 100)
    for number in range(1000):
        limit.wait_s(str(number))
    assert len(limit._of) == 100


# ---- certificate ----


def test_certificate_and_key_are_made_once_for_the_box_and_nobody_else_may_read_the_key(
    secrets: Path,
) -> None:
    first = certificate(secrets, ["pit4.example", "192.0.2.7"])
    assert certificate(secrets) == first
    assert first.names[:1] == ("pit4.example",)
    assert "192.0.2.7" in first.names
    assert 820 < first.days_left() <= 825
    assert first.days_left(first.ends + timedelta(days=1)) < 0
    assert [stat.S_IMODE((secrets / name).stat().st_mode) for name in (CERTIFICATE, KEY)] == [0o600, 0o600]
    made = x509.load_pem_x509_certificate((secrets / CERTIFICATE).read_bytes())
    assert made.subject == made.issuer
    assert need_usable(secrets) == first
    assert certificate(secrets, again=True).fingerprint != first.fingerprint


def test_a_stop_between_key_and_certificate_is_made_good(
    secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate(secrets)

    def stops(path: Path, data: bytes, **how: bool) -> None:
        write_owner_only(path, data, **how)
        raise OSError("power cut")

    with monkeypatch.context() as cut:
        cut.setattr(tls, "write_owner_only", stops)
        with pytest.raises(TlsError):
            certificate(secrets, again=True)
    certificate(secrets)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(secrets / CERTIFICATE, secrets / KEY)  # raises where they do not belong together


def run(*words: str, said: str = "") -> Result:
    return CliRunner().invoke(main, ["review", *words], input=said)


def test_the_command_lists_who_may_look_and_tells_the_fingerprint(secrets: Path) -> None:
    where = ("--secrets", str(secrets))
    assert "Nobody may look" in run("list", *where).output
    added = run("add", NAME, *where, said=f"{PASSPHRASE}\n")
    shown = certificate(secrets)
    assert added.exit_code == 0
    assert f"SHA-256 {shown.fingerprint}" in added.output
    assert PASSPHRASE not in added.output
    assert json.loads(run("list", "--json", *where).output) == {"people": [NAME]}
    assert json.loads(run("certificate", "show", "--json", *where).output)["sha256"] == shown.fingerprint
    assert run("certificate", "make", "--name", "x.example", *where).exit_code == 2
    again = run("certificate", "make", "--again", "--name", "x.example", *where)
    assert "x.example" in again.output
    assert shown.fingerprint not in again.output
    assert run("add", NAME, *where, said="short\n").exit_code == 2
    assert run("remove", NAME, *where).exit_code == 0
    refused = run("remove", NAME, *where)
    assert refused.exit_code == 2
    assert "Traceback" not in refused.output


@pytest.mark.parametrize("words", [(), ("--json",), ("--again", "--name", "x.example")])
def test_the_certificates_former_command_names_the_two_that_took_its_place(
    secrets: Path, words: tuple[str, ...]
) -> None:
    refused = run("certificate", *words, *(("--secrets", str(secrets)) if words else ()))
    assert refused.exit_code == 2
    for command in ("show", "make"):
        assert f"feltwatch review certificate {command}" in refused.output
    assert not (secrets / "tls.crt").exists()


def test_the_certificate_is_made_by_the_command_that_says_so_and_only_once(secrets: Path) -> None:
    where = ("--secrets", str(secrets))
    assert "There is no certificate yet." in run("certificate", "show", *where).output
    assert not (secrets / "tls.crt").exists()
    first = run("certificate", "make", *where)
    assert first.exit_code == 0
    assert (
        run("certificate", "make", *where).output == run("certificate", "show", *where).output == first.output
    )


def test_the_command_serves_by_no_certificate_that_is_over_or_not_there(
    secrets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve = ("serve", "--data", str(tmp_path), "--secrets", str(secrets), "--page", str(tmp_path / "no/page"))
    assert "There is no certificate yet." in run(*serve).output
    monkeypatch.setattr(tls, "LASTS", timedelta(hours=1) - timedelta(days=1))
    certificate(secrets)
    done = run(*serve)
    assert done.exit_code == 1
    assert "The certificate is over." in done.output
    monkeypatch.setattr(tls, "LASTS", timedelta(days=9))
    certificate(secrets, again=True)
    assert "There can be no socket at" in run(*serve).output


def test_the_command_becomes_nginx_where_it_can_listen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    given = ("front", "--page", "page.sock", "--certificate", str(tmp_path), "--folder", str(own))
    refused = run(*given, "--listen", "203.0.113.1")
    assert "cannot listen on 203.0.113.1:8443" in refused.output
    became: list[Any] = []
    monkeypatch.setattr(front, "need_nginx", lambda: None)
    monkeypatch.setattr("os.execve", lambda *how: became.extend(how))
    with socket.create_server(("127.0.0.1", 0)) as there:
        monkeypatch.setattr("firmware.systemd.sockets_from_manager", lambda: [there])
        assert f"https://127.0.0.1:{there.getsockname()[1]}/" in run(*given).output
        assert became[2] == {"NGINX": f"{there.fileno()};"}, "nothing else of the environment"
        assert there.get_inheritable()
    assert str(own / "nginx.conf") in became[1]
    assert f'proxy_pass "http://unix:{Path.cwd()}/page.sock:"' in (own / "nginx.conf").read_text()


def test_nginx_that_is_not_installed_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(front, "NGINX", tmp_path / "none")
    with pytest.raises(front.FrontError, match=r"apt-get install .*nginx-light"):
        front.need_nginx()


def test_every_place_in_the_site_file_is_put_in(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as one:
        text = front.site([one], tmp_path / "page", tmp_path / "secrets", tmp_path / "own")
    assert re.findall("@[a-z]+@", front.SITE.read_text()) != []
    assert re.findall("@[a-z]+@", text) == []


def test_the_words_for_limits_are_said_in_the_tables_language(remote: Flask, past: Felt) -> None:
    past.do("set_house", language="es", reason="a test")
    remote.extensions["feltwatch-log-in"] = replace(remote_access(remote), tries=Limit((1, 1e-6), (9, 1.0)))
    client = visitor(remote)
    assert "Contraseña" in page(client, "/log-in")[1]
    again = [page(client, "/log-in", method="POST", data={}) for _ in range(2)]
    assert [code for code, _ in again] == [403, 429]
    assert "Demasiadas" in again[1][1]
