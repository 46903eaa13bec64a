"""Every command that the book and the READMEs name exists, takes what is named, and runs where that is harmless."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

import cv2
import pytest
from click.testing import CliRunner

from docs.facts import ROOT, commands, help_text, targets
from firmware.cli.main import main
from firmware.record.evidence.signing import DeviceKey
from tests.docs.lines import Line, lines, module_of, parsed
from tests.generated_record import generate_record
from tests.rendered import rendered
from vision.felt.layout import TableLayout

FELTWATCH: Final = lines("feltwatch")
MAKE: Final = lines("make")
PYTHON: Final = [line for line in lines("python") if line.words[1:2] == ("-m",)]
RUN: Final = frozenset(
    {"anchor", "audit", "backup", "bundle", "calibrate", "hands"}
    | {"keep", "optics", "profiles", "read", "report", "settle"}
)
"""Commands that are quick and touch nothing but the folder that they are given: run here as the pages have them."""
NOT_HERE: Final = frozenset({"--key", "--reason", "--anchor", "--log", "--do", "--loose", "--lens", "--keep"})
"""These need a running table, a slip of this very record, a pit, or photographs."""
ELSEWHERE: Final = {
    "acceptance": "firmware/acceptance/test_acceptance.py",
    "bench appliance": "firmware/bench/test_appliance.py",
    "bench rules": "firmware/bench/test_rules.py",
    "bench table": "firmware/bench/test_table.py",
    "bench vision": "firmware/bench/test_vision.py",
    "bundle": "firmware/cli/test_retention.py",
    "calibrate": "firmware/cli/test_calibrate.py",
    "deck": "firmware/cli/test_deck.py",
    "demo": "appliance/test_demo.py",
    "doctor": "firmware/cli/test_doctor.py",
    "enrol": "vision/reading/test_enrolment.py",
    "felt": "firmware/webcam/test_try.py",
    "hands": "firmware/cli/test_hands.py",
    "keep": "firmware/cli/test_retention.py",
    "kiosk": "dealer_ui/server/test_kiosk.py",
    "people": "firmware/cli/test_people.py",
    "pit": "pit/test_cli.py",
    "photo": "firmware/photo/test_photo.py",
    "photo-page": "dealer_ui/photo/test_photo_cli.py",
    "profiles": "firmware/cli/test_rules.py",
    "read": "vision/cli/test_read.py",
    "restore": "firmware/cli/test_retention.py",
    "review": "dealer_ui/remote/test_remote.py",
    "run": "appliance/test_demo.py",
    "selftest": "firmware/acceptance/test_selftest.py",
    "settle": "firmware/cli/test_rules.py",
    "sign-release": "firmware/update/test_sign_release.py",
    "simulate": "firmware/simulation/test_evening.py",
    "stick": "firmware/runtime/test_stick.py",
    "training": "firmware/simulation/test_training.py",
    "ui": "dealer_ui/server/test_cli.py",
    "try": "firmware/webcam/test_try.py",
    "update": "firmware/update/rig.py",
    "uplink": "pit/test_cli.py",
}
"""Which test runs the others: what needs a table, a browser, a box, or minutes."""

MADE: Final = {
    "audit-deps": (
        "-m tests.security.supply_chain audit",
        "security/test_supply_chain.py",
        "audit(LOCK, whole)",
    ),
    "bench": ("feltwatch bench", "firmware/bench/test_rules.py", '"bench"'),
    "boards": ("-m hardware.make boards", "hardware/test_boards.py", "check.judge("),
    "cards": ("vision.synthetic.deck.card_svg(c)", "dealer_ui/web/test_static.py", "card_svg("),
    "demo": ("feltwatch demo", "appliance/test_demo.py", '"demo"'),
    "docs": (
        "sphinx-build --builder html",
        "docs/conftest.py",
        '"sphinx", "-b", "html", "--fail-on-warning"',
    ),
    "book-pdf": ("-m docs.paper build/paper/index.html", "docs/test_paper.py", '"docs.paper"'),
    "fuzz": ("-m tests.firmware.devices.fuzz", "firmware/devices/test_fuzz.py", "parser(random.Random("),
    "fuzz-all": ("-m tests.campaigns.security.fuzz", "security/test_fuzz.py", "fuzz.send("),
    "fuzz-page": ("-m tests.dealer_ui.fuzz", "dealer_ui/server/test_openapi.py", "tests.dealer_ui.fuzz"),
    "golden": ("-m tests.browser.golden", "browser/test_states.py", "tests.browser.golden"),
    "hardware": (
        "-m hardware.make",
        "hardware/test_made.py",
        "from hardware.make.__main__ import main, standard_frame",
    ),
    "pit-demo": ("feltwatch pit demo", "pit/test_demo.py", "pit.demo.cli"),
    "page-load": (
        "-m tests.campaigns.browser.load",
        "browser/test_load.py",
        "from tests.campaigns.browser.load import _times, run",
    ),
    "rules-wheel": ("systemd/rules/make", "systemd/test_rules_package.py", "systemd/rules/make"),
    "sbom": ("supply_chain licences", "security/test_supply_chain.py", "licences(bill)"),
    "security-load": ("-m tests.campaigns.security.load", "security/test_load.py", "load.measure("),
    "words": ("pybabel -q extract", "dealer_ui/text/test_languages.py", "extract_from_dir("),
}
"""What a target's recipe runs, which test runs the same, and the words there that do."""
OWN: Final = {
    "biome": "fetches the linter of JavaScript; make lint runs it",
    "campaign": "minutes to hours; tests/campaigns/README.md",
    "help": "prints",
    "image": "takes the network and half an hour; systemd/test_card.py looks at its parts",
    "lint": "looks at every change, as the tests do",
    "micropython": "fetches a Debian package; tests/firmware/puck_reader runs what it brings",
    "release": "takes the network and minutes; make test-install installs one",
    "smoke-aarch64": "a machine under emulation, half an hour; docs/aarch64-report.md",
    "coverage": "this, counted",
    "test": "this",
    "tests": "the same",
    "test-all": "this, and what is marked exhaustive",
    "test-quick": "a part of this",
    "test-image": "an emulated machine, an hour; docs/image-report.md",
    "test-install": "boots a Debian, as root; docs/install-report.md",
    "test-install-pit": "boots another; docs/pit-install-report.md",
    "test-training": "minutes, with torch",
    "training": "hours, with torch",
}
"""Why no test runs the others."""


