"""A table is brought in by a code: once, in time, for this table, and only if the words are the same on both sides."""

from __future__ import annotations

import http.client
import json
import secrets
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.reader import JournalReader
from firmware.uplink import enrolment as wire
from firmware.uplink import settings
from firmware.uplink.code import Code, parse
from firmware.uplink.enrolment import Says, device_text
from firmware.uplink.errors import UplinkError
from firmware.uplink.join_request import JoinProgress, JoinRequest
from firmware.uplink.joining import join
from pit.authority import LOG_FOLDER, Authority
from pit.door import enrolment
from pit.door import routes as door
from pit.errors import PitError
from pit.store.database import Database
from tests.pit.conftest import Pit
from tests.pit.test_uplink import send_all, stored
from tests.waiting import until


@dataclass
class Box:
    """A table at its set-up: its key, its number, and a technician who compares words."""

    folder: Path
    code: str
    number: str = "7"
    says: Says = ""
    seen: list[JoinProgress] = field(default_factory=list)
    error: str = ""
    thread: threading.Thread | None = None

    def request(self) -> JoinRequest:
        key = DeviceKey.open(self.folder / "key")
        proof = key.sign(device_text(parse(self.code).name))
        return JoinRequest(secrets.token_hex(8), self.code, key.public.hex(), proof.hex(), self.number)

    def begin(self) -> Box:
        self.thread = threading.Thread(target=self._join)
        self.thread.start()
        return self

    def _join(self) -> None:
        step = threading.Event()
        try:
            join(
                self.request(),
                self.folder / "own",
                self.folder / "witness",
                self.seen.append,
                lambda: self.says,
                lambda _: step.wait(0.02),
            )
        except UplinkError as error:
            self.error = str(error)

    def words(self) -> str:
        until(lambda: bool(self.error) or any(one.words for one in self.seen))
        return self.seen[-1].words if self.seen else ""

    def end(self) -> str:
        """Wait for the end; return the sentence on the table's screen, "" if it is enrolled."""
        assert self.thread is not None
        self.thread.join()
        return self.error


def made(pit: Pit, name: str = "Table 7", *, renews: bool = False) -> tuple[int, str]:
    number = enrolment.make_code(pit.database, name, (f"127.0.0.1:{pit.address[1]}",), "Ines", renews=renews)
    one = enrolment.look_at_code(pit.database, number)
    assert one is not None
    return number, one.code


def at_pit(pit: Pit, number: int) -> enrolment.Enrolment:
    one = enrolment.look_at_code(pit.database, number)
    assert one is not None
    return one


@pytest.fixture
def pit(pit: Pit, owned: str) -> Iterator[Pit]:
    """The same pit; the test is at its desk, and the door has its own role."""
    with Database(owned, connections=2) as desk:
        yield replace(pit, database=desk)


@pytest.fixture
def boxes() -> Iterator[Callable[..., Box]]:
    begun: list[Box] = []

    def box(*args: object, **named: object) -> Box:
        begun.append(Box(*args, **named).begin())  # type: ignore[arg-type]
        return begun[-1]

    yield box
    for one in begun:
        one.says = one.says or "other"
        one.end()


def test_both_sides_show_the_same_words_and_the_rows_arrive(
    pit: Pit, tmp_path: Path, data: Path, boxes: Callable[..., Box]
) -> None:
    number, code = made(pit)
    box = boxes(tmp_path, code)
    words = box.words()
    assert len(words.split("-")) == 5 or len(words.split()) == 5
    assert at_pit(pit, number).words == words
    assert at_pit(pit, number).stage == "compare"
    box.says = "same"
    until(lambda: at_pit(pit, number).table_said == "same")
    enrolment.compare(pit.database, number, "Ines", same=True)
    assert box.end() == ""
    assert at_pit(pit, number).stage == "done"
    send_all(pit.follower(tmp_path / "own", data))
    assert stored(pit) == JournalReader(data).events_since(0)
    with pit.database.transaction() as connection:
        row = connection.execute("SELECT name, device_key, witness_key FROM gaming_table").fetchone()
    assert row is not None
    assert row == (
        "Table 7",
        DeviceKey.open(tmp_path / "key").public,
        DeviceKey.open(tmp_path / "witness").public,
    )
    own = tmp_path / "own"
    pinned = [(own / name).read_text().strip() for name in (settings.HOUSE, settings.LOG)]
    of_log = DeviceKey.open(pit.folder / LOG_FOLDER).public
    assert pinned == [pit.authority.house.public.hex(), of_log.hex()]
    enrolled = settings.load(own)
    assert enrolled is not None
    assert enrolled.log() == of_log
    assert pit.authority.issued()["Table 7"]


