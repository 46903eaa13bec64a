"""Facts of the book, taken from code and data while it is built: Markdown, so that nothing is copied by hand.

A page requests one of `FACTS` with a block whose language is `{made}`; `docs/directives.py` inserts it.
"""

import base64
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from docutils.nodes import make_id

from dealer_ui.setup.steps import STEPS
from dealer_ui.text.i18n import LANGUAGES
from docs.glossary import glossary
from docs.option_table import natural_rows, option_rows
from firmware.access.sessions import SESSION_S
from firmware.cli.main import main
from firmware.rules import OPTIONS, load_profile, profile_names
from firmware.rules.exchange_schema import input_schema, output_schema
from firmware.rules.profiles.sources import Sentence, Source, sources
from firmware.table.command import COMMAND_ROLES, COMMANDS
from firmware.table.people import (
    ALARM_TRIES,
    FIRST_WAIT_S,
    FREE_TRIES,
    LONGEST_WAIT_S,
    MAX_DIGITS,
    MIN_DIGITS,
    PIN_ROLES,
    Role,
)
from hardware.make.__main__ import standard_frame
from hardware.make.bom import Bom
from hardware.make.build import Assembly, Build, Step, order_lists, parts_used
from hardware.make.frame import place_text
from hardware.make.mech import read_stl

ROOT: Final = Path(__file__).parents[1]

WORDS: Final[Mapping[str, str]] = {
    "declare": "Declare a natural",
    "withdraw": "Take a declaration back",
    "surrender": "Surrender a seat",
    "withdraw_surrender": "Take a surrender back",
    "undo_confirm": "Take a confirmed natural back",
    "sit_out": "Let a player sit out",
    "pass_round": "Let a player pass a hand",
    "buy_in": "Bring chips in",
    "add_on": "Add chips",
    "set_house": "Set table number, language, game, unit, currency, seats",
}
"""What a command of the table does, where its class has more than one command or says less."""