def test_enough_is_named() -> None:
    assert len(FELTWATCH) > 60
    assert len(MAKE) > 20
    assert {line.words[1] for line in FELTWATCH} >= {name for name in commands() if " " not in name} & RUN


def test_what_is_named_is_what_the_command_takes() -> None:
    assert {str(line): wrong for line in FELTWATCH if (wrong := parsed(line.words))} == {}


@pytest.mark.parametrize(
    "wrong", ["hands lst", "settle --jsn", "keep --days many", "hands show 1 2", "demo --hands 0"]
)
def test_a_line_that_no_command_takes_is_found(wrong: str) -> None:
    assert parsed(("feltwatch", *wrong.split())) != []


def test_what_the_page_advises_is_a_command() -> None:
    said = (ROOT / "dealer_ui/translations/messages.pot").read_text(encoding="utf-8")
    advised = re.findall(r': (feltwatch [^"%]+)"$', said, re.MULTILINE)
    assert len(advised) > 3
    assert {words: parsed(tuple(words.split())) for words in advised} == {words: [] for words in advised}


def test_every_command_says_what_it_is_for() -> None:
    for name in commands():
        done = CliRunner().invoke(main, [*name.split(), "--help"])
        assert done.exit_code == 0, name
        assert help_text(name).startswith("Usage: feltwatch "), name


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a record of twenty hands, and the files that the book's lines name."""
    folder = tmp_path_factory.mktemp("book")
    key = DeviceKey.open(folder / "key")  # as the table makes it when it first runs
    generate_record(folder / "data", 20, key=key)
    hand = (
        '{"seats": [{"seat": 1, "front": "As Ah Kd", "middle": "2c 2d 2h 5s 5c", "back": "Jh Jd Js Jc 3d"},'
    )
    hand += '{"seat": 2, "front": "9s 9h 8d", "middle": "Qc Qd 3c 4c 6c", "back": "7c 6d 5h 4s 3h"}],'
    hand += '"button": 2, "profile": "traditional"}'
    (folder / "hands.json").write_text(hand)
    shown = CliRunner().invoke(main, ["profiles", "show", "traditional"])
    (folder / "ours.toml").write_text(shown.stdout)
    stick = folder / "feltwatch-2026-11-20"
    CliRunner().invoke(main, ["backup", str(stick), "--data", str(folder / "data")])
    (folder / "pictures").mkdir()
    felt = rendered({}, TableLayout.load(), seed=3).frame
    cv2.imwrite(str(folder / "pictures/felt.jpg"), felt)
    cv2.imwrite(str(folder / "photo.jpg"), felt)
    CliRunner().invoke(main, ["calibrate", str(folder / "pictures"), "--out", str(folder / "felt.json")])
    return folder