def test_it_does_not_matter_who_compares_first(pit: Pit, tmp_path: Path, boxes: Callable[..., Box]) -> None:
    number, code = made(pit)
    box = boxes(tmp_path, code)
    box.words()
    enrolment.compare(pit.database, number, "Ines", same=True)
    assert at_pit(pit, number).stage == "waits"
    assert not (tmp_path / "own" / settings.FILE).exists()
    box.says = "same"
    assert box.end() == ""


def test_a_code_used_again_is_refused_on_both_screens(
    pit: Pit, tmp_path: Path, boxes: Callable[..., Box]
) -> None:
    number, code = made(pit)
    box = boxes(tmp_path, code, says="same")
    box.words()
    enrolment.compare(pit.database, number, "Ines", same=True)
    assert box.end() == ""
    second = boxes(tmp_path / "second", code)
    assert second.end() == str(wire.USED)
    seen = at_pit(pit, number)
    assert (seen.stage, seen.refused) == ("done", wire.USED)
    assert not (tmp_path / "second" / "own" / settings.FILE).exists()


def test_two_tables_with_one_code_are_both_refused(
    pit: Pit, tmp_path: Path, boxes: Callable[..., Box]
) -> None:
    number, code = made(pit)
    first = boxes(tmp_path / "first", code)
    first.words()
    second = boxes(tmp_path / "second", code)
    assert second.end() == first.end() == str(wire.TWICE)
    assert at_pit(pit, number).why == wire.TWICE
    with pytest.raises(PitError, match="no words"):
        enrolment.compare(pit.database, number, "Ines", same=True)
    with pit.database.transaction() as connection:
        assert connection.execute("SELECT FROM gaming_table").fetchone() is None


def test_a_code_is_dead_after_fifteen_minutes(pit: Pit, tmp_path: Path, boxes: Callable[..., Box]) -> None:
    number, code = made(pit)
    pass_minutes(pit, number)
    assert boxes(tmp_path / "late", code).end() == str(wire.LATE)
    assert at_pit(pit, number).why == wire.LATE
    number, code = made(pit)
    slow = boxes(tmp_path / "slow", code)
    slow.words()
    pass_minutes(pit, number)
    assert slow.end() == str(wire.LATE)
    assert at_pit(pit, number).stage == "dead"


def pass_minutes(pit: Pit, number: int) -> None:
    with pit.database.transaction() as connection:
        connection.execute(
            "UPDATE enrolment SET ends_at = now() - interval '1 second' WHERE enrolment_id = %s", (number,)
        )


def test_a_code_for_another_table_is_refused_and_lives_on_for_its_own(
    pit: Pit, tmp_path: Path, boxes: Callable[..., Box]
) -> None:
    number, code = made(pit)
    wrong = boxes(tmp_path / "five", code, number="5")
    assert wrong.end() == "This code is for Table 7, and this table is number 5. Nothing was enrolled."
    seen = at_pit(pit, number)
    assert (seen.stage, str(seen.refused)) == ("shown", wrong.error)
    right = boxes(tmp_path / "seven", code, says="same")
    right.words()
    enrolment.compare(pit.database, number, "Ines", same=True)
    assert right.end() == ""


@pytest.mark.parametrize("side", ["table", "pit"])
def test_words_that_differ_enrol_nothing_and_both_say_so(
    pit: Pit, tmp_path: Path, boxes: Callable[..., Box], side: str
) -> None:
    number, code = made(pit)
    box = boxes(tmp_path, code)
    box.words()
    if side == "table":
        box.says = "other"
    else:
        enrolment.compare(pit.database, number, "Ines", same=False)
    expected = wire.UNLIKE_TABLE if side == "table" else wire.UNLIKE_PIT
    assert box.end() == str(expected)
    assert at_pit(pit, number).why == expected
    assert not (tmp_path / "own").exists()


