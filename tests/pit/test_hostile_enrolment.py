"""With a code only the table whose words were compared can be brought in, and nothing that is sent breaks anything."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from firmware.record.evidence.signing import DeviceKey
from firmware.uplink import enrolment as wire
from firmware.uplink.code import parse
from firmware.uplink.enrolment import Says
from firmware.uplink.errors import PitRefusal
from firmware.uplink.joining import _certificate_request, join
from pit.authority import Authority
from pit.door import enrolment
from pit.log.cosignatures import _learn
from pit.status.tables import list_tables, renew, strike
from tests.pit.conftest import Pit
from tests.pit.test_enrolment import Box, ask_bare, at_pit, made, pit

__all__ = ["pit"]


def asked(pit: Pit, code: str, request: wire.Request, **header: str) -> int:
    """Send a request with its code's HMAC, or with another header; return the status."""
    body = request.to_bytes()
    sent = {wire.HEADER: wire.of_table(parse(code).key(), body), **header}
    return ask_bare(pit, "POST", wire.PATH, body, sent)[0]


def first_request(folder: Path, code: str, number: str = "7") -> wire.Request:
    box = Box(folder, code, number).request()
    pem = _certificate_request(ec.generate_private_key(ec.SECP256R1()), number)
    witness = DeviceKey.open(folder / "witness").public.hex()
    return wire.Request(parse(code).name, pem, box.device_key, box.proof, witness, number)


@pytest.mark.parametrize("field", ["device_key", "witness_key", "table", "proof"])
def test_what_the_words_cover_cannot_change_after_they_were_compared(
    pit: Pit, tmp_path: Path, field: str
) -> None:
    number, code = made(pit)
    request = first_request(tmp_path, code)
    assert asked(pit, code, request) == 200
    enrolment.compare(pit.database, number, "Ines", same=True)
    other = {
        "device_key": DeviceKey.open(tmp_path / "other").public.hex(),
        "witness_key": DeviceKey.open(tmp_path / "other").public.hex(),
        "table": "99",
        "proof": "00" * 64,
    }
    assert asked(pit, code, replace(request, says="same", **{field: other[field]})) == 403
    assert at_pit(pit, number).why == wire.TWICE
    assert tables_of(pit) == []


@pytest.mark.parametrize("key", ["house", "log"])
def test_a_pit_that_names_another_key_than_the_words_cover_enrols_nothing(
    pit: Pit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    _, code = made(pit)
    box = Box(tmp_path, code)
    honest = pit.authority.keys

    def exchanged() -> Says:
        forged = replace(honest, **{key: DeviceKey.open(tmp_path / "forger").public.hex()})
        monkeypatch.setattr(Authority, "keys", forged)
        with pit.database.transaction() as connection:  # the pit's database says what suits it, too
            connection.execute("UPDATE enrolment SET words = ''")
        return "same"

    with pytest.raises(PitRefusal, match="not the one that made this code"):
        join(
            box.request(), tmp_path / "own", tmp_path / "witness", box.seen.append, exchanged, lambda _: None
        )
    assert not (tmp_path / "own").exists()


def tables_of(pit: Pit) -> list[str]:
    return [one.table.name for one in list_tables(pit.database) if one.struck_at is None]


@pytest.mark.parametrize("when", ["under way", "made at the same time"])
def test_a_strike_is_not_undone_by_a_code_from_before_it(pit: Pit, tmp_path: Path, when: str) -> None:
    pit.enrol("Table 7")
    number, code = made(pit, renews=True)
    request = first_request(tmp_path, code)
    assert asked(pit, code, request) == 200
    enrolment.compare(pit.database, number, "Ines", same=True)
    if when == "under way":
        strike(pit.database, "Table 7")
    else:
        with pit.database.transaction() as connection:
            connection.execute("UPDATE gaming_table SET struck_at = now()")
    assert asked(pit, code, replace(request, says="same")) == 403
    seen = at_pit(pit, number)
    assert "was struck off after this code was made" in str(seen.why or seen.refused)
    assert tables_of(pit) == []
    number, code = made(pit, renews=True)  # a newer one takes it in again
    request = first_request(tmp_path, code)
    assert asked(pit, code, request) == 200
    enrolment.compare(pit.database, number, "Ines", same=True)
    assert asked(pit, code, replace(request, says="same")) == 200
    assert tables_of(pit) == ["Table 7"]


def test_what_can_never_be_enrolled_is_refused_and_the_code_lives_on(pit: Pit, tmp_path: Path) -> None:
    number, code = made(pit)
    request = first_request(tmp_path, code)
    deep = json.loads("[" * 600 + "]" * 600)
    body = json.dumps(vars(request) | {"certificate": deep}).encode()
    assert ask_bare(pit, "POST", wire.PATH, body)[0] == 400
    for proof in ("zz", "a", "aa", "\u00e9" * 128):
        assert asked(pit, code, replace(request, proof=proof)) == 400
    assert asked(pit, code, request, **{wire.HEADER: "\u00e9"}) == 403
    assert asked(pit, code, replace(request, certificate="-----BEGIN")) == 403
    assert str(at_pit(pit, number).refused) == "The table's request for a certificate cannot be used."
    assert asked(pit, code, replace(request, table=" ")) == 403
    assert at_pit(pit, number).refused == wire.NO_NUMBER
    nobodys = bytes([1]) + bytes(31)
    assert (
        asked(pit, code, replace(request, device_key=nobodys.hex(), proof=(nobodys + bytes(32)).hex())) == 403
    )
    assert at_pit(pit, number).refused == wire.NO_KEY
    assert at_pit(pit, number).stage == "shown"
    assert asked(pit, code, request) == 200


def test_a_box_is_one_table_until_that_is_struck_off(pit: Pit, tmp_path: Path) -> None:
    for name, status in (("Table 7", 200), ("Table 8", 403)):
        number, code = made(pit, name)
        request = first_request(tmp_path, code, name[-1])
        assert asked(pit, code, request) == status
        if status == 200:
            enrolment.compare(pit.database, number, "Ines", same=True)
            assert asked(pit, code, replace(request, says="same")) == 200
    assert str(at_pit(pit, number).refused).startswith("This box is enrolled already, as Table 7.")
    strike(pit.database, "Table 7")
    assert asked(pit, code, request) == 200
    enrolment.compare(pit.database, number, "Ines", same=True)
    assert asked(pit, code, replace(request, says="same")) == 200
    assert tables_of(pit) == ["Table 8"]
    renew(pit.database, "Table 7", 4711)
    with pit.database.transaction() as connection:
        found = connection.execute("SELECT name, table_id, witness_key FROM gaming_table").fetchall()
        keys = {name: (table_id, key) for name, table_id, key in found}
        seven, none = keys["Table 7"]
        assert none is None
        assert not _learn(connection, seven, bytes(keys["Table 8"][1])), "one box is no two witnesses"
