"""The page's languages: nothing outside the catalogues, all of it translated, and English as it always was."""

from __future__ import annotations

import ast
import doctest
import io
import random
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

import pytest
from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as CatalogMessage
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po
from flask import Flask

from dealer_ui.server.app import Settings, create_app
from dealer_ui.text import hand_words, i18n, rule_words
from dealer_ui.text.hand_words import category_name, natural_words, row_text, row_words
from dealer_ui.text.i18n import CATALOGUES, LANGUAGES, SOURCE, html_language, speaking
from dealer_ui.text.messages import say, say_answer, say_json
from dealer_ui.text.rule_texts import texts
from dealer_ui.text.rule_words import option_says
from firmware.messages import Message, one_of
from firmware.record_folder import SOCKET
from firmware.rules import CARDS, NATURAL_WORDS, NaturalEntry, load_profile, profile_names, scale, settle_json
from firmware.rules.profiles.sections import OPTIONS
from firmware.rules.recorded_settlement import read_settlement
from firmware.rules.strength import Category
from firmware.runtime.reading.scheduler import LEFT_LYING
from firmware.runtime.record_faults import CLOCK, DISK, FILES
from firmware.table import events as ev
from firmware.table.errors import CommandRefused
from firmware.table.events import BY_TYPE, HandSettled
from firmware.table.phase import Phase
from tests.dealer_ui.conftest import Lay
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.pseudo import known, outside, unsaid

ROOT: Final = Path(__file__).parents[3]
OTHERS: Final = tuple(code for code in LANGUAGES if code != SOURCE)
SAYS: Final = frozenset({"_", "gettext", "ngettext", "pgettext"})
STATIC: Final = ROOT / "dealer_ui" / "static"
PLACE: Final = re.compile(r"%\((\w+)\)s|%(?!%)")
each_language = pytest.mark.parametrize("code", OTHERS)


def catalogue(code: str) -> Catalog:
    with (CATALOGUES / code / "LC_MESSAGES" / "messages.po").open("rb") as file:
        return read_po(file, locale=code)


@each_language
def test_each_sentence_says_what_white_does_after_the_same_words(code: str) -> None:
    """Without a panel these words are replaced by those of the page's button (`dealer_ui.view.build`)."""
    prefix, checked = catalogue(code).get("White push-button:"), 0
    assert prefix is not None
    for message in messages(catalogue(code)):
        if "White push-button:" in str(message.id):
            said = message.string if isinstance(message.string, tuple) else (message.string,)
            assert all(str(prefix.string) in str(one) for one in said), message.id
            checked += 1
    assert checked >= 9


def messages(found: Catalog) -> Iterator[CatalogMessage]:
    return (message for message in found if message.id)


def variants(value: Any) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


# ---- the catalogues ----


@pytest.mark.slow
def test_no_message_of_the_source_is_outside_the_catalogues() -> None:
    """`make words` gathers them again."""
    marks = re.search(r"^MARKS := ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert marks is not None
    named = shlex.split(marks.group(1).replace("\\\n", " "))[1::2]
    keywords: dict[str, Any] = {}
    for one in named:
        name, _, places = one.partition(":")
        keywords[name] = (
            tuple((int(p[:-1]), "c") if p.endswith("c") else int(p) for p in places.split(","))
            if places
            else None
        )
    with (CATALOGUES / "babel.cfg").open() as file:
        mapping, options = parse_mapping_cfg(file)  # type: ignore[no-untyped-call]
    found = {
        (context, variants(text))
        for _, _, text, _, context in extract_from_dir(ROOT, mapping, options, keywords)
    }
    with (CATALOGUES / "messages.pot").open("rb") as file:
        kept = {(message.context, variants(message.id)) for message in messages(read_po(file))}
    assert found - kept == set(), "not yet in the catalogues"
    assert kept - found == set(), "said no more"


def test_no_message_stands_within_an_f_string() -> None:
    """Babel reads none there before Python 3.12."""
    for path in (
        *ROOT.glob("dealer_ui/**/*.py"),
        *ROOT.glob("pit/pages/*.py"),
        *ROOT.glob("firmware/table/**/*.py"),
    ):
        for string in (
            node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.JoinedStr)
        ):
            for call in ast.walk(string):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in SAYS:
                    assert not isinstance(call.args[0], ast.Constant), f"{path.name}:{string.lineno}"


@each_language
def test_every_catalogue_is_complete(code: str) -> None:
    found = list(messages(catalogue(code)))
    with (CATALOGUES / "messages.pot").open("rb") as file:
        assert len(found) == len(list(messages(read_po(file))))
    assert [message.id for message in found if not all(variants(message.string)) or message.fuzzy] == []


