"""Attacks of one program of the box on another: through files that it may write, and through the table's socket."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from firmware.record import backup
from firmware.record import restore as restoring
from firmware.record.backup import back_up
from firmware.record.evidence.anchors import Anchor, sign_head
from firmware.record.evidence.dispute_verifier import PROOFS
from firmware.record.evidence.signed_note import write_note
from firmware.record.evidence.signing import DeviceKey
from firmware.record.evidence.verify import verify
from firmware.record.journal import captures, disk
from firmware.record.journal.clocks import now
from firmware.record.journal.journal import READY, RESTORING
from firmware.record.restore import restore
from firmware.runtime import socket_server
from firmware.runtime.config import Config
from firmware.runtime.liveness import heartbeat
from firmware.runtime.liveness.heartbeat import Heartbeat
from firmware.runtime.socket_server import CommandSocket
from firmware.table_client import TableUnreachable
from firmware.uplink import held_checkpoint, installation, join_request, status_file, witness
from firmware.uplink.errors import UplinkError
from firmware.uplink.held_checkpoint import read_checkpoint
from firmware.uplink.join_request import PROGRESS, JoinProgress, read_join_progress
from firmware.uplink.settings import KEY
from firmware.uplink.witness import proofs_in
from pit.authority import Authority
from tests.firmware.conftest import FRAME
from tests.firmware.record.test_dispute_file import record
from tests.firmware.running_table import Table
from tests.waiting import DEADLINE, until


def trusting(path: Path | str, *_: object) -> bytes:
    """Read a file as it is read by who trusts it."""
    return Path(path).read_bytes()


# ---- the uplink, which speaks to the network, against the table ----


def test_a_link_among_the_proofs_puts_no_key_of_the_box_into_a_dispute_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table may read its key, and lays what it reads where the uplink may read it."""
    key = tmp_path / "key"
    DeviceKey.open(key)
    (tmp_path / PROOFS).mkdir()
    (tmp_path / PROOFS / "7.keys").write_text("one\n")
    (tmp_path / PROOFS / "7.tlog-proof").symlink_to(key / "device.key")
    assert proofs_in(tmp_path, [7]) == {}
    monkeypatch.setattr(witness, "read_plain", trusting)
    assert b"PRIVATE KEY" in proofs_in(tmp_path, [7])[f"{PROOFS}7.tlog-proof"]


def test_a_proof_that_is_no_text_costs_no_dispute_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / PROOFS).mkdir()
    (tmp_path / PROOFS / "7.tlog-proof").write_bytes(b"x")
    (tmp_path / PROOFS / "7.keys").write_bytes(b"\xff\xfe")
    assert proofs_in(tmp_path, [7]) == {}
    monkeypatch.setattr(witness, "suppress", lambda *_: suppress(OSError))
    with pytest.raises(UnicodeDecodeError):
        proofs_in(tmp_path, [7])


GOOD = '"have": 1, "trouble": "", "log_trouble": "", "checkpoint": null'
HEARD = {
    "deep": "[" * 50_000,
    "endless": f'{{"at_s": -1e999, {GOOD}}}',
    "digits": f'{{"at_s": 1{"0" * 400}, {GOOD}}}',
    "rows": '{"at_s": 1, "have": 1e999, "trouble": "", "log_trouble": "", "checkpoint": null}',
}


@pytest.mark.parametrize("text", HEARD.values(), ids=HEARD)
def test_nothing_that_an_uplink_says_of_the_pit_is_a_fault_of_the_tables(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "heard.json").write_text(text)
    assert status_file.read_status(tmp_path, 5.0) is None
    assert read_checkpoint(tmp_path) is None
    monkeypatch.setattr(status_file, "is_figure", lambda _: True)
    monkeypatch.setattr(status_file, "UNREADABLE", (OSError, ValueError, LookupError, TypeError))
    with pytest.raises((OverflowError, RecursionError)):
        int((status_file.read_status(tmp_path, 5.0) or {})["silent_s"])


@contextmanager
def waits(read: Callable[[], object], pipe: Path) -> Iterator[None]:
    """Show that who reads waits at a pipe to which nobody writes, until somebody does."""
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(0.5)
    assert reader.is_alive()
    yield
    with pipe.open("wb"):
        pass
    reader.join(DEADLINE)
    assert not reader.is_alive()


def test_a_pipe_where_the_uplink_says_how_far_it_is_does_not_hold_the_table_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "heard.json"
    os.mkfifo(pipe)
    assert status_file.read_status(tmp_path, 5.0) is None
    assert read_checkpoint(tmp_path) is None
    for module in (status_file, held_checkpoint):
        monkeypatch.setattr(module, "read_plain", trusting)
    with waits(lambda: status_file.read_status(tmp_path, 5.0), pipe):
        pass


