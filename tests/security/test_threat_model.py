"""docs/security.md says only what a test shows, and leaves out no attack."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parents[2]
NO_ATTACKS: Final = (
    "test_supply_chain.py",
    "test_fuzz.py",
    "test_load.py",
    "test_attack_campaign.py",
    "test_cheats.py",
)
TOLD: Final = (HERE / "docs/security.md").read_text(encoding="utf-8")


def named_in(folder: Path) -> set[str]:
    found: set[str] = set()
    for path in folder.rglob("test_*.py"):
        found.update(re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    return found


def test_every_test_that_the_book_names_exists() -> None:
    pages = [path.read_text(encoding="utf-8") for path in (HERE / "docs").rglob("*.md")]
    named = set(re.findall(r"`(test_\w+)`", "\n".join(pages)))
    assert len(named) > 100
    there = {path.stem for path in (HERE / "tests").rglob("test_*.py")} | named_in(HERE / "tests")
    assert named - there == set()


def test_the_threat_model_tells_every_attack() -> None:
    own = re.findall(r"^def (test_\w+)", Path(__file__).read_text(encoding="utf-8"), re.MULTILINE)
    for name in NO_ATTACKS:
        if (path := Path(__file__).with_name(name)).exists():
            own += re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    untold = named_in(Path(__file__).parent) - set(re.findall(r"`(test_\w+)`", TOLD)) - set(own)
    assert sorted(untold) == sorted(NOT_ATTACKS)


NOT_ATTACKS: Final = (
    "test_an_older_pin_of_four_digits_is_found_in_one_day_of_seven",
    "test_the_page_listens_on_this_machine",
)


OTHERWISE: Final = {
    "test_another_user_of_the_box_may_not_open_the_tables_socket": "the socket's mode is widened",
    "test_a_name_that_leads_here_from_elsewhere_is_not_answered": "another application takes that name",
    "test_a_body_that_is_too_large_never_reaches_the_table": "the application's limit is taken off",
    "test_a_form_that_is_too_large_is_not_read": "the application's limit is taken off",
    "test_streams_cannot_take_every_thread": "another application has no limit of streams",
    "test_a_profile_that_was_sent_reads_no_file_of_the_box": "the console's own parser reads it",
    "test_the_box_opens_no_port_but_on_loopback": "other units open one",
    "test_the_port_for_other_machines_takes_private_addresses_only": "the kernel's doing: UNTESTED",
    "test_from_another_machine_there_is_no_page_of_the_table": "the table's own page has them",
    "test_visitors_who_go_at_once_are_not_in_the_log": "the server's log is turned up",
    "test_a_client_who_goes_at_once_writes_no_line_of_the_log": "the server's log is turned up",
    "test_another_box_in_its_place_is_noticed": "a browser that compares nothing",
    "test_without_metadata_nothing_is_taken": "with it, the same folder is taken",
    "test_metadata_that_is_none_is_refused_in_a_sentence": "with its own, the same folder is taken",
    "test_one_file_of_the_maker_in_the_place_of_another_is_refused": "in its own place each is taken",
    "test_files_of_two_states_are_not_mixed": "with the files of its own state it is taken",
    "test_the_release_of_the_first_installation_counts_too": "nothing runs that was made later",
    "test_a_release_for_another_machine_is_refused": "a check for that machine finds it whole",
    "test_a_new_key_is_followed_and_the_one_before_counts_no_more": "the new key's are taken",
    "test_metadata_without_end_is_not_read_to_its_end": "a terabyte cannot be read here",
    "test_a_link_to_what_only_root_may_read_is_not_followed": "the plain file is taken",
    "test_an_archive_that_holds_another_release_than_was_named_is_refused": "under its own name it is taken",
    "test_the_installer_upgrades_only_what_was_verified": "what was verified is installed",
}
"""Attacks whose defence is taken away without patching anything."""


def test_every_attack_is_made_without_its_defence_too() -> None:
    unpatched = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        if path.name in (*NO_ATTACKS, Path(__file__).name):
            continue
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(function, ast.FunctionDef) and function.name.startswith("test_"):
                patches = any(
                    isinstance(part, ast.Attribute) and part.attr in ("setattr", "setitem")
                    for part in ast.walk(function)
                )
                patches |= any(_edits_the_site(part) or _helps(part) for part in ast.walk(function))
                if not patches and function.name not in NOT_ATTACKS:
                    unpatched.add(function.name)
    assert unpatched == set(OTHERWISE)


def _edits_the_site(part: ast.AST) -> bool:
    """Whether nginx is begun by a site file that was edited."""
    return isinstance(part, ast.Call) and getattr(part.func, "id", "") == "served" and len(part.args) > 2


def _helps(part: ast.AST) -> bool:
    """Whether a helper takes the defence away: signatures that all count, a memory that is empty."""
    return isinstance(part, ast.Call) and getattr(part.func, "id", "") in ("no_signature_counts", "forget")


def test_the_lesson_stands_at_the_head() -> None:
    assert "CVE-2025-34500" in TOLD[:600]
