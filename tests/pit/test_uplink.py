"""A table's uplink and the pit's door, over real TLS, with a real record and a real database."""

from __future__ import annotations

import hashlib
import http.client
import json
import random
import shutil
import socket
import zlib
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from firmware.cli.retention import restore as restore_command
from firmware.record.backup import back_up
from firmware.record.evidence.verify import verify
from firmware.record.journal.clocks import now
from firmware.record.journal.journal import Journal
from firmware.record.journal.reader import JournalReader
from firmware.record.restore import restore
from firmware.table import events as ev
from firmware.table.entry import MAX_PAYLOAD, Entry
from firmware.table.errors import JournalError
from firmware.uplink.follow import FIRST_BACK_OFF_S, FORKED_S, HEARTBEAT_S, LOOK_EVERY_S, Follower
from firmware.uplink.settings import load
from firmware.uplink.wire import MAX_BYTES, Head, Offer, encode
from pit.cli.main import command as pit_command
from pit.follow.projector import project, reindex
from pit.status.tables import list_tables
from tests.generated_record import generate_record
from tests.pit.conftest import Pit


def send_all(follower: Follower) -> None:
    """Let the uplink go on until it has nothing more to send."""
    for _ in range(200):
        wait = follower.step()
        assert not follower.status.trouble, follower.status.trouble
        if wait and not follower.status.behind:
            return
    raise AssertionError("the uplink does not come to an end")


def send_named_texts(pit: Pit, enrolment: Path, data: Path) -> None:
    """Send all rows, and at the next heartbeat the texts that they name."""
    now = [0.0]
    follower = pit.follower(enrolment, data, lambda: now[0])
    send_all(follower)
    while project(pit.database):
        pass
    now[0] += HEARTBEAT_S
    follower.step()


def restore_from_pit(enrolment: Path, card: Path, sent: list[Entry]) -> None:
    """Put the pit's rows on a new card; they are those that the old one sent."""
    done = CliRunner().invoke(
        restore_command, ["--from-pit", str(enrolment), "--data", str(card), "--yes", "--unproven"]
    )
    assert done.exit_code == 0, done.output
    assert JournalReader(card).events_since(0)[: len(sent)] == sent


def stored(pit: Pit, branch: int = 1) -> list[Entry]:
    names = ", ".join(Entry._fields)
    with pit.database.transaction() as connection:
        return [
            Entry(*row)
            for row in connection.execute(
                f"SELECT {names} FROM entry JOIN record USING (record_id) WHERE branch = %s ORDER BY seq",
                (branch,),
            )
        ]


def ask(
    pit: Pit, enrolment: Path, method: str, path: str, body: bytes = b"", serial: str = ""
) -> tuple[int, Any]:
    """Send one request with a table's certificate, by other code than the uplink's; return status and JSON."""
    settings = load(enrolment)
    assert settings is not None
    connection = http.client.HTTPSConnection(*settings.addresses[0], context=settings.context(), timeout=60)
    connection.request(method, path, body, {"X-Client-Serial": serial} if serial else {})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    of_nginx = answer.status == 400 and data.startswith(b"<html>")  # a path that leads out of everything
    return answer.status, {} if of_nginx else json.loads(data)


def test_a_record_arrives_row_by_row_and_what_is_written_later_follows(pit: Pit, data: Path) -> None:
    _, enrolment = pit.enrol("Table 1")
    follower = pit.follower(enrolment, data)
    send_all(follower)
    assert stored(pit) == JournalReader(data).events_since(0)
    generate_record(data, 3, pool=3)
    send_all(follower)
    assert stored(pit) == JournalReader(data).events_since(0)
    assert follower.status.have == JournalReader(data).head()


def test_a_pit_with_an_empty_database_gets_everything_again(pit: Pit, data: Path, owned: str) -> None:
    _, enrolment = pit.enrol("Table 1")
    follower = pit.follower(enrolment, data)
    send_all(follower)
    with psycopg.connect(owned) as connection:  # as the owner may: the disk of the pit was lost
        connection.execute("SET session_replication_role = replica")
        connection.execute("DELETE FROM entry")
        connection.execute("UPDATE head SET seq = 0, hash = ''")
    for _ in range(20):
        follower.step()
    generate_record(data, 1, pool=1)
    for _ in range(20):
        follower.step()
    assert stored(pit) == JournalReader(data).events_since(0)