@each_language
def test_a_translation_has_the_places_of_its_message(code: str) -> None:
    for message in messages(catalogue(code)):
        places = {place for text in variants(message.id) for place in PLACE.findall(text)}
        *counted, last = variants(message.string)  # "one row" names no number
        assert set(PLACE.findall(last)) == places, (message.id, last)
        assert all(set(PLACE.findall(text)) <= places for text in counted), message.id


@each_language
def test_a_translation_counts_as_its_language_does(code: str) -> None:
    found = catalogue(code)
    for message in messages(found):
        assert not message.pluralizable or len(variants(message.string)) == found.num_plurals, message.id


@each_language
def test_a_translation_can_stand_in_an_attribute(code: str) -> None:
    for message in messages(catalogue(code)):
        allowed = set("".join(variants(message.id)))
        for text in variants(message.string):
            assert set('"<>&') & set(text) <= allowed, text


@each_language
def test_what_is_shipped_was_made_of_what_is_edited(code: str) -> None:
    """`make words` compiles it."""
    made = io.BytesIO()
    write_mo(made, catalogue(code))
    made.seek(0)
    with (CATALOGUES / code / "LC_MESSAGES" / "messages.mo").open("rb") as file:
        assert bodies(file) == bodies(made)


def bodies(file: IO[bytes]) -> set[tuple[Any, ...]]:
    """Return all of a compiled catalogue but its head, which names the Babel that made it."""
    return {
        (message.context, variants(message.id), variants(message.string))
        for message in messages(read_mo(file))
    }


@each_language
@pytest.mark.parametrize("said", [DISK, FILES, CLOCK], ids=["disk", "files", "clock"])
def test_what_the_record_stands_on_is_said_in_every_language(code: str, said: Message) -> None:
    with speaking(code):
        other = say(said)
    assert other != str(said)
    assert re.findall(r"\d+", other) == re.findall(r"\d+", str(said))


@each_language
def test_every_event_and_phase_has_a_name(code: str) -> None:
    names = [*(kind.title for kind in BY_TYPE.values()), *(phase.label for phase in Phase)]
    translated = {message.id for message in messages(catalogue(code)) if message.string}
    assert {name.message for name in names} <= translated


def test_a_refusal_names_event_and_phases_in_the_language_of_the_page() -> None:
    refused = Message(
        "%(event)s does not lead from %(phase)s to %(to)s.",
        event=HandSettled.title,
        phase=Phase.REVIEW.label,
        to=Phase.VOID.label,
    )
    assert str(refused) == "Settling does not lead from review to void."
    with speaking("es"):
        assert say(refused) == "Liquidación: no lleva de revisión a nula."


def test_every_text_of_the_rules_is_known() -> None:
    assert set(texts()) - known() == set()


# ---- what is said ----


