"""The one-time code: typed as it is shown, and a wrong letter is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.uplink.code import LETTERS, Code, parse
from firmware.uplink.errors import UplinkError


@given(st.integers(0, 2**58 - 1), st.integers(0, 2**58 - 1))
def test_any_code_is_typed_as_it_is_shown(authority: int, secret: int) -> None:
    code = Code(("10.0.0.5:8443", "[::1]:9"), authority, secret)
    assert parse(code.text) == code
    typed = " ".join(code.letters.lower()[at : at + 5] for at in range(0, LETTERS, 5))
    assert parse(f"{typed} 10.0.0.5 [::1]:9") == code


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", "26 letters"),
        ("ABC 10.0.0.5", "these are 3"),
        ("A" * 26, "address is missing"),
        ("B" * 26 + " 10.0.0.5", "A letter of the code is wrong"),
        ("A" * 26 + " /etc/passwd", "is no address|letter"),
        ("A" * 26 + " 1:2 1:3 1:4 1:5 1:6", "address is missing"),
        ("x" * 500, "no code"),
    ],
)
def test_what_is_no_code_is_refused_with_a_sentence(typed: str, why: str) -> None:
    with pytest.raises(UplinkError, match=why):
        parse(typed)


def test_a_wrong_letter_is_nearly_always_found() -> None:
    code = Code.make(("10.0.0.5",), b"an authority")
    found = 0
    for at in range(LETTERS):
        for letter in set("ABCDEFGHIJKLMNOPQRSTUVWXYZ") - {code.letters[at]}:
            try:
                parse(f"{code.letters[:at]}{letter}{code.letters[at + 1 :]} 10.0.0.5")
            except UplinkError:
                found += 1
    assert found >= 0.95 * LETTERS * 25
