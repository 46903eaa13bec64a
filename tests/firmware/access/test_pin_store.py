"""Which PINs are taken, and how their verifiers are stored."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from firmware.access.pins import PinStore, matches_verifier
from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import FILE, JournalReader
from firmware.table import CommandRefused
from firmware.table.command import parse_command
from firmware.table.errors import PinError
from firmware.table.events import canonical
from firmware.table.people import (
    PIN_ROLES,
    PINS_FOLDER,
    check_pin,
)
from tests.firmware.access.gate import AUDITORS, OTHER, PIN, WRONG, Table


@pytest.mark.parametrize(
    "pin",
    [
        "",
        "47115",
        "47a153",
        "000000",
        "123456",
        "987654",
        "471471",
        "121212",
        "1" * 13,
        "47195" + "1" * 8,
        "١٢٣٥١٩",
    ],
)
def test_a_poor_pin_is_refused(pin: str) -> None:
    with pytest.raises(CommandRefused, match="PIN"):
        check_pin(pin)


def test_no_pin_and_no_verifier_is_in_the_journal_or_in_a_message(
    staffed: Table, capfd: pytest.CaptureFixture[str]
) -> None:
    answers = [staffed.give("unlock", by="Moreno", pin=pin) for pin in (WRONG, PIN)]
    for line in (f'{{"do":"unlock","pin":{WRONG}}}', f'{{"do":"next","x":"{PIN}"}}', f'"{PIN}"'):
        with pytest.raises(CommandRefused) as refused:
            parse_command(line)
        assert PIN not in f"{refused.value} {refused.value.__cause__}"
        assert WRONG not in f"{refused.value} {refused.value.__cause__}"
    assert PIN not in repr(parse_command(canonical({"do": "unlock", "by": "Moreno", "pin": PIN})))
    verifiers = [json.loads(path.read_text()) for path in (staffed.data / PINS_FOLDER).glob("*.json")]
    assert len(verifiers) == 3
    staffed.journal.close()
    rows = " ".join(f"{e.actor} {e.payload}" for e in JournalReader(staffed.data).events_since(0))
    stored = (staffed.data / FILE).read_bytes()
    for secret in (
        PIN,
        OTHER,
        AUDITORS,
        WRONG,
        *(v["key"] for v in verifiers),
        *(v["salt"] for v in verifiers),
    ):
        assert f'"{secret}"' not in rows
        assert secret not in json.dumps(answers)
        if len(secret) > 5:
            assert secret.encode() not in stored
    assert verify(staffed.data).ok
    assert capfd.readouterr() == ("", "")


def test_verifiers_are_for_the_tables_own_user(tmp_path: Path) -> None:
    store = PinStore(tmp_path)
    name = store.keep(PIN)
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((store.folder / f"{name}.json").stat().st_mode) == 0o600
    assert store.matches(name, PIN)
    assert not store.matches(name, WRONG)
    assert store.keep(PIN) != name


def test_a_try_costs_what_the_product_says_and_not_what_the_tests_pay() -> None:
    code = "import json; from firmware.access.pins import verifier; print(json.dumps(verifier('284653')))"
    made = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert (made["scrypt"]["n"] >= 2**15, made["scrypt"]["r"], made["scrypt"]["p"]) == (True, 8, 1)
    assert matches_verifier(made, "284653")
    assert not matches_verifier(made, "2847")


def test_a_lost_or_broken_verifier_opens_nothing_and_says_so(tmp_path: Path) -> None:
    store = PinStore(tmp_path)
    name = store.keep(PIN)
    for text in ("", "{}", '{"scrypt":{"n":3,"r":8,"p":1},"salt":"00","key":"00"}', "[]"):
        (store.folder / f"{name}.json").write_text(text)
        with pytest.raises(PinError, match="set a new PIN"):
            store.matches(name, PIN)
    with pytest.raises(PinError, match="set a new PIN"):
        store.matches("", PIN)


def test_replaced_and_orphaned_verifiers_are_removed(staffed: Table) -> None:
    store = PinStore(staffed.data)
    orphan = store.keep(PIN)  # a stop between the file and its event
    staffed.restart()
    assert orphan not in store.known()
    before = {person.pin for person in staffed.state.people if person.role in PIN_ROLES}
    assert store.known() == before
    staffed.give("set_pin", person="Moreno", new_pin="8642053", by="Ada", pin=OTHER)
    assert store.known() == {person.pin for person in staffed.state.people if person.pin}
    assert len(store.known()) == 3