@pytest.mark.parametrize("beat", ["1e999", "-1e999", "NaN", "1" + "0" * 400])
def test_no_figure_of_who_enrols_a_table_is_a_fault_of_page_and_table(
    tmp_path: Path, beat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / PROGRESS.name
    path.write_text(f'{{"id": "a", "step": "compare", "beat_s": {beat}}}')
    assert read_join_progress(path) is None
    monkeypatch.setattr(join_request, "is_figure", lambda _: True)
    assert isinstance(read_join_progress(path), JoinProgress), "and then it is counted with"


# ---- who enrols a table, taken over, against root ----


@pytest.fixture
def enrolment(tmp_path: Path) -> Path:
    """What the program that enrols a table leaves for root."""
    folder = tmp_path / "uplink/new"
    Authority(tmp_path / "authority").enrol("Table 1", folder, ["127.0.0.1:8443"])
    return folder


def laid(enrolment: Path) -> tuple[str, ...]:
    return installation.install_enrolment(enrolment, enrolment.parent, enrolment.parents[1] / "etc/pit.conf")


def write_trusting(path: Path, data: bytes, **_: object) -> None:
    path.write_bytes(data)


def test_a_link_where_an_enrolment_goes_has_root_write_no_other_file(
    enrolment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "shadow"
    other.write_text("the system's own")
    for name in (KEY, f".{KEY}.part"):
        (enrolment.parent / name).symlink_to(other)
    assert laid(enrolment) == ("127.0.0.1:8443",)
    assert other.read_text() == "the system's own"
    assert (enrolment.parent / KEY).read_bytes() == (enrolment / KEY).read_bytes()
    assert (enrolment.parent / KEY).stat().st_mode & 0o777 == 0o600
    (enrolment.parent / KEY).unlink()
    (enrolment.parent / KEY).symlink_to(other)
    monkeypatch.setattr(installation, "write_private", write_trusting)
    laid(enrolment)
    assert "PRIVATE KEY" in other.read_text()


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_in_an_enrolment_has_root_give_no_key_away(
    enrolment: Path, tmp_path: Path, linked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The certificate fits, whichever authority made it: the key is the only secret in it."""
    secret = Path(shutil.copytree(enrolment, tmp_path / "root's"))
    if linked == "file":
        (enrolment / KEY).unlink()
        (enrolment / KEY).symlink_to(secret / KEY)
    else:
        shutil.rmtree(enrolment)
        enrolment.symlink_to(secret)
    with pytest.raises(UplinkError, match="cannot be read"):
        laid(enrolment)
    assert not (enrolment.parent / KEY).exists()
    monkeypatch.setattr(installation, "read_plain", lambda name, *_: trusting(enrolment / name))
    monkeypatch.setattr("os.O_NOFOLLOW", 0)
    laid(enrolment)
    key = load_pem_private_key((enrolment.parent / KEY).read_bytes(), None)
    assert isinstance(key, EllipticCurvePrivateKey)


# ---- the table's user, against root, who restores ----


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = record(tmp_path_factory.mktemp("kept") / "data")
    back_up(data, data.parent / "backup")
    return data.parent


@pytest.fixture
def box(kept: Path, tmp_path: Path) -> Path:
    """A box's record in `data`, a backup of it in `backup`."""
    return Path(shutil.copytree(kept, tmp_path / "box"))


def test_a_restore_that_somebody_prepared_moves_the_record_nowhere_else(
    box: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root would give the folder that it leads to, with all in it, to the table's user."""
    data, elsewhere = box / "data", tmp_path / "etc"
    elsewhere.mkdir()
    planted = data / RESTORING
    planted.mkdir()
    (planted / READY).write_text(f"{elsewhere} 3")
    replaced, _ = restore(box / "backup", data, now)
    assert replaced == data / "replaced-1"
    assert list(elsewhere.iterdir()) == []
    planted.mkdir()
    (planted / READY).write_text(f"{elsewhere} 3")
    monkeypatch.setattr(restoring, "_READY", re.compile(r"(\S+)(?: (\d+))?"))
    restore(box / "backup", data, now)
    assert (elsewhere / "journal.sqlite").exists()


@pytest.mark.parametrize("name", [RESTORING, "replaced-1"])
def test_a_link_where_a_restore_works_leads_it_nowhere(
    box: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, elsewhere = box / "data", tmp_path / "etc"
    elsewhere.mkdir()
    (data / name).symlink_to(elsewhere)
    restore(box / "backup", data, now)
    assert list(elsewhere.iterdir()) == []
    assert verify(data).ok
    monkeypatch.setattr(Path, "is_symlink", lambda _: False)
    if name == RESTORING:
        (data / name).symlink_to(elsewhere)
    else:
        (data / RESTORING).mkdir()
        (data / RESTORING / READY).write_text("replaced-1 3")
    with suppress(OSError):
        restore(box / "backup", data, now)
    assert list(elsewhere.iterdir()) != []


def test_an_image_of_gigabytes_in_a_backup_is_lost_and_not_read(
    box: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = box / "backup/captures" / FRAME.name
    with image.open("r+b") as file:
        file.truncate(captures.MAX_BYTES + 1)  # and any number of gigabytes: it takes no room on a stick
    _, lost = restore(box / "backup", tmp_path / "new", now)
    assert [one.name for event in lost for one in (*event.missing, *event.changed)] == [FRAME.name]
    assert not (tmp_path / "new/captures" / FRAME.name).exists()
    for module in (captures, backup):
        monkeypatch.setattr(module, "MAX_BYTES", 1 << 40)
    restore(box / "backup", tmp_path / "other", now)
    assert (tmp_path / "other/captures" / FRAME.name).stat().st_size > captures.MAX_BYTES >> 20


def test_a_link_beside_the_note_has_root_write_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "passwd"
    other.write_text("the system's own")
    key = DeviceKey.open(tmp_path / "key")
    head = sign_head(key, seq=1, digest="0" * 64, hands=0, wall_ms=0, table="1")
    (tmp_path / "key/.signed-head.part").symlink_to(other)
    write_note(tmp_path / "key", Anchor.of(head))
    assert other.read_text() == "the system's own"
    (tmp_path / "key/.signed-head.part").symlink_to(other)
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
    monkeypatch.setattr("os.O_EXCL", 0)
    write_note(tmp_path / "key", Anchor.of(head))
    assert other.read_text() != "the system's own"


def test_a_link_beside_a_file_that_is_replaced_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "passwd"
    other.write_text("the system's own")
    (tmp_path / ".a.json.part").symlink_to(other)
    disk.write_whole(tmp_path / "a.json", b"{}")
    assert other.read_text() == "the system's own"
    assert (tmp_path / "a.json").read_bytes() == b"{}"
    (tmp_path / ".a.json.part").symlink_to(other)
    opened = Path.open
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
    monkeypatch.setattr(Path, "open", lambda path, mode: opened(path, mode.replace("x", "w")))
    disk.write_whole(tmp_path / "a.json", b"{}")
    monkeypatch.undo()
    assert other.read_text() == "{}"


# ---- the page, taken over, against the table ----


def test_a_page_that_was_taken_over_does_not_have_the_table_ended_by_the_watchdog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sends commands on every connection and never reads an answer; others wait for a place."""
    monkeypatch.setattr(socket_server, "MAX_CONNECTIONS", 3)
    monkeypatch.setattr(socket_server, "WAITING", 2)
    monkeypatch.setattr(socket_server, "NOT_TAKEN", 100 * DEADLINE)
    monkeypatch.setattr(heartbeat, "WITHIN_S", 0.5)
    table = Table(Config(data=tmp_path))
    fed: list[int] = []
    beating = Heartbeat(table.config.data, table.config.socket, None, lambda: fed.append(1))
    beating.beat()
    beating._in_a_crowd = table.process._ask_in_a_crowd
    with ExitStack() as crowd:
        crowd.callback(table.stop)
        lines = []
        for _ in range(3):
            line = crowd.enter_context(socket.socket(socket.AF_UNIX))
            line.connect(str(table.config.socket))
            line.setblocking(False)
            lines.append(line)

        def is_full() -> bool:
            for line in lines:
                with suppress(BlockingIOError):
                    while True:
                        line.send(b'{"do":"heartbeat"}\n' * 100)
            return table.process._socket is not None and all(
                place.works for place in table.process._socket._places
            )

        until(is_full)
        beating.beat()
        assert len(fed) == 2
        monkeypatch.setattr(CommandSocket, "is_crowded", False)
        with pytest.raises(TableUnreachable):
            beating.beat()


def test_a_figure_of_hundreds_of_digits_is_refused_in_a_sentence(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = json.dumps({"do": "painted", "at_ms": 10**400})
    assert "cannot be used" in table.ask(line)["error"]
    monkeypatch.setattr("firmware.runtime.command_desk.parse_command", unbounded)
    assert "error of its own" in table.ask(line)["error"]


def unbounded(line: bytes) -> object:
    from firmware.table.topics.screen import AcknowledgePaint

    return AcknowledgePaint.model_construct(**json.loads(line))
