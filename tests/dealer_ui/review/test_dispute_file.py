"""A dispute file on the page: what it is known by, and how far it is on its way to a stick."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flask.testing import FlaskClient

from dealer_ui.review.dispute_file import find_dispute_file
from dealer_ui.server.app import Settings, create_app
from dealer_ui.text.i18n import COOKIE
from firmware.messages import Message
from firmware.record.dispute_file import export_path
from firmware.record.evidence.dispute_verifier import MANIFEST
from firmware.record.evidence.signing import DeviceKey, fingerprint
from firmware.record.stick_request import SILENT_S, Progress
from firmware.record_folder import SOCKET
from firmware.runtime.sticks import disks as stick_disks
from firmware.runtime.sticks import write as stick
from tests.dealer_ui.felt import Felt

KEY = DeviceKey(Ed25519PrivateKey.from_private_bytes(bytes(range(32)))).public


def zipped(folder: Path, manifest: str = json.dumps({"key": KEY.hex()})) -> Path:
    path = export_path(folder, 1)
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(MANIFEST, manifest)
    return path


@pytest.fixture
def told(felt: Felt) -> Path:
    return felt.folder / "progress.json"


@pytest.fixture
def client(felt: Felt, told: Path) -> FlaskClient:
    return create_app(Settings(felt.folder, felt.folder / SOCKET, stick=told)).test_client()


def asked(client: FlaskClient, job: str = "a", hand: int = 1, language: str = "en") -> dict[str, Any]:
    client.set_cookie(COOKIE, language)
    said: dict[str, Any] = client.get(f"/review/{hand}/stick?job={job}").get_json()
    return said


def test_it_is_known_by_its_hash_and_the_words_of_the_key_that_signed_it(tmp_path: Path) -> None:
    path = zipped(tmp_path)
    file = find_dispute_file(tmp_path, 1)
    assert file is not None
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (file.sha256, file.key_words, file.bytes) == (digest, fingerprint(KEY), path.stat().st_size)
    assert file.text == f"FELTWATCH HAND 1 SHA256 {digest} KEY {fingerprint(KEY)}".upper()
    assert file.qr.startswith("<svg")
    path.write_bytes(path.read_bytes() + b"more")
    again = find_dispute_file(tmp_path, 1)
    assert again is not None
    assert again.sha256 != digest, "made again"


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"key": 3}', '{"key": "no hex"}'])
def test_a_file_that_names_no_key_has_no_words_and_breaks_no_page(tmp_path: Path, manifest: str) -> None:
    zipped(tmp_path, manifest)
    file = find_dispute_file(tmp_path, 1)
    assert file is not None
    assert file.key_words == "?"


def test_a_link_in_its_place_is_no_dispute_file(tmp_path: Path) -> None:
    path = zipped(tmp_path)
    real = path.rename(tmp_path / "real.zip")
    path.symlink_to(real)
    assert find_dispute_file(tmp_path, 1) is None
    path.unlink()
    os.mkfifo(path)
    assert find_dispute_file(tmp_path, 1) is None


def test_each_step_to_the_stick_is_said_with_how_far_it_is(client: FlaskClient, told: Path) -> None:
    assert asked(client) == {"step": "asked", "over": False, "percent": 0, "says": "Looking for the stick…"}
    Progress("a", 1, "waiting").write(told)
    assert asked(client)["says"] == "Put a stick into the box."
    Progress("a", 1, "copying", at=30, of=90).write(told)
    assert asked(client) == {
        "step": "copying",
        "over": False,
        "percent": 33,
        "says": "Being written. Leave the stick in.",
    }
    Progress("a", 1, "checking", at=90, of=90).write(told)
    assert "read back" in asked(client)["says"]
    Progress("a", 1, "done", name="feltwatch-hand-1.zip").write(told)
    done = asked(client)
    assert (done["over"], done["says"]) == (
        True,
        "Done: take the stick out. On it lies feltwatch-hand-1.zip.",
    )


def test_what_was_told_of_another_request_or_hand_is_not_this_ones(client: FlaskClient, told: Path) -> None:
    Progress("a", 1, "done").write(told)
    assert asked(client, job="b")["step"] == "asked"
    assert asked(client, hand=2)["step"] == "asked"


def test_a_program_that_fell_silent_is_said_to_have_failed(client: FlaskClient, told: Path) -> None:
    silent = Progress("a", 1, "copying", at=1, of=2, beat_s=time.monotonic() - SILENT_S - 1)
    told.write_text(json.dumps(dataclasses.asdict(silent)))
    said = asked(client)
    assert (said["over"], said["step"]) == (True, "failed")
    assert "Take the stick out" in said["says"]


REFUSALS = [
    value for module in (stick, stick_disks) for value in vars(module).values() if isinstance(value, Message)
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: str(refusal)[:40])
def test_each_reason_why_a_stick_is_not_written_is_said_in_each_language(
    client: FlaskClient, told: Path, refusal: Message
) -> None:
    Progress("a", 1, "failed", refusal=refusal.to_json()).write(told)
    said = {language: asked(client, language=language)["says"] for language in ("en", "es", "zh_Hans")}
    assert said["en"] == str(refusal)
    assert len(set(said.values())) == 3


@pytest.mark.parametrize("refusal", [{}, {"message": 3, "args": {}}, {"message": "x", "args": []}])
def test_a_reason_that_nobody_of_ours_wrote_breaks_no_page(
    client: FlaskClient, told: Path, refusal: dict[str, Any]
) -> None:
    Progress("a", 1, "failed", refusal=refusal).write(told)
    assert asked(client)["over"] is True


def test_hash_and_words_are_for_those_who_may_have_the_file(client: FlaskClient, felt: Felt) -> None:
    zipped(felt.folder)
    assert client.get("/review/1/proof", headers={"Accept": "application/json"}).status_code == 403