def test_a_restored_table_heals_by_the_same_exchange(pit: Pit, data: Path, tmp_path: Path) -> None:
    _, enrolment = pit.enrol("Table 1")
    back_up(data, tmp_path / "backup")
    generate_record(data, 2, pool=2)
    send_all(pit.follower(enrolment, data))
    known = stored(pit)
    restore(tmp_path / "backup", data, now)
    follower = pit.follower(enrolment, data)
    send_all(follower)
    assert stored(pit, 1) == known
    assert stored(pit, 2) == JournalReader(data).events_since(0)
    generate_record(data, 1, pool=1)
    send_all(follower)
    assert stored(pit, 2) == JournalReader(data).events_since(0)


@pytest.mark.parametrize("hands", [1, 4])
def test_a_table_restored_twice_heals_at_a_pit_that_knows_neither_restore(
    pit: Pit, data: Path, tmp_path: Path, hands: int
) -> None:
    _, enrolment = pit.enrol("Table 1")
    back_up(data, tmp_path / "first")
    generate_record(data, 2, pool=2)
    send_all(pit.follower(enrolment, data))  # the pit's backup is of here
    restore(tmp_path / "first", data, now)
    generate_record(data, hands, pool=1)  # the second restore is before the pit's last row, or after it
    back_up(data, tmp_path / "second")
    generate_record(data, 1, pool=1)
    restore(tmp_path / "second", data, now)
    generate_record(data, 1, pool=1)
    send_all(pit.follower(enrolment, data))
    assert stored(pit, 2) == JournalReader(data).events_since(0)


def test_while_the_pit_is_away_the_uplink_waits_longer_each_time_and_then_goes_on(
    pit: Pit, data: Path, tmp_path: Path
) -> None:
    _, enrolment = pit.enrol("Table 1")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nowhere = taken.getsockname()[1]
    right = (enrolment / "uplink.toml").read_text()
    (enrolment / "uplink.toml").write_text(f'pit = ["127.0.0.1:{nowhere}"]\n')
    follower = pit.follower(enrolment, data)
    waits = [follower.step() for _ in range(12)]
    assert waits[0] <= FIRST_BACK_OFF_S
    assert 15 <= waits[-1] <= 30
    assert "cannot be reached" in str(follower.status.trouble)
    (enrolment / "uplink.toml").write_text(right)
    send_all(pit.follower(enrolment, data))


def test_two_addresses_are_tried_in_turn(pit: Pit, data: Path) -> None:
    _, enrolment = pit.enrol("Table 1")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nowhere = taken.getsockname()[1]
    (enrolment / "uplink.toml").write_text(f'pit = ["127.0.0.1:{nowhere}", "127.0.0.1:{pit.address[1]}"]\n')
    follower = pit.follower(enrolment, data)
    follower.step()
    assert follower.status.trouble
    send_all(follower)


def test_a_rewritten_record_is_refused_and_the_table_offers_it_again_after_a_minute(
    pit: Pit, data: Path
) -> None:
    _, enrolment = pit.enrol("Table 1")
    send_all(pit.follower(enrolment, data))
    shutil.rmtree(data)
    with Journal(data) as journal:
        journal.append([ev.TableStarted()], "table")
    generate_record(data, 1, pool=1)
    rows = JournalReader(data).events_since(0)
    first = stored(pit)[0]
    status, answer = ask(
        pit, enrolment, "POST", "/v1/rows", encode(Offer(first.hash, Head(rows[-1].seq, rows[-1].hash)))
    )
    assert status == 409
    assert answer["fork"] == rows[-1].seq
    assert list_tables(pit.database)[0].fork_seq == rows[-1].seq


def test_the_heartbeat_tells_a_rewritten_past_and_play_goes_on(pit: Pit, data: Path) -> None:
    _, enrolment = pit.enrol("Table 1")
    follower = pit.follower(enrolment, data)
    send_all(follower)
    # the pit has another past: as if the table's was rewritten
    with pit.database.transaction() as connection:
        connection.execute("UPDATE head SET hash = repeat('a', 64)")
    again = pit.follower(enrolment, data)
    wait = again.step()
    assert FORKED_S / 2 <= wait <= FORKED_S
    assert "another row" in str(again.status.trouble)
    assert again.status.behind == 0


def test_a_heartbeat_goes_out_every_ten_seconds(pit: Pit, data: Path) -> None:
    now = [0.0]
    _, enrolment = pit.enrol("Table 1")
    follower = pit.follower(enrolment, data, lambda: now[0])
    send_all(follower)
    with pit.database.transaction() as connection:
        connection.execute("UPDATE head SET heard_at = '2000-01-01'")
    now[0] += HEARTBEAT_S - 0.1
    follower.step()
    assert (list_tables(pit.database)[0].fresh.heard_ms or 0) < 10**12
    now[0] += 0.2
    follower.step()
    assert not (list_tables(pit.database)[0].fresh.heard_ms or 0) < 10**12


# ---- the longest row ----


