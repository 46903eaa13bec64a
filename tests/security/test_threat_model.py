"""docs/security.md says only what a test shows, and leaves out no attack."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parents[2]
NO_ATTACKS: Final = ("test_supply_chain.py", "test_fuzz.py", "test_load.py")
TOLD: Final = (HERE / "docs/security.md").read_text(encoding="utf-8")


def named_in(folder: Path) -> set[str]:
    found: set[str] = set()
    for path in folder.rglob("test_*.py"):
        found.update(re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    return found


def test_every_test_that_the_threat_model_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", TOLD))
    assert len(named) > 30
    assert named - named_in(HERE / "tests") == set()


def test_the_threat_model_tells_every_attack() -> None:
    own = re.findall(r"^def (test_\w+)", Path(__file__).read_text(encoding="utf-8"), re.MULTILINE)
    for name in NO_ATTACKS:
        if (path := Path(__file__).with_name(name)).exists():
            own += re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    untold = named_in(Path(__file__).parent) - set(re.findall(r"`(test_\w+)`", TOLD)) - set(own)
    assert sorted(untold) == sorted(NOT_ATTACKS)


NOT_ATTACKS: Final = (
    "test_the_command_says_what_it_refuses_and_changes_nothing",
    "test_the_page_listens_on_this_machine",
    "test_what_is_no_archive_is_refused_in_one_sentence_and_who_may_not_is_told_to_be_root",
    "test_what_the_release_key_signed_is_taken",
)


def test_the_lesson_stands_at_the_head() -> None:
    assert "CVE-2025-34500" in TOLD[:600]