def test_a_newer_code_and_one_given_up_end_the_older(
    pit: Pit, tmp_path: Path, boxes: Callable[..., Box]
) -> None:
    first, code = made(pit)
    second, other = made(pit)
    assert boxes(tmp_path / "a", code).end() == str(wire.REPLACED)
    enrolment.give_up(pit.database, second)
    assert boxes(tmp_path / "b", other).end() == str(wire.GIVEN_UP)
    assert at_pit(pit, first).code == at_pit(pit, second).code == ""


def test_a_table_sends_nothing_to_a_pit_of_another_authority(
    pit: Pit, tmp_path: Path, boxes: Callable[..., Box]
) -> None:
    number, _ = made(pit)
    foreign = Code.make((f"127.0.0.1:{pit.address[1]}",), Authority(tmp_path / "other").der)
    assert "not the one that made this code" in boxes(tmp_path, foreign.text).end()
    assert at_pit(pit, number).stage == "shown"
    with pit.database.transaction() as connection:
        assert connection.execute("SELECT FROM enrolment WHERE request IS NOT NULL").fetchone() is None


def test_who_has_the_authority_but_not_the_secret_is_found_out(
    pit: Pit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, code = made(pit)
    monkeypatch.setattr(door, "enrolment_answer", lambda *_: (b'{"certificate": "", "house": ""}', "0" * 64))
    box = Box(tmp_path, code)
    with pytest.raises(UplinkError, match="not the one that made this code"):
        join(box.request(), tmp_path / "own", tmp_path / "witness", box.seen.append, lambda: "same")


def test_who_guesses_letters_gets_one_sentence(pit: Pit, tmp_path: Path, boxes: Callable[..., Box]) -> None:
    _, code = made(pit)
    guessed = replace(parse(code), secret=parse(code).secret ^ 1)
    assert "knows no such code" in boxes(tmp_path, guessed.text).end()
    for body in (b"", b"[]", b"{}", b"\xff", b"[" * 3000, json.dumps({"code": 1}).encode(), b"x" * 9000):
        assert ask_bare(pit, "POST", wire.PATH, body)[0] in (400, 413)


@pytest.mark.parametrize("path", ["/v1/rows", "/v1/record", "/v1/files/" + "a" * 64, "/v1/enrolmentx", "/"])
def test_without_a_certificate_nothing_else_is_answered(pit: Pit, path: str) -> None:
    status, answer = ask_bare(pit, "POST" if path == "/v1/rows" else "GET", path)
    assert (status, json.loads(answer)) == (403, {"error": "A table shows its certificate."})


def ask_bare(
    pit: Pit, method: str, path: str, body: bytes = b"", header: Mapping[str, str] | None = None
) -> tuple[int, bytes]:
    context = settings.bare_context()
    context.verify_mode = ssl.CERT_NONE
    line = http.client.HTTPSConnection("127.0.0.1", pit.address[1], context=context, timeout=60)
    line.request(method, path, body, {wire.HEADER: "0" * 64, **(header or {})})
    answer = line.getresponse()
    data = answer.read()
    line.close()
    return answer.status, data


def test_a_known_table_gets_new_keys_and_the_old_card_is_refused(
    pit: Pit, tmp_path: Path, data: Path, boxes: Callable[..., Box]
) -> None:
    _, before = pit.enrol("Table 7")
    with pytest.raises(PitError, match="already"):
        made(pit)
    number, code = made(pit, renews=True)
    box = boxes(tmp_path, code, says="same")
    box.words()
    enrolment.compare(pit.database, number, "Ines", same=True)
    assert box.end() == ""
    old = pit.follower(before, data)
    old.step()
    assert "No table has this certificate" in str(old.status.trouble)
    send_all(pit.follower(tmp_path / "own", data))


def test_a_table_that_lacks_the_key_it_names_is_refused(pit: Pit, tmp_path: Path) -> None:
    _, code = made(pit)
    box = Box(tmp_path, code)
    foreign = DeviceKey.open(tmp_path / "another").public.hex()
    with pytest.raises(UplinkError, match="does not have the key"):
        join(
            replace(box.request(), device_key=foreign),
            tmp_path / "own",
            tmp_path / "witness",
            box.seen.append,
            lambda: "",
        )
