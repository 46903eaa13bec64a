"""Bad input to `feltwatch settle`: an answer for each input whatever its neighbours are, and exit codes to go by."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

from firmware.cli import json_input
from firmware.cli.json_input import json_inputs
from firmware.rules import load_profile, settle
from tests.firmware.rules.random_settlements import hand, troubles
from tests.firmware.rules.random_settlements import trouble as trouble_of
from tests.firmware.rules.settle_fuzz import lines, trouble
from tests.firmware.rules.tables import PLAIN

HAND: dict[str, Any] = {"profile": "traditional", "button": 1, "seats": [{"seat": 1}, {"seat": 2}]}
LINE = json.dumps(HAND)
SETTLE = [sys.executable, "-m", "firmware.cli", "settle", "--json"]


def verdicts(data: str | bytes) -> list[str]:
    """Return for each input found whether it is a value."""
    stream = io.BytesIO(data if isinstance(data, bytes) else data.encode())
    return ["wrong" if found.error else "value" for found in json_inputs(stream)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (f'[{LINE}, {{"unit": NaN}}, {LINE}, {LINE}]', ["value", "wrong", "value", "value"]),
        (f'[\n  {LINE},\n {{"unit": x}},\n    {LINE},\n{LINE}\n]', ["value", "wrong", "value", "value"]),
        (f'[\n  {LINE},\n  {{"unit": [1,\n  {LINE}\n]', ["value", "wrong", "value"]),
        (f"[\n{LINE}\n,\n{LINE}\n]", ["value", "value"]),
        (f"[{LINE},]", ["value", "wrong"]),
        (
            '{\n "a": x,\n "b": [\n}\n' + json.dumps(HAND, indent=2) + "\n" + json.dumps(HAND, indent=1),
            ["wrong", "value", "value"],
        ),
        (json.dumps(HAND, indent=0) + "\n" + json.dumps(HAND, indent=0), ["value", "value"]),
        ('{"profile": "x",\n "seats": []}', ["value"]),
        (f'{LINE}\n{{"a": [\n{LINE}', ["value", "wrong", "value"]),
        (f'{{"a": "not closed\n{LINE}', ["wrong", "value"]),
        (f"{{\n{LINE}", ["wrong", "value"]),
        (f'["profile": 1}}\n{LINE}', ["wrong", "value"]),
        (f"{LINE}\n".encode() + b'{"a": "\xff"}\n' + LINE.encode(), ["value", "wrong", "value"]),
    ],
)
def test_each_input_has_its_answer_in_its_place(data: str | bytes, expected: list[str]) -> None:
    assert verdicts(data) == expected


def settled(text: str) -> tuple[int, list[Any], str]:
    ran = subprocess.run(SETTLE, input=text.encode(), capture_output=True, check=False)
    return ran.returncode, [json.loads(line) for line in ran.stdout.splitlines()], ran.stderr.decode()


def test_numbers_and_brackets_without_end_get_a_sentence_and_messages_are_short() -> None:
    names = ("front", "middle", "back")
    seats = [{"seat": n, **dict(zip(names, PLAIN[n].split(" / "), strict=True))} for n in (1, 2)]
    bad = [
        json.dumps({**HAND, "seats": seats, "unit": 1}).replace('"unit": 1', f'"unit": {"9" * 4_300}'),
        json.dumps({**HAND, "seats": seats, "unit": 1}).replace('"unit": 1', f'"unit": {"9" * 4_301}'),
        json.dumps({**HAND, "seats": seats, "unit": 1}).replace(
            '"unit": 1', f'"unit": {"[" * 979}{"]" * 979}'
        ),
        json.dumps({**HAND, "options": {"a": 1}}).replace("1}", f"{'[' * 979}{']' * 979}}}"),
        json.dumps({**HAND, "x" * 1_000_000: 1}),
        json.dumps({**HAND, "seats": [seats[0], {**seats[1], "middle": "As 1h"}]}),
    ]
    status, answers, errors = settled("\n".join([*bad, LINE]))
    assert status == 2
    messages = [answer["error"]["message"] for answer in answers]
    assert len(answers) == len(bad) + 1
    assert "Traceback" not in errors
    assert messages[0].startswith("unit has more than 15 digits")
    assert "more than 4,300 digits" in messages[1]
    assert max(map(len, messages)) <= 400
    assert messages[5].startswith('seat 2, middle: "1h" is no card')
    assert 'line 6: seat 2, middle: "1h" is no card' in errors


def started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(SETTLE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def pipe(end: IO[bytes] | None) -> IO[bytes]:
    assert end is not None
    return end


def test_an_answer_comes_before_the_next_input_and_an_interrupt_loses_none() -> None:
    with started() as process:
        pipe(process.stdin).write(f"{LINE}\n".encode())
        pipe(process.stdin).flush()
        assert "error" in json.loads(pipe(process.stdout).readline())
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert b"Traceback" not in pipe(process.stderr).read()


def test_a_closed_pipe_exits_with_74() -> None:
    with started() as process:
        pipe(process.stdout).close()
        pipe(process.stdin).write(f"{LINE}\n".encode())
        pipe(process.stdin).close()
        process.stdin = None
        assert process.wait() == 74
        assert b"Traceback" not in pipe(process.stderr).read()


@pytest.mark.parametrize(
    ("closed", "status", "said"),
    [
        ("<&-", 2, "holds no hand"),
        (">&-", 74, "Standard output is closed."),
        ("2>&-", 2, ""),
        ("<&- >&- 2>&-", 74, ""),
    ],
)
def test_a_closed_stream_gets_a_sentence_and_an_exit_code(closed: str, status: int, said: str) -> None:
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *SETTLE]
    ran = subprocess.run(shell, input=LINE.encode(), capture_output=True, check=False)
    assert ran.returncode == status
    assert said in ran.stderr.decode()
    assert "Traceback" not in ran.stderr.decode()


def test_where_only_ascii_can_be_written_other_letters_are_escaped() -> None:
    names = ("front", "middle", "back")
    seats = [{"seat": n, **dict(zip(names, PLAIN[n].split(" / "), strict=True))} for n in (1, 2)]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    hand = json.dumps({**HAND, "seats": [{**seats[0], "player": "李é"}, {**seats[1], "player": "b"}]})
    ran = subprocess.run(SETTLE[:-1], input=hand.encode(), capture_output=True, check=False, env=ascii_only)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"\\u674e\\xe9" in ran.stdout


def test_a_line_without_end_is_not_kept_and_the_next_one_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_input, "LONGEST_LINE", 100_000)
    stream = io.BytesIO(
        b"\0" * 3_000_000 + b"\n" + LINE.encode() + b"\n[" + b"7" * 200_000 + b"]\n" + LINE.encode()
    )
    found = list(json_inputs(stream))
    assert ["more than" in one.error for one in found] == [True, False, True, False]


@pytest.mark.parametrize("begins", ["", "[\n"])
def test_lines_that_never_end_are_not_followed_to_the_end_for_each_of_them(
    begins: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed = 0
    feed = json_input._Extent.feed

    def counted(extent: Any, text: str, position: int = 0) -> int | None:
        nonlocal followed
        followed += 1
        return feed(extent, text, position)

    monkeypatch.setattr(json_input._Extent, "feed", counted)
    answers = verdicts(begins + ' {"a":[1,\n' * 1_000)
    assert answers == ["wrong"] * 1_000
    assert followed < 1_000 * (json_input.DEEPEST + 2)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_device_exits_with_74_and_a_sentence() -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(SETTLE, input=LINE.encode(), stdout=full, stderr=subprocess.PIPE, check=False)
    assert ran.returncode == 74
    assert b"The answers cannot be written: No space left on device." in ran.stderr
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(SETTLE, input=LINE.encode(), stdout=full, stderr=full, check=False)
    assert ran.returncode == 74


def test_damaged_lines_have_as_many_answers_and_never_a_traceback() -> None:
    assert trouble(list(lines(7, 300))) == ""


@pytest.mark.exhaustive
def test_ten_thousand_damaged_lines_have_as_many_answers() -> None:
    assert trouble(list(lines(1, 10_000))) == ""


def test_lines_sum_to_totals_and_their_clauses_are_on_the_page_under_every_profile() -> None:
    assert troubles(2, 60) == []


def test_a_clause_that_the_page_has_no_sentence_for_is_found() -> None:
    profile = load_profile("traditional")
    settlement = settle(hand(random.Random(3), profile), profile)
    clauses = {line.clause for pair in settlement.pairs for line in pair.lines}
    assert trouble_of(settlement, clauses) == ""
    assert trouble_of(settlement, clauses - {"scoring.row"}).startswith(
        "the house-rules page has no sentence"
    )


@pytest.mark.exhaustive
def test_lines_of_24_000_settlements_sum_to_totals_and_their_clauses_are_on_the_page() -> None:
    assert troubles(1, 3_000) == []
