"""Several pit processes on one database: they share the records, one keeps the log, and one that is away loses both."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

import psycopg
import pytest

from pit.door.serve import Projector
from pit.follow.follower import Follower
from pit.follow.news import News, Source
from pit.follow.projector import project_in
from pit.log.keeper import Keeper
from pit.store.database import Database
from pit.store.workers import LEASE_S, Membership, Share
from tests.campaigns.pit.compare import compare, has_all, is_listed
from tests.campaigns.pit.kill_campaign import TABLE
from tests.pit.house import House, Part, house, nginx_command
from tests.pit.log.conftest import LogHouse, made_house
from tests.pit.sent import FollowedTable
from tests.tools import NGINX, POSTGRESQL, needs
from tests.waiting import until

WORKERS = 3


def renewed(database: Database, member: Membership) -> Share:
    with database.transaction() as connection:
        return member.renew(connection)


def aged(owned: str, member: Membership, seconds: float) -> None:
    """Let a process be heard of so long ago."""
    with psycopg.connect(owned, autocommit=True) as connection:
        connection.execute(
            "UPDATE worker SET seen = now() - make_interval(secs => %s) WHERE worker = %s",
            (seconds, member._name),
        )


def test_each_record_is_exactly_one_living_processs_and_the_first_one_leads(
    database: Database, owned: str
) -> None:
    members = [Membership() for _ in range(3)]
    for member in members:
        renewed(database, member)
    shares = [renewed(database, member) for member in members]
    assert shares == [Share(0, 3), Share(1, 3), Share(2, 3)]
    assert [member.leads for member in members] == [True, False, False]
    aged(owned, members[0], LEASE_S + 1)
    assert [renewed(database, member) for member in members[1:]] == [Share(0, 2), Share(1, 2)]
    assert members[1].leads
    assert renewed(database, members[0]) == Share(0, 3)  # it is back, and was there first


def test_a_frozen_process_leads_no_more_before_another_one_does(database: Database) -> None:
    now = [100.0]
    member = Membership(clock=lambda: now[0])
    found = [member.leads]  # it has not said yet that it is there
    renewed(database, member)
    for passed in (0.0, LEASE_S - 0.1, 0.2):
        now[0] += passed
        found.append(member.leads)
    assert found == [False, True, True, False]


@pytest.mark.parametrize("seconds", [-86_400, 86_400])
def test_a_database_whose_clock_was_set_by_a_day_counts_no_dead_process(
    database: Database, owned: str, seconds: int
) -> None:
    gone, member = Membership(), Membership()
    renewed(database, gone)
    aged(owned, gone, seconds)
    assert renewed(database, member) == Share(0, 1)


def test_a_process_follows_its_share_at_once_and_what_nobody_follows_later(
    database: Database, owned: str, record: Path
) -> None:
    sent = FollowedTable(database, record)
    sent.follower = Follower(database)
    sent.send()
    other = Share((sent.record_id + 1) % 2, 2)
    with psycopg.connect(owned, autocommit=True) as connection:
        connection.execute("DELETE FROM place")
        connection.execute("DELETE FROM down_total")
        connection.execute("DELETE FROM table_now")
        connection.execute("DELETE FROM hand_seat")
        connection.execute("DELETE FROM hand")
        connection.execute("UPDATE projection SET seq = 0")
        connection.execute("UPDATE head SET taken_at = now() + interval '1 minute'")

    def follow(share: Share) -> int:
        with database.transaction() as connection:
            source = Source(connection, share=share)
            return Follower(database).follow_in(source) + project_in(source)

    assert follow(other) == 0
    with psycopg.connect(owned, autocommit=True) as connection:
        connection.execute("UPDATE head SET taken_at = now() - interval '10 s'")
    assert follow(other) > 0


def test_two_followers_at_once_make_what_one_makes(database: Database, record: Path) -> None:
    alone = FollowedTable(database, record)
    alone.send()
    expected = alone._one("SELECT count(*) FROM hand")
    projectors = [Projector(database, News(), Membership()) for _ in range(2)]
    with database.transaction() as connection:
        for table in ("place", "down_total", "table_now", "hand_seat", "hand"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("UPDATE projection SET seq = 0, subject = 0")
    for one in projectors:
        one.start()
    try:
        until(lambda: is_listed(database))
    finally:
        for one in projectors:
            one.stop()
    assert alone._one("SELECT count(*) FROM hand") == expected
    assert not compare(database, [record]).differing_lists


def test_a_process_that_does_not_sign_hands_on_what_the_other_has_signed(house_of_log: LogHouse) -> None:
    house = house_of_log
    for _ in range(3):
        house.add()
    second = house.restarted(leads=lambda: False)
    for table in house.tables:
        table.deal()
        table.send()
    assert second.keeper.turn() > 0
    assert second.keeper.newest is None  # it does not sign
    house.keeper.turn()
    second.keeper.turn()
    for _ in range(2):
        for table in house.tables:
            table.ask(second.answers)
    second.keeper.turn()  # and stores what was cosigned
    for table in house.tables:
        assert not table.witness.state.trouble
        assert table.witness.state.head == table.have - 1
    assert house.one("SELECT signers, heard FROM proven") == (3, 3)


def test_a_table_that_holds_a_later_checkpoint_than_a_process_knows_is_not_alarmed(
    house_of_log: LogHouse,
) -> None:
    house = house_of_log
    house.add()
    house.round()
    second = house.restarted(leads=lambda: False)
    second.keeper.turn()
    house.round()  # the other process signs the next one, and the table has cosigned it
    assert set(house.tables[0].ask(second.answers)) <= {"proven"}
    assert not house.tables[0].witness.state.trouble


def test_a_second_server_with_another_key_signs_nothing_and_says_so_once(
    house_of_log: LogHouse, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    house = house_of_log
    house.add()
    house.round()
    other = Keeper(house.database, tmp_path / "other", leads=lambda: False)
    for _ in range(3):
        other.turn()
    assert other.newest is None
    assert house.one("SELECT count(*) FROM epoch") == 1
    assert caplog.text.count("another key than this folder's") == 1


@pytest.fixture
def house_of_log(database: Database, tmp_path: Path) -> LogHouse:
    return made_house(database, tmp_path)


@contextmanager
def served(tables: int) -> Iterator[House]:
    """Start a pit of several processes."""
    with house(durable=False) as made:
        made.pit.arguments += ["--workers", str(WORKERS)]
        made.add_tables(tables)
        made.start()
        yield made


def processes(made: House) -> list[int]:
    assert made.pit.process is not None
    first = made.pit.process.pid
    return [int(one) for one in Path(f"/proc/{first}/task/{first}/children").read_text().split()]


@pytest.mark.exhaustive  # behind one nginx either server dies below, and test_campaigns.py kills every part once
@pytest.mark.slow
@needs(NGINX, POSTGRESQL)
def test_processes_are_killed_and_frozen_while_tables_send_and_nothing_is_lost() -> None:
    with served(3) as made, Database(made.url, connections=2) as database:
        until(lambda: len(processes(made)) == WORKERS)
        tables = [
            subprocess.Popen(player(data, 24, number, pause_s=0.3)) for number, data in enumerate(made.data)
        ]
        for uplink in made.uplinks:
            uplink.start()
        until(lambda: has_living(database, WORKERS))
        before = set(processes(made))
        killed, frozen = sorted(before)[:2]
        os.kill(killed, signal.SIGKILL)
        os.kill(frozen, signal.SIGSTOP)
        try:
            for table in tables:
                table.wait()
            until(lambda: has_all(database, made.data) and is_listed(database))
        finally:
            with suppress(ProcessLookupError):  # one that is silent for long is killed and replaced
                os.kill(frozen, signal.SIGCONT)
        until(lambda: len(processes(made)) == WORKERS)
        assert killed not in processes(made)
        assert compare(database, made.data).ok


def player(data: Path, hands: int, number: int, *, pause_s: float) -> list[str]:
    """Return the command that writes a record up to so many hands, with pauses."""
    return [sys.executable, "-c", TABLE, *map(str, (data, hands, number, 4, pause_s))]


def play(made: House, hands: int) -> None:
    """Let each table have so many hands."""
    for number, data in enumerate(made.data):
        subprocess.run(player(data, hands, number, pause_s=0.0), check=True)


def has_living(database: Database, count: int) -> bool:
    with database.transaction() as connection:
        row = connection.execute(
            "SELECT count(*) FROM worker WHERE seen > now() - interval '10 s'"
        ).fetchone()
    return row is not None and row[0] >= count


SERVES: Final = """
import os, sys, threading
from pit.door.processes import serve_in_processes