def test_the_longest_row_that_a_journal_takes_arrives_whatever_it_says(pit: Pit, tmp_path: Path) -> None:
    _, enrolment = pit.enrol("Table 1")
    rng = random.Random(1)
    # Nothing deflates these, and JSON writes every quotation mark and backslash as two characters, twice.
    letters = [chr(code) for code in range(0x20, 0xD800) if chr(code) not in '"\\']
    texts = ["".join(rng.choices(letters, k=160_000)), '"' * 120_000, '\\"' * 60_000]
    with Journal(tmp_path / "long") as journal:
        for text in texts:
            journal.append([ev.HandDisputed(1, text)], "dealer:Lin")
        with pytest.raises(JournalError, match="too long for a row"):
            journal.append([ev.HandDisputed(1, "x" * MAX_PAYLOAD)], "dealer:Lin")
    rows = JournalReader(tmp_path / "long").events_since(0)
    assert len(rows) == 3
    assert all(MAX_PAYLOAD * 0.9 < len(row.payload.encode()) < MAX_PAYLOAD for row in rows[:1])
    send_all(pit.follower(enrolment, tmp_path / "long"))
    assert stored(pit) == rows


# ---- bad input ----

_HEAD = {"record": "", "head": [0, ""], "release": "", "health": {}, "missing": []}


def deflated(*lines: object) -> bytes:
    return zlib.compress("\n".join(json.dumps(line) for line in lines).encode())


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "cut off"),
        (b"not deflated", 400, "not JSON"),
        (zlib.compress(b"not JSON"), 400, "not JSON"),
        (zlib.compress(b"[" * 30_000), 400, "not JSON"),
        (zlib.compress(b"[" * 100_000), 400, "too long"),
        (zlib.compress(b"\xff\xfe"), 400, "not JSON"),
        (deflated([1]), 400, "no JSON object"),
        (deflated({}), 400, "which record"),
        (deflated({**_HEAD, "record": "x"}), 400, "which record"),
        (deflated({**_HEAD, "head": [True, ""]}), 400, "how far"),
        (deflated({**_HEAD, "head": [2**63, "a" * 64]}), 400, "how far"),
        (deflated({**_HEAD, "release": "\0"}), 400, "no release"),
        (deflated({**_HEAD, "health": {"a": "\ud800"}}), 200, ""),
        (deflated(_HEAD, ["row"]), 400, "Line 1"),
        (deflated(_HEAD, [1, 1, "b", 1, 1, "c", "a", "", "t", "p\0", "", "h"]), 400, "Line 1"),
        (deflated(_HEAD, [1, 1, "b", 1, 1, "c", "a", "\ud800", "t", "p", "", "h"]), 400, "Line 1"),
        (deflated(_HEAD, [1.0, 1, "b", 1, 1, "c", "a", "", "t", "p", "", "h"]), 400, "Line 1"),
        (deflated(_HEAD, *[[1, 1, "b", 1, 1, "c", "a", "", "t", "p", "", "h"]] * 501), 400, "500 rows"),
        (zlib.compress(b" " * (100 << 20), 1), 400, "inflates"),
        (b"\0" * (MAX_BYTES + 1), 413, "too long"),
        (b"\0" * (2 << 20), 413, "too long"),
    ],
)
def test_every_bad_body_gets_a_sentence_and_stores_nothing(
    standing_pit: Pit, enrolment: Path, body: bytes, status: int, words: str
) -> None:
    got, answer = ask(standing_pit, enrolment, "POST", "/v1/rows", body)
    assert got == status
    assert words in answer.get("error", "")
    assert stored(standing_pit) == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/v1/rows"),
        ("POST", "/v1/play"),
        ("DELETE", "/v1/record"),
        ("PUT", "/v1/content/x/y"),
    ],
)
def test_there_is_no_other_route(standing_pit: Pit, enrolment: Path, method: str, path: str) -> None:
    status, answer = ask(standing_pit, enrolment, method, path)
    assert status in (404, 405)
    assert answer["error"]


# ---- what is asked for, and what is shown ----


def test_texts_that_rows_name_are_fetched_and_checked(pit: Pit, data: Path) -> None:
    _, enrolment = pit.enrol("Table 1")
    send_named_texts(pit, enrolment, data)
    with pit.database.transaction() as connection:
        found = connection.execute("SELECT hash, bytes FROM content").fetchall()
    assert found
    assert all(hashlib.sha256(data).hexdigest() == digest for digest, data in found)
    assert {digest for digest, _ in found} <= set(JournalReader(data).contents())


