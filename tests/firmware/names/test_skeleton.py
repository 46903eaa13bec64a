"""The skeleton beside another implementation of UTS #39 and of Unicode's properties: ICU, in C."""

from __future__ import annotations

import ctypes
import ctypes.util
import re
import sys
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from firmware.names import skeleton as module
from firmware.names.make_table import compact
from firmware.names.skeleton import TABLE, skeleton, without_invisible

DEFAULT_IGNORABLE: Final = 5
"""UCHAR_DEFAULT_IGNORABLE_CODE_POINT, of ICU's uchar.h."""
BLANKS: Final = {"\u2800", "\ufffc", "\U0001d159", "\U00016fe4", "\U00013441", "\U00013442"}
"""Characters that show as nothing and that Unicode does not count as ignorable."""


@cache
def assigned() -> tuple[str, ...]:
    """Return every character that Unicode has given a meaning."""
    every = map(chr, range(0x20, sys.maxunicode + 1))
    return tuple(letter for letter in every if unicodedata.category(letter) not in ("Cn", "Cs", "Co"))


@cache
def icu(library: str) -> tuple[ctypes.CDLL, str]:
    """Return a library of ICU and the version that its functions end in."""
    name = ctypes.util.find_library(library)
    if name is None:
        pytest.skip("no ICU is installed here; PostgreSQL and Chromium bring it")
    found = re.search(r"\.so\.(\d+)", name)
    assert found is not None
    return ctypes.CDLL(name), found[1]


def icu_skeleton() -> Callable[[str], str]:
    """Return ICU's own function from a text to its skeleton."""
    library, version = icu("icui18n")
    begin, get = (getattr(library, f"uspoof_{what}_{version}") for what in ("open", "getSkeletonUTF8"))
    begin.restype = ctypes.c_void_p
    status = ctypes.c_int(0)
    checker = ctypes.c_void_p(begin(ctypes.byref(status)))
    assert status.value <= 0

    def of(text: str) -> str:
        data, out = text.encode(), ctypes.create_string_buffer(400)
        status = ctypes.c_int(0)
        length = get(checker, 0, data, len(data), out, 400, ctypes.byref(status))
        assert status.value <= 0
        return out.raw[:length].decode()

    return of


def test_what_icu_takes_for_alike_is_alike_here() -> None:
    """Unicode revises its table: of a hundred characters that ICU's version maps, one at most is another's now."""
    of = icu_skeleton()
    mapped = [(letter, of(letter)) for letter in assigned()]
    mapped = [(letter, to) for letter, to in mapped if to != unicodedata.normalize("NFD", letter)]
    other = [letter for letter, to in mapped if skeleton(letter) != skeleton(to)]
    assert len(mapped) > 5000
    assert len(other) < len(mapped) / 100, other


@pytest.mark.parametrize("name", ["Kim", "Ada", "Sophia", "Boris", "Anna Kopeck"])
def test_a_name_written_in_another_script_is_alike_for_both(name: str) -> None:
    of = icu_skeleton()
    script = str.maketrans("AaBcCeEHiIKMoOpPSTxXy", "АаВсСеЕНіІКМоОрРЅТхХу")
    fake = name.translate(script)
    assert fake != name
    assert of(fake) == of(name)
    assert skeleton(fake) == skeleton(name)


def test_every_character_that_icu_says_is_ignorable_shows_as_nothing() -> None:
    library, version = icu("icuuc")
    has = getattr(library, f"u_hasBinaryProperty_{version}")
    ignorable = [letter for letter in assigned() if has(ord(letter), DEFAULT_IGNORABLE)]
    assert len(ignorable) > 300
    assert [f"{ord(letter):04X}" for letter in ignorable if without_invisible(letter)] == []


def test_no_letter_that_is_seen_is_taken_for_nothing() -> None:
    library, version = icu("icuuc")
    has = getattr(library, f"u_hasBinaryProperty_{version}")
    hidden = {
        letter
        for letter in assigned()
        if not without_invisible(letter) and not has(ord(letter), DEFAULT_IGNORABLE)
    }
    assert {letter for letter in hidden if unicodedata.category(letter) not in ("Cc", "Cf")} <= BLANKS


def test_the_table_holds_what_unicodes_file_says() -> None:
    text = (
        "# Version: 9\n0049 ;\t006C ;\tMA\t# ( I → l )\n0031 ;\t006C ;\tMA\t#\n006D ;\t0072 006E ;\tMA\t#\n"
    )
    assert compact(text).splitlines()[-2:] == ["6C = 49 31", "72 6E = 6D"]


def test_the_table_names_its_version_and_each_character_once() -> None:
    text = (Path(module.__file__).parent / TABLE).read_text(encoding="ascii")
    assert re.search(r"^# Version: \d+\.0\.0$", text, re.MULTILINE)
    sources = [code for line in text.splitlines() if line[0] != "#" for code in line.split(" = ")[1].split()]
    assert len(sources) == len(set(sources)) > 6000