def runs(line: Line) -> bool:
    _, name, *rest = line.words
    alone = ("report", "audit", "optics")  # the others want to be told what
    return name in RUN and not NOT_HERE & set(rest) and (bool(rest) or name in alone)


@pytest.mark.slow
@pytest.mark.parametrize("line", {line.words: line for line in FELTWATCH if runs(line)}.values(), ids=str)
def test_what_is_harmless_runs(line: Line, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})  # an audit of 20 hands needs no processes
    monkeypatch.setenv("FELTWATCH_DATA", str(place / "data"))
    words = [
        str(place / Path(word).name) if word.startswith(("/media/", "/tmp/")) else word
        for word in line.words[1:]
    ]
    if words[0] in ("anchor",) or words[:2] == ["hands", "export"]:
        words += ["--key-folder", str(place / "key")]
    if words[0] == "backup":
        shutil.rmtree(words[1], ignore_errors=True)
    done = CliRunner().invoke(main, words, input=(place / "hands.json").read_text())
    assert done.exit_code == 0, done.output


def test_every_line_that_is_not_run_here_is_of_a_command_that_another_test_runs() -> None:
    tests = Path(__file__).parents[1]
    points = {
        **{point.name: point for point in entry_points(group="feltwatch.commands")},
        **{f"bench {point.name}": point for point in entry_points(group="feltwatch.bench")},
    }
    for line in FELTWATCH:
        name = " ".join(line.words[1:3]) if line.words[1] == "bench" else line.words[1]
        if runs(line) or name not in points:
            continue
        words = (tests / ELSEWHERE[name]).read_text(encoding="utf-8")
        folder, _, module = points[name].module.rpartition(".")
        imported = rf"from {points[name].module} import|from {folder} import [^\n]*\b{module}\b"
        called = rf"{imported}|[\"']{name.split()[-1]}[\"']"
        assert re.search(called, words), f"{ELSEWHERE[name]} does not run feltwatch {name}"


def test_the_book_shows_every_command_on_one_page() -> None:
    named = {line.words[1] for line in FELTWATCH if line.page == "docs/developer/commands.md"}
    assert {name for name, it in commands().items() if " " not in name and not it.hidden} - named == set()


def test_make_knows_every_target() -> None:
    for words, line in {line.words[1:]: line for line in MAKE}.items():
        make = ["make", "--dry-run", "--no-print-directory", *words]
        done = subprocess.run(make, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}: {done.stderr}"


@pytest.mark.parametrize("target", MADE)
def test_what_a_target_runs_is_run_by_a_test(target: str) -> None:
    piece, test, words = MADE[target]
    dry = ["make", "--dry-run", "--always-make", "--no-print-directory", target]
    recipe = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert piece in recipe
    assert words in (ROOT / "tests" / test).read_text(encoding="utf-8")


def test_every_target_that_is_named_is_run_or_it_is_said_why_not() -> None:
    assert {line.words[1] for line in MAKE} <= MADE.keys() | OWN.keys()
    assert MADE.keys() | OWN.keys() == set(targets()) - {"clean", "lock", "wheel"} | {"help"}


def test_make_help_lists_what_can_be_made() -> None:
    made = set(targets()) - {"help", "clean"}
    phony = next(line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith(".PHONY:"))
    assert made == set(phony.split()[1:]) - {"help", "clean"}


def test_a_module_that_is_named_is_there() -> None:
    assert [str(line) for line in PYTHON if not module_of(line.words).is_file()] == []