def serve(beat):
    os.write(1, f"{os.getpid()}\\n".encode())
    beat()
    threading.Event().wait()

serve_in_processes(int(sys.argv[1]), serve, lambda: os.write(1, b"ready\\n"), silent_s=float(sys.argv[2]))
"""


@contextmanager
def serving(count: int, silent_s: float) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """Run processes that say their numbers."""
    arguments = [sys.executable, "-c", SERVES, str(count), str(silent_s)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        try:
            yield first, first.stdout
        finally:
            first.kill()


def test_the_first_process_is_ready_when_all_are_and_ends_with_them() -> None:
    with serving(3, 60) as (first, lines):
        said = [lines.readline().strip() for _ in range(4)]
        assert said[-1] == "ready"
        first.terminate()
        assert lines.read() == ""  # nobody holds the other end any more
        assert first.wait() == 0


def test_a_silent_process_is_killed_and_another_one_is_started() -> None:
    with serving(1, 3) as (first, lines):
        frozen, ready = int(lines.readline()), lines.readline()
        assert ready == "ready\n"
        os.kill(frozen, signal.SIGSTOP)
        assert int(lines.readline()) != frozen
        first.terminate()
        assert first.wait() == 0


def test_processes_that_cannot_serve_end_the_service_and_say_so() -> None:
    broken = SERVES.replace("    beat()", "    raise OSError('no room')")
    done = subprocess.run(
        [sys.executable, "-c", broken, "2", "60"], capture_output=True, text=True, check=False
    )
    assert done.returncode
    assert "no room" in done.stderr
    assert "end before they serve" in done.stderr


@pytest.mark.slow
@needs(NGINX, POSTGRESQL)
def test_two_servers_behind_one_nginx_share_the_tables_and_either_may_die() -> None:
    with house(durable=False) as made, Database(made.url, connections=2) as database:
        doors = [made.folder / "door.sock", made.folder / "door-2.sock"]
        arguments = [str(doors[1]) if one == str(doors[0]) else one for one in made.pit.arguments]
        second = Part(arguments, made.folder / "log")
        made.nginx.arguments = nginx_command(
            made.address,
            doors,
            made.authority.folder.parent,
            made.folder / "nginx",
        )
        made.add_tables(2)
        made.start()
        second.start()
        try:
            until(lambda: has_living(database, 2))
            play(made, 6)
            for uplink in made.uplinks:
                uplink.start()
            until(lambda: has_all(database, made.data) and is_listed(database))
            made.pit.kill()  # it was there first, and kept the log
            play(made, 9)
            until(lambda: has_all(database, made.data) and is_listed(database))
            assert compare(database, made.data).ok
        finally:
            second.kill()