def words(do: str) -> str:
    """Return what a command of the table does: the first words of its class's docstring, if not in `WORDS`."""
    doc = COMMANDS[do].__doc__ or ""
    return WORDS.get(do) or re.split(r"[.;:](?:\s|$)", doc.strip())[0]


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown; a cell's bars are escaped."""
    lines = [list(head), *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


@cache
def commands() -> dict[str, click.Command]:
    """Return every command of `feltwatch` by its words: "hands", "hands list", …"""
    found: dict[str, click.Command] = {}

    def gather(group: click.Group, before: str) -> None:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            found[f"{before}{name}"] = command
            if isinstance(command, click.Group):
                gather(command, f"{before}{name} ")

    gather(main, "")
    return found


def help_text(name: str) -> str:
    """Return what `feltwatch NAME --help` prints.

    Raises:
        KeyError: where there is no such command.
    """
    command = commands()[name]
    settings: Any = main.context_settings
    context = click.Context(command, info_name=f"feltwatch {name}", max_content_width=100, **settings)
    return command.get_help(context)


def _help(name: str) -> str:
    return f"```text\n{help_text(name)}\n```"


def _commands(_: str) -> str:
    return table(
        ("command", "what it does"),
        ((f"`feltwatch {name}`", command.get_short_help_str(200)) for name, command in commands().items()),
    )


def targets() -> dict[str, str]:
    """Return every target with its text of `make help`."""
    found: dict[str, str] = {}
    last = ""
    recipe = re.split(r"^help:$", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)[
        1
    ].split("\n\n", 1)[0]
    for line in re.findall(r'^\t@echo "(.*)"$', recipe, re.MULTILINE):
        if fits := re.match(r"make ([\w-]+)\s+(.*)", line):
            last = fits[1]
            found[last] = fits[2]
        else:
            found[last] += " " + line.strip()
    return found


def _targets(_: str) -> str:
    return table(("target", "what it does"), ((f"`make {name}`", what) for name, what in targets().items()))


def _plain(text: str) -> str:
    """Leave out what only a program needs: quoted values in brackets, marks of code."""
    return re.sub(r" \([^)]*[`\"][^)]*\)", "", text).replace("`", "")


def _may(which: str) -> str:
    """Return which role may give which command; `pin`: only commands that need a PIN."""
    roles = [role for role in Role if which != "pin" or role in PIN_ROLES]
    return table(
        ("to", *roles),
        (
            (
                _plain(words(do)) if which == "pin" else words(do),
                *("yes" if role in may else "" for role in roles),
            )
            for do, may in sorted(COMMAND_ROLES.items(), key=lambda one: words(one[0]))
            if which != "pin" or Role.DEALER not in may
        ),
    )


PIN_PARTS: Final = {"buttons": "push-button", "lamps": "lamp"}


def _pins(_: str) -> str:
    """Return hardware/pinmap.toml as a table."""
    parts: dict[str, Any] = tomllib.loads((ROOT / "hardware/pinmap.toml").read_text(encoding="utf-8"))
    rows = (
        (
            name if part == name else f"{PIN_PARTS.get(part, part)} {name}",
            pin.get("colour", ""),
            pin.get("means", ""),
            pin["bcm"],
            pin["pin"],
        )
        for part, pins in parts.items()
        for name, pin in pins.items()
        if isinstance(pin, dict) and "bcm" in pin
    )
    return table(("part", "colour", "means", "BCM", "pin of the header"), rows)


def _profiles(_: str) -> str:
    rows = []
    for name in profile_names():
        profile = load_profile(name)
        rows.append((f"`{name}`", profile.title, profile.deal.kind.replace("_", " ")))
    return table(("profile", "game", "rows are set"), rows)


def sentence_tests(source: Source, sentence: Sentence) -> list[str]:
    """Return the tests of a sentence of a source document, each as `file::test`."""
    table = tomllib.loads((ROOT / "docs/source_tests.toml").read_text(encoding="utf-8"))
    of_rules = (test for rule in _quoted_rules(sentence) for test in table["rules"][rule])
    of_paragraph = table["paragraphs"].get(f"{source.file} {sentence.place}", ())
    return list(dict.fromkeys((*of_paragraph, *of_rules)))


def _quoted_rules(sentence: Sentence) -> list[str]:
    """Return the options and rules that a sentence's words decide; of all options of a section each."""
    rules = dict.fromkeys(quote.rule for quote in sentence.quotes)
    return [
        option
        for rule in rules
        for option in ([o for o in OPTIONS if o.startswith(rule)] if rule[-1] == "." else [rule])
    ]


def _sentences(_: str) -> str:
    """Return every sentence of the source documents: its place, its options or rules, its tests."""
    parts = []
    for source in sources().values():
        rows = (
            (
                sentence.place,
                f"{sentence.words} …",
                sentence.beside or ", ".join(f"`{rule}`" for rule in _quoted_rules(sentence)),
                "<br>".join(f"`{test.partition('::')[2]}`" for test in sentence_tests(source, sentence)),
            )
            for sentence in source.sentences
        )
        count = f"{source.paragraphs} paragraphs, {source.length} sentences."
        text = table(("place", "sentence", "option or rule", "tests"), rows)
        parts.append(f"## {source.title}\n\n{count}\n\n{text}")
    return "\n\n".join(parts)


def _set_up(_: str) -> str:
    return table(("step", "what it is about"), ((step.title, step.what) for step in STEPS))


def _selftest(_: str) -> str:
    from firmware.acceptance.table_trial import HANDS
    from firmware.acceptance.table_trial import STEPS as TRIED

    return table(
        ("step", "needs hands"), ((step.title, "yes" if step.name in HANDS else "") for step in TRIED)
    )


def _acceptance(_: str) -> str:
    from firmware.acceptance.steps import STEPS as MEASURED

    return table(
        ("step", "its name", "minutes, about"),
        (
            (step.title, f"`{step.id}`", f"{step.minutes:.0f}" if step.minutes >= 1 else "")
            for step in MEASURED
        ),
    )


def _acceptance_limits(_: str) -> str:
    from firmware.acceptance.limits import LIMITS

    return table(
        ("figure", "limit", "where it stands"),
        (
            (limit.title, limit.text or "recorded only", f"`{limit.source}`" if limit.is_set else "")
            for limit in LIMITS.values()
        ),
    )


def _locks(_: str) -> str:
    return (
        f"A PIN has {MIN_DIGITS} to {MAX_DIGITS} figures. After {FREE_TRIES} wrong ones in a row the screen waits "
        f"for {FIRST_WAIT_S:.0f} seconds, after each further one for {LONGEST_WAIT_S:.0f}: everybody, never longer. "
        f"{ALARM_TRIES} wrong ones in a row, here or for one person, raise an alarm. A session ends {SESSION_S:.0f} "
        "seconds after the last touch."
    )


def _languages(_: str) -> str:
    return ", ".join(LANGUAGES.values()) + "."


def _packages(_: str) -> str:
    lines = (ROOT / "systemd/debian-packages").read_text(encoding="utf-8").splitlines()
    names = (line.removeprefix("pi:").strip() for line in lines if line and not line.startswith("#"))
    return ", ".join(f"`{name}`" for name in names) + "."


def _felt(_: str) -> str:
    felt: dict[str, Any] = tomllib.loads((ROOT / "hardware/table.toml").read_text(encoding="utf-8"))
    markers, frame = felt["markers"], standard_frame()
    return table(
        ("what", "measure"),
        (
            ("felt", f"{felt['felt']['width_mm']:g} × {felt['felt']['height_mm']:g} mm"),
            ("places", ", ".join(felt["places"])),
            ("markers", f"{len(markers['at'])} of {markers['side_mm']:g} mm, {markers['dictionary']}"),
            ("camera", f"{frame.camera.name}, its lens {frame.camera_mm[2]:g} mm above the felt"),
        ),
    )


def _page(about: str) -> str:
    """Return a page of the repository without its title, with links that work in the book.

    `about` is its path, and a second word where it stands in a section: its own headings go one rank down.
    """
    path, _, inside = about.partition(" ")
    text = (ROOT / path).read_text(encoding="utf-8")
    if inside:
        text = re.sub(r"^#(?=#+ )", "##", text, flags=re.MULTILINE)
    return link_to_pages(text.split("\n", 1)[1] if text.startswith("# ") else text, (ROOT / path).parent)


def _readme(folder: str) -> str:
    return _page(f"{folder}/README.md")


def _prints(_: str) -> str:
    """Return the printed parts, in the assembly's words: file, pieces, size."""
    words = {"antenna_pocket": "antenna tray", "button_box": "box of the push-buttons"}

    def size(name: str) -> str:
        corners = read_stl(ROOT / f"hardware/out/{name}.stl")["corners"].reshape(-1, 3)
        return " × ".join(f"{side:.1f}" for side in np.ptp(corners, axis=0))

    parts: dict[str, Any] = tomllib.loads((ROOT / "hardware/mech/mech.toml").read_text(encoding="utf-8"))
    return table(
        ("part", "pieces", "its size, mm", "file"),
        (
            (
                words.get(name, name.replace("_", " ")),
                part["pieces"],
                size(name),
                f"{{download}}`{name}.stl <../../hardware/out/{name}.stl>`",
            )
            for name, part in parts.items()
            if "pieces" in part
        ),
    )


def _build() -> tuple[Build, Bom]:
    bom = Bom.load(ROOT / "hardware/bom.toml")
    return Build.of(ROOT / "hardware/build.toml", bom), bom


def _steps(_: str) -> str:
    """Return hardware/build.toml's steps: what each needs, and what there is after it."""
    build, _bom = _build()

    def link(step: Step) -> str:
        page, _, heading = step.page.partition("#")
        return f"[{step.title}](/{page}.md{heading and '#' + heading})"

    rows = (
        (number, link(step), ", ".join(step.needs) or "–", ", ".join(step.makes))
        for number, step in enumerate(build.step, start=1)
    )
    return table(("", "step", "it needs", "then there is"), rows)


def _schema(which: str) -> str:
    schema = {"input": input_schema, "output": output_schema}[which]()
    return f"```json\n{json.dumps(schema, indent=2)}\n```"


def _assembly(section: str) -> str:
    """Return the steps of a section of hardware/assembly.toml, each with its picture."""
    return link_to_pages(
        Assembly.load(ROOT / "hardware/assembly.toml").text(section, 3), ROOT / "hardware/out"
    )


def _model(_: str) -> str:
    """Return the assembly in three dimensions: the model itself, so that the page needs no server, and its steps."""
    model = base64.b64encode((ROOT / "hardware/out/table.glb").read_bytes()).decode()
    steps = [
        {
            "id": step.id,
            "title": step.title,
            "at": make_id(step.title),
            "down": step.seen[3],
            "round": step.seen[5],
            "whole": step.scene == "table",
            "once": step.scene == "prints",
        }
        for step in Assembly.load(ROOT / "hardware/assembly.toml").step
    ]
    return "\n".join(
        (
            "```{raw} html",
            '<div class="table-model">',
            '<p class="none" hidden>This browser draws nothing in three dimensions: pictures below show each step.</p>',
            f'<script type="application/json" class="steps">{json.dumps(steps)}</script>',
            f'<script type="application/octet-stream" class="glb">{model}</script>',
            '</div><script src="../_static/model.js" defer></script>',
            "```",
        )
    )


def _clock_setting(_: str) -> str:
    """Return the command that puts the clock's setting into the Pi's configuration."""
    electric: dict[str, Any] = tomllib.loads((ROOT / "hardware/electric.toml").read_text(encoding="utf-8"))
    return f"```\necho '{electric['clock']['setting']}' | sudo tee -a /boot/firmware/config.txt\n```"


def _legend(_: str) -> str:
    """Return what the numbers in the picture of the whole table name, from the step that shows it."""
    steps = Assembly.load(ROOT / "hardware/assembly.toml").step
    (shows,) = (step.shows.partition(": ")[2] for step in steps if step.scene == "table")
    return shows.replace(", ", " · ")


FACTS: Final[Mapping[str, Callable[[str], str]]] = {
    "acceptance": _acceptance,
    "acceptance-limits": _acceptance_limits,
    "assembly": _assembly,
    "clock-setting": _clock_setting,
    "commands": _commands,
    "felt": _felt,
    "glossary": lambda _: glossary(),
    "help": _help,
    "languages": _languages,
    "legend": _legend,
    "model": _model,
    "locks": _locks,
    "may": _may,
    "naturals": lambda _: table(("kind", "what it is"), natural_rows()),
    "options": lambda _: table(("option", "about", "allowed"), option_rows()),
    "orders": lambda _: order_lists(*_build()),
    "packages": _packages,
    "page": _page,
    "pins": _pins,
    "place": lambda _: place_text(standard_frame()),
    "prints": _prints,
    "profiles": _profiles,
    "readme": _readme,
    "schema": _schema,
    "selftest": _selftest,
    "sentences": _sentences,
    "set-up": _set_up,
    "steps": _steps,
    "targets": _targets,
    "uses": lambda page: parts_used(*_build(), page),
}


def render_fact(asked: str) -> str:
    """Return the Markdown of a fact, requested by its name and subject: "help hands list".

    Raises:
        KeyError: where there is no such fact or command.
        OSError: where there is no such file.
    """
    name, _, about = asked.strip().partition(" ")
    return FACTS[name](about.strip())


PAGES: Final[Mapping[str, str]] = {"tests": "developer/testing.md"}
"""Folders whose README stands on a page with more on it."""
LINK: Final = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)\s#]*)(#[^)\s]*)?\)")
"""A link in Markdown: its text, its file, its anchor."""


def link_to_pages(text: str, folder: Path) -> str:
    """Return Markdown of a file in `folder` with links that work in the book.

    A README that has a page of its own is linked there. Any other file of the repository is only named, since the book
    does not contain it. A link to nothing stays as it is, and Sphinx reports it.
    """
    docs = ROOT / "docs"

    def turned(fits: re.Match[str]) -> str:
        words, file, anchor = fits[1], fits[2], fits[3] or ""
        if not file or ":" in file:
            return fits[0]
        target = (folder / file).resolve()
        page = target.relative_to(ROOT).as_posix() if target.is_relative_to(ROOT) else ""
        if page.endswith("/README.md"):
            folder_name = page.removesuffix("/README.md")
            own = PAGES.get(folder_name, f"developer/folders/{folder_name.replace('/', '-')}.md")
            if (docs / own).exists():
                return f"[{words}](/{own})"
        if target.is_relative_to(docs) and target.exists():
            return f"[{words}](/{target.relative_to(docs).as_posix()}{anchor})"
        if page and target.exists():
            return words if "`" in words else f"`{words}`"
        return fits[0]

    return LINK.sub(turned, text)