def test_english_rows_are_called_as_the_rules_call_them() -> None:
    lowest = scale()
    ranks = "23456789TJQKA"
    for strength, kind_ranks, suited in (*lowest.all_ranks(3), *lowest.all_ranks(5)):
        counted: dict[int, int] = {}
        cards = []
        for index, rank in enumerate(kind_ranks):
            counted[rank] = counted.get(rank, 0) + 1
            cards.append(ranks[rank] + ("h" if suited else "hsdc"[(counted[rank] - 1 + index // 4) % 4]))
        category = lowest.kind(strength).category.label
        assert row_text(category, " ".join(cards)) == lowest.text(strength)


def test_english_categories_and_naturals_are_called_as_the_rules_call_them() -> None:
    assert [category_name(one.label).lower() for one in Category] == [str(one.words) for one in Category]
    named = [natural_words(NaturalEntry(kind, 1)) for kind in NATURAL_WORDS]
    assert named == [str(words) for words in NATURAL_WORDS.values()]


def deal(dice: random.Random, profile: str) -> dict[str, Any]:
    """Deal a hand whose rows are often in order, with ties, naturals and surrenders."""
    names = [card.code for card in CARDS]
    dice.shuffle(names)
    offers = load_profile(profile)
    seats = []
    for seat in (1, 2, 3, 4):
        thirteen = sorted((names.pop() for _ in range(13)), key=lambda code: "23456789TJQKA".index(code[0]))
        if dice.random() < 0.3:
            dice.shuffle(thirteen)
        one: dict[str, Any] = {
            "seat": seat,
            "front": " ".join(thirteen[:3]),
            "middle": " ".join(thirteen[3:8]),
            "back": " ".join(thirteen[8:]),
        }
        if offers.naturals.kinds and dice.random() < 0.2:
            one["declares"] = True
        elif offers.surrender.points and dice.random() < 0.1:
            one["surrenders"] = True
        seats.append(one)
    return {"profile": profile, "unit": 500, "button": dice.choice((1, 2, 3, 4)), "seats": seats}


def test_english_lines_are_said_as_the_rules_say_them() -> None:
    dice = random.Random(8)
    seen: set[str] = set()
    for profile in (*profile_names(), "scoop"):
        for _ in range(25):
            hand = deal(dice, "washington-1-unit" if profile == "scoop" else profile)
            settlement = settle_json(
                {**hand, "options": {"scoring.scoop": 3}} if profile == "scoop" else hand
            )
            for pair in read_settlement(settlement).pairs:
                for line in pair.lines:
                    seen.add(line.id)
                    assert line.message.args or line.id.startswith("both_"), (
                        "it is built, not taken as recorded"
                    )
                    assert say(line.message) == str(line.message)
                    assert line.id.startswith("declaration_") or str(line.message) == line.why
    usual = {"row_won", "scoop", "majority", "bonus", "foul", "foul_bonus", "surrender"}
    assert usual | {"two_rows", "all_rows"} <= seen


@each_language
def test_every_line_is_said_in_every_language(code: str) -> None:
    settlement = settle_json(deal(random.Random(3), "california-face-up"))
    with speaking(code):
        for pair in read_settlement(settlement).pairs:
            for line in pair.lines:
                assert say(line.message) not in ("", line.why)


def test_a_line_of_a_later_release_is_said_as_it_came() -> None:
    line = {"id": "something_new", "args": {}, "why": "something new happened", "points": 1, "clause": ""}
    numbers = dict.fromkeys(("points", "owed", "paid", "short"), 0)
    settlement = read_settlement({"pairs": [{"a": 1, "b": 2, "lines": [line], **numbers}]})
    with speaking("es"):
        assert say(settlement.pairs[0].lines[0].message) == "something new happened"


@pytest.mark.parametrize("profile", profile_names())
def test_every_option_is_said_in_english_as_the_rules_say_it(profile: str) -> None:
    for _, kind, value in load_profile(profile).options():
        said = option_says(kind, value)
        assert said == str(kind.say(value))
        with speaking("zh_Hans"):
            assert not said or option_says(kind, value) != said


@pytest.mark.parametrize(
    ("option", "english", "spanish"),
    [
        ("foul.points", "A foul pays 1 point to each opponent.", "Una falta paga 1 punto a cada rival."),
        ("limits.buy_in", "At least 1 unit.", "Al menos 1 unidad."),
        ("limits.min_points", "At least 1 point's worth of chips.", "Fichas por valor de al menos 1 punto."),
        ("collection.down_minutes", "1 minute.", "1 minuto."),
    ],
)
def test_an_amount_of_one_is_said_in_the_singular(option: str, english: str, spanish: str) -> None:
    _, _, kind = OPTIONS[option]
    assert option_says(kind, 1) == english
    with speaking("es"):
        assert option_says(kind, 1) == spanish


def test_a_row_is_parted_for_the_screen_in_every_language() -> None:
    with speaking("zh_Hans"):
        assert row_words("one_pair", "Qs Qh Kd") == ("对子", "Q")
        assert row_text("full_house", "Ks Kh Kd 7s 7c") == "葫芦K带7"
    with speaking("es"):
        assert row_words("straight", "9s 8h 7d 6c 5s") == ("Escalera", "al nueve")


def test_a_refusal_is_said_from_its_template_and_its_arguments() -> None:
    refused = CommandRefused(
        "Seat %(seat)s's %(row)s row has %(size)s cards and takes no more.", seat=2, row="front", size=3
    )
    with speaking("es"):
        said = "La fila delantera del asiento 2 tiene 3 cartas y no admite más."
        assert say(refused) == said
        assert say_answer(refused.sentence.refusal()) == said
        assert say(Message("That asks for a PIN: %(roles)s.", roles=one_of(["dealer", "floor"]))) == (
            "Eso requiere: crupier o jefe de sala. Introduzca el PIN."
        )


def test_a_players_name_is_never_translated() -> None:
    with speaking("es"):
        assert say(CommandRefused("%(player)s is no player of this table.", player="front")).startswith(
            "front "
        )


def test_a_fault_is_said_in_the_current_language_and_an_old_rows_text_as_it_stands() -> None:
    missing = "The puck reader is not connected (%(port)s): plug it in, or key the seat."
    told = ev.parse("device_fault", ev.payload(ev.DeviceFault("puck", Message(missing, port="/dev/ttyACM0"))))
    old = ev.parse("device_fault", '{"detail":"The reader (/dev/ttyACM0) is gone.","device":"puck"}')
    assert isinstance(told, ev.DeviceFault)
    assert isinstance(old, ev.DeviceFault)
    with speaking("zh_Hant"):
        assert "莊鈕讀取器未連接（/dev/ttyACM0）" in say(told.detail)
        assert say(old.detail) == "The reader (/dev/ttyACM0) is gone."
    assert say(told.detail) == missing % {"port": "/dev/ttyACM0"}


def test_a_message_within_a_message_is_said_in_the_same_language() -> None:
    why = Message("The table did not lie still: %(why)s. Look again.", why=Message("the light is changing"))
    with speaking("es"):
        assert "la luz está cambiando" in say(why)
        assert say_json(why.to_json()) == say(why)
        assert say_json("") == ""


def test_the_examples_in_the_docstrings_hold() -> None:
    for module in (hand_words, i18n, rule_words):
        assert doctest.testmod(module).failed == 0


# ---- which language ----


def test_a_browser_speaks_the_tables_language_or_its_own(felt: Felt, app: Flask) -> None:
    felt.do("set_house", reason="The floor asked", language="es")
    felt.to_setting()
    client = app.test_client()
    assert '<html lang="es">' in client.get("/").text
    client.set_cookie("language", "zh_Hant", domain="localhost")
    page = client.get("/").text
    assert f'<html lang="{html_language("zh_Hant")}">' in page
    assert "language=zh_Hant" in page, "the stream is asked in the same language"
    client.set_cookie("language", "tlh", domain="localhost")
    assert '<html lang="es">' in client.get("/").text


def test_what_the_table_refuses_is_said_in_the_browsers_language(felt: Felt, app: Flask) -> None:
    client = app.test_client()
    client.set_cookie("language", "es", domain="localhost")
    with felt.answering():
        token = re.search(r'csrf-token" content="([^"]+)"', client.get("/").text)
        assert token is not None
        answer = client.post(
            "/command", json={"do": "confirm"}, headers={"X-CSRF-Token": token.group(1)}
        ).get_json()
    assert answer["error"] == "Ningún natural espera confirmación."


# ---- nothing is said outside the catalogues ----
# The states of the pages are looked at by the browser tests (`Visit.unsaid`).


@pytest.mark.parametrize("profile", ["california-face-up", "washington-1-6", "poker-flush-eastern"])
def test_the_sheet_of_the_rules_is_in_the_catalogues(lay: Lay, profile: str) -> None:
    felt = lay(profile=profile, options={})
    felt.deal()
    app = create_app(Settings(felt.folder, felt.folder / SOCKET))
    assert unsaid(app, "/rules") == []


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_no_script_holds_words_for_a_person(path: Path) -> None:
    """They come from the server, in attributes; what begins as a sentence does, and is not a selector, is one."""
    code = re.sub(r"^\s*//.*$|\s//\s.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    strings = re.findall(r'"([^"\n]*)"|`([^`]*)`', code)
    words = [text for pair in strings for text in pair if re.search(r"[A-Z][a-z]* [a-z]{2,}", text)]
    assert [text for text in words if not re.search(r"[\[\]=#$<>{}]", text)] == []


def test_what_is_in_no_catalogue_is_found() -> None:
    html = '<p>⟦Seat 3⟧ · Lin Th</p><p>⟦The ⟦ten⟧⟧ lies here</p><b title="look">3</b><i lang="es">hola</i>'
    assert list(outside(html, frozenset({"Lin"}))) == ["look", "lies here"]


def test_why_placed_cards_are_not_seen_is_said_in_the_language_too() -> None:
    said = Message("Placed cards are not seen: %(why)s Let the table lie still for a moment.", why=LEFT_LYING)
    with speaking("es"):
        assert say(said) == (
            "No se ven cartas colocadas: Aún están las cartas de la mano anterior; recójalas, reparta y mire otra vez. "
            "Deje la mesa quieta un momento."
        )


def test_the_dealers_puck_and_the_panels_push_buttons_are_two_words_in_every_language() -> None:
    """Only the source document's own names, "action button" and "dealer button", may stand as they are."""
    one_word = {
        "en": re.compile(r"(?<!push-)(?<!action )(?<!dealer )\bbuttons?\b", re.IGNORECASE),
        "es": re.compile(r"bot[oó]n(?!(es)? de (acción|crupier))", re.IGNORECASE),
        "zh_Hans": re.compile("按钮"),
        "zh_Hant": re.compile("按鈕"),
    }
    for code in OTHERS:
        for message in messages(catalogue(code)):
            for language, said in ((SOURCE, message.id), (code, message.string)):
                for text in said if isinstance(said, (list, tuple)) else (said,):
                    assert not one_word[language].search(PLACE.sub("", str(text))), text