def test_nothing_is_stored_that_nobody_asked_for_or_under_a_wrong_name(
    standing_pit: Pit, enrolment: Path
) -> None:
    name = hashlib.sha256(b"x").hexdigest()
    for kind in ("content", "images"):
        assert ask(standing_pit, enrolment, "PUT", f"/v1/{kind}/{name}", b"x")[0] == 404
        assert ask(standing_pit, enrolment, "PUT", f"/v1/{kind}/{name}", b"y")[0] == 400
        assert ask(standing_pit, enrolment, "PUT", f"/v1/{kind}/{'..%2f' * 3}", b"y")[0] in (400, 404)
    assert not list((standing_pit.folder / "images").rglob("*"))


def test_the_list_of_hands_is_the_same_however_the_rows_came(pit: Pit, data: Path) -> None:
    _, enrolment = pit.enrol("Table 1")
    follower = pit.follower(enrolment, data)
    send_all(follower)
    hands = "SELECT * FROM hand ORDER BY record_id, hand"
    seats = "SELECT * FROM hand_seat ORDER BY record_id, hand, seat"
    assert project(pit.database)
    generate_record(data, 3, pool=3)
    send_all(follower)
    assert project(pit.database)
    with pit.database.transaction() as connection:
        before = [connection.execute(one).fetchall() for one in (hands, seats)]
    assert reindex(pit.database) == JournalReader(data).head()[0]
    with pit.database.transaction() as connection:
        assert [connection.execute(one).fetchall() for one in (hands, seats)] == before
    assert len(before[0]) == 15


def test_a_row_of_a_later_release_stops_the_list_with_a_reason_and_no_row_is_refused(
    pit: Pit, data: Path
) -> None:
    _, enrolment = pit.enrol("Table 1")
    send_all(pit.follower(enrolment, data))
    rows = stored(pit)
    last = rows[-1]
    later = last._replace(
        seq=last.seq + 1, type="dealt_by_robot", payload="{}", previous=last.hash, command=""
    )
    later = later._replace(hash=later.sealed())
    body = encode(Offer(rows[0].hash, Head(later.seq, later.hash), rows=(later,)))
    assert ask(pit, enrolment, "POST", "/v1/rows", body)[0] == 200
    assert project(pit.database) == len(rows)
    assert project(pit.database) == 0
    assert "dealt_by_robot" in str(list_tables(pit.database)[0].stuck_why)


def test_a_new_card_gets_the_whole_record_from_the_pit_and_goes_on_with_it(
    pit: Pit, data: Path, tmp_path: Path
) -> None:
    _, enrolment = pit.enrol("Table 1")
    send_named_texts(pit, enrolment, data)
    sent = stored(pit)
    card = tmp_path / "card"
    restore_from_pit(enrolment, card, sent)
    assert JournalReader(card).contents() == JournalReader(data).contents()
    assert verify(card).ok
    generate_record(card, 1, pool=1)
    send_all(pit.follower(enrolment, card))
    assert stored(pit) == JournalReader(card).events_since(0)


def test_a_table_with_a_new_card_is_enrolled_again_and_gets_its_record_with_the_new_certificate(
    pit: Pit, data: Path, tmp_path: Path
) -> None:
    _, old = pit.enrol("Table 1")
    send_named_texts(pit, old, data)
    sent = stored(pit)
    new = tmp_path / "stick"
    words = ["table", "renew", "Table 1", "--to", str(new), "--pit", f"127.0.0.1:{pit.address[1]}"]
    done = CliRunner().invoke(
        pit_command, [*words, "--url", pit.database.url, "--folder", str(pit.authority.folder.parent)]
    )
    assert done.exit_code == 0, done.output
    card = tmp_path / "card"
    restore_from_pit(new, card, sent)
    stolen = pit.follower(old, data)
    stolen.step()
    assert "No table has this certificate" in str(stolen.status.trouble)
    send_all(pit.follower(new, card))
    assert stored(pit)[: len(sent)] == sent


def test_a_pit_that_says_later_is_asked_again_over_the_same_connection_and_from_the_same_row(
    pit: Pit, owned: str, data: Path
) -> None:
    _, enrolment = pit.enrol("Table 1")
    follower = pit.follower(enrolment, data)
    send_all(follower)
    (client,) = pit.clients
    opened, have = client._connection, follower.status.have
    generate_record(data, 1, pool=1)
    with psycopg.connect(owned) as connection:
        connection.execute("ALTER TABLE gaming_table RENAME TO mislaid")
    assert 0 < follower.step() <= FIRST_BACK_OFF_S
    assert "later" in str(follower.status.trouble)
    assert follower.status.have == have
    with psycopg.connect(owned) as connection:
        connection.execute("ALTER TABLE mislaid RENAME TO gaming_table")
    assert follower.step() == LOOK_EVERY_S  # one request, with the rows
    assert follower.status.have == JournalReader(data).head()
    assert client._connection is opened
