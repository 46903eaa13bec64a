"""What the box is made of: pinned, asked about, listed."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest

from tests.security.supply_chain import UNREACHABLE, audit, in_rounds, licences, page, pins, pins_for, told_in

HERE: Final = Path(__file__).parents[2]
LOCK: Final = "a==1 \\\n    --hash=sha256:0\nb==2 ; python_version < '3.12' \\\n    --hash=sha256:1\nb==3\n"


@pytest.mark.parametrize("name", ["box", "dev"])
def test_the_locks_pin_by_hash_and_name_no_host(name: str) -> None:
    text = (HERE / f"requirements/{name}.lock").read_text(encoding="utf-8")
    assert "://" not in text
    assert "index-url" not in text
    pinned = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(pinned) == len(pins(text)) > 20
    assert all("--hash=sha256:" in pin for pin in pinned)


def test_every_dependency_of_the_box_is_in_its_lock() -> None:
    project = (HERE / "pyproject.toml").read_text(encoding="utf-8")
    listed = project[project.index("dependencies = [") :].split("]", 1)[0]
    wanted = {name.lower() for name in re.findall(r'"([A-Za-z0-9._-]+)[><=]', listed)}
    lock = (HERE / "requirements/box.lock").read_text(encoding="utf-8")
    assert wanted - set(re.findall(r"^([a-z0-9._-]+)==", lock, re.MULTILINE)) == set()


def answer(*found: dict[str, Any]) -> tuple[str, str]:
    return json.dumps({"dependencies": list(found)}), ""


def part(name: str, version: str, *holes: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "version": version, "vulns": list(holes)}


def whole(requirements: str) -> tuple[str, str]:
    return answer(*(part(line.split("==")[0], line.split("==")[1]) for line in requirements.split()))


def test_every_version_of_every_machine_is_asked_about() -> None:
    assert list(in_rounds(pins(LOCK))) == [[("b", "2"), ("a", "1")], [("b", "3")]]
    assert audit(LOCK, whole)[0] == 0


def test_a_part_that_was_skipped_fails_the_audit() -> None:
    code, said = audit(LOCK, lambda text: answer(part("a", "1")) if "a==" in text else whole(text))
    assert code == 1
    assert said == ["b 2 was skipped: no answer"]
    skipped = {"name": "a", "version": "1", "skip_reason": "?"}
    assert audit("a==1\nb==2\n", lambda _: answer(skipped, part("b", "2"))) == (1, ["a 1 was skipped: ?"])
    assert audit("a==1\n", lambda _: answer(skipped))[0] == UNREACHABLE


def test_a_known_hole_fails_the_audit() -> None:
    hole = {"id": "CVE-1", "fix_versions": ["2"]}
    assert audit("a==1\n", lambda _: answer(part("a", "1", hole))) == (1, ["a 1: CVE-1, mended in 2"])


def test_a_service_that_cannot_be_reached_is_said_to_be_untested_and_its_host_is_not_told() -> None:
    code, said = audit(
        LOCK, lambda _: ("", "ConnectionError: HTTPSConnectionPool(host='x.example') https://x.example/a")
    )
    assert code == UNREACHABLE
    assert said[0].startswith("UNTESTED")
    assert "example" not in said[0]


def test_the_page_of_an_audit_that_asked_nobody_says_so() -> None:
    asked, unasked = (page(code, ["That."], 7, date(2026, 11, 27)) for code in (0, UNREACHABLE))
    assert "UNTESTED" in unasked
    assert "UNTESTED" not in asked
    assert "2026-11-27" in unasked
    assert "- That.\n" in unasked


def test_a_part_without_a_licence_is_not_listed_over() -> None:
    bill = {"components": [{"name": "a", "version": "1", "licenses": [{"license": {"id": "MIT"}}]}]}
    assert licences(bill) == ["a 1: MIT"]
    bill["components"].append({"name": "b", "version": "2"})
    with pytest.raises(ValueError, match="b 2 names no licence"):
        licences(bill)
    assert licences(bill, {"b": "3-Clause BSD License"}.get) == ["a 1: MIT", "b 2: 3-Clause BSD License"]  # type: ignore[arg-type]
    assert told_in(Path(sys.prefix))("pyserial") == "BSD"


def test_a_release_is_made_of_what_the_lock_pins_for_its_python() -> None:
    assert pins_for(LOCK, "3.11") == ["a==1", "b==2", "b==3"]
    assert pins_for(LOCK, "3.12") == ["a==1", "b==3"]
    script = (HERE / "systemd/release").read_text(encoding="utf-8")
    assert 'supply_chain pins "requirements/$2.lock"' in script
    assert 'grep -q "sha256:$sum" requirements/box.lock requirements/pit.lock' in script


def test_a_wheel_that_is_not_the_locked_one_is_in_no_release(tmp_path: Path) -> None:
    """The release's own last look, with one wheel that the lock knows and one that it does not."""
    script = (HERE / "systemd/release").read_text(encoding="utf-8")
    look = script[script.index("only_locked() {") : script.index("# ---- what a box, and a pit, are made of")]
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / "feltwatch-1.whl").write_bytes(b"ours")
    (wheels / "a-1.whl").write_bytes(b"a")
    (tmp_path / "requirements").mkdir()
    digest = hashlib.sha256(b"a").hexdigest()
    (tmp_path / "requirements/box.lock").write_text(f"a==1 --hash=sha256:{digest}\n")
    (tmp_path / "requirements/pit.lock").write_text("")

    def looked() -> int:
        lines = f"set -eu\nout={tmp_path}\n{look}\nonly_locked"
        return subprocess.run(
            ["bash", "-c", lines], cwd=tmp_path, check=False, capture_output=True
        ).returncode

    assert looked() == 0
    (wheels / "b-2.whl").write_bytes(b"not what was locked")
    assert looked() == 1
