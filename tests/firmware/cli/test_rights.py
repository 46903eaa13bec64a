"""Folders and files that this user may not touch: each command says so in a sentence, and nothing is left half-done."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.journal import FILE
from tests.firmware.record.test_dispute_file import record
from tests.waiting import DEADLINE

BOUND: Final = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"]
"""Root, for whom no folder is closed, as any other user of their own files."""
RUN: Final = """
import json, sys
from click.testing import CliRunner
from firmware.cli.main import main

for words in json.load(sys.stdin):
    done = CliRunner().invoke(main, words)
    unsaid = done.exception is not None and not isinstance(done.exception, SystemExit)
    print(json.dumps([done.exit_code, repr(done.exception) if unsaid else done.output]))
"""


class Case(NamedTuple):
    """What is asked, with what exit status it ends, and what it says."""

    words: str
    exits: int
    says: str


CASES: Final = (
    Case(
        "hands export 1 --data data --out closed/x.zip", 1, "closed/x.zip cannot be used: Permission denied."
    ),
    Case("bundle --data data --out closed/x.zip", 1, "closed/x.zip cannot be used: Permission denied."),
    Case("backup closed/copy --data data", 1, "closed/copy cannot be used: Permission denied."),
    Case("backup shut/copy --data data", 1, "could not be made: Permission denied (shut/copy)."),
    Case("report --data data --pdf closed/x.pdf", 1, "closed/x.pdf cannot be"),
    Case("anchor --data data --pdf closed/x.pdf", 1, "Permission denied"),
    Case("anchor --data data --key-folder closed/key", 1, "Permission denied. Run this as the table's user."),
    Case("hands export 1 --data data --key-folder closed/key --out made.zip", 1, "as the table's user."),
    Case("restore closed --data new --yes", 2, "not readable"),
    Case("hands list --data closed", 2, "closed is not open to this user"),
    Case("hands verify --all --data closed", 2, "closed is not open to this user"),
    Case("hands verify hand.zip --data closed", 0, "All of it holds."),
    Case("hands verify closed/hand.zip", 2, "cannot be read: Permission denied"),
    Case("hands list --data blind", 1, "this user may not. Do it as the table's user."),
    Case("people pin Ada --data blind", 1, "this user may not. Do it as the table's user."),
    Case("people add Ada --role floor --data shut", 2, "shut is not this user's to write"),
    Case("anchor --data shut", 1, "this user may not. Do it as the table's user."),
    Case("hands verify --all --data dark", 1, "cannot be read: nobody can say whether it holds."),
    Case("hands export 1 --data dark --out made.zip", 1, "cannot be read; look at the disk"),
    Case("backup made --data dark", 1, "Permission denied (dark/captures)"),
)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, tuple[int, str]]]]:
    """The folder, and what became of every case in it."""
    bound = BOUND if os.geteuid() == 0 else []
    if bound and subprocess.run([*bound, "true"], capture_output=True, check=False).returncode:
        pytest.skip("root cannot give up its rights over others' files here")
    folder = tmp_path_factory.mktemp("rights")
    record(folder / "data")
    DeviceKey.open(folder / "key")
    words = ["hands", "export", "1", "--data", "data", "--out", "hand.zip", "--key-folder", "key"]
    made = CliRunner().invoke(main, [str(folder / word) if word in HERE else word for word in words])
    assert made.exit_code == 0, made.output
    for name in ("dark", "blind", "shut"):
        shutil.copytree(folder / "data", folder / name)
    (folder / "closed").mkdir()
    shut = [folder / "closed", folder / "dark/captures", folder / f"blind/{FILE}"]
    for path in shut:
        path.chmod(0)
    (folder / "shut").chmod(0o500)
    (folder / "shut/journal.lock").chmod(0o400)
    done = subprocess.run(
        [*bound, sys.executable, "-c", RUN],
        input=json.dumps([case.words.split() for case in CASES]),
        env={**os.environ, "FELTWATCH_KEY": "key", "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=10 * DEADLINE,
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    yield folder, {case.words: (exits, text) for case, (exits, text) in zip(CASES, told, strict=True)}
    for path in (*shut, folder / "shut"):
        path.chmod(0o700)


HERE: Final = frozenset({"data", "hand.zip", "key"})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.words)
def test_what_this_user_may_not_do_is_said_in_a_sentence(
    said: tuple[Path, dict[str, tuple[int, str]]], case: Case
) -> None:
    exits, text = said[1][case.words]
    assert (exits, case.says in text) == (case.exits, True), text


def test_nothing_of_it_is_left(said: tuple[Path, dict[str, tuple[int, str]]]) -> None:
    folder = said[0]
    left = {path.name for path in folder.iterdir()}
    assert left == {"data", "key", "hand.zip", "dark", "blind", "shut", "closed"}
