"""The keys that a keyboard at the touchscreen has: those that write, and no shortcut of the browser.

Anybody can plug a keyboard in. A browser's shortcuts open windows, files and tools that no policy closes, so there is
no Ctrl, no Alt, no Super, no function key and no media key: such a key does nothing. Ctrl and Alt held together with F1
to F12 still reach a console.
"""

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Final

NAME: Final = "feltwatch"
FOLDER: Final = "keyboard"
CODES: Final = range(9, 776)
"""XKB's numbers of keys: those of Linux, and 8."""
CTRL: Final = (37, 105)
ALT: Final = (64, 108)
SHIFT: Final = (50, 62)
FUNCTION: Final = (*range(67, 77), 95, 96)
NOTHING: Final = "ISO_Level3_Shift"
"""The symbol of a key that does nothing. Chromium would guess a key without any from its position: F1 would be F1."""

_ROWS: Final = (
    (
        10,
        "1234567890",
        "exclam at numbersign dollar percent asciicircum ampersand asterisk parenleft parenright",
    ),
    (24, "qwertyuiop", "Q W E R T Y U I O P"),
    (38, "asdfghjkl", "A S D F G H J K L"),
    (52, "zxcvbnm", "Z X C V B N M"),
)
_SIGNS: Final = {
    **{49: ("grave", "asciitilde"), 20: ("minus", "underscore"), 21: ("equal", "plus")},
    **{51: ("backslash", "bar"), 34: ("bracketleft", "braceleft"), 35: ("bracketright", "braceright")},
    **{47: ("semicolon", "colon"), 48: ("apostrophe", "quotedbl"), 59: ("comma", "less")},
    **{60: ("period", "greater"), 61: ("slash", "question"), 94: ("less", "greater")},
}
_OTHERS: Final = {
    **{9: "Escape", 22: "BackSpace", 23: "Tab", 36: "Return", 65: "space", 104: "Return", 119: "Delete"},
    **{110: "Home", 111: "Up", 112: "Prior", 113: "Left", 114: "Right", 115: "End", 116: "Down", 117: "Next"},
    **{
        79: "7",
        80: "8",
        81: "9",
        83: "4",
        84: "5",
        85: "6",
        87: "1",
        88: "2",
        89: "3",
        90: "0",
        91: "period",
    },
}

RULES: Final = f"""\
! model = keycodes types compat
  * = {NAME} {NAME} complete
! model layout = symbols
  * * = {NAME}
"""
TYPES: Final = f"""\
default xkb_types "{NAME}" {{
    type "ONE_LEVEL" {{ modifiers = none; }};
    type "WRITES" {{ // nothing while a console is asked for
        modifiers = Shift + Mod1;
        map[Shift] = Level2; map[Mod1] = Level3; map[Shift+Mod1] = Level3;
    }};
    type "CTRL" {{ modifiers = Mod3; map[Mod3] = Level2; }};
    type "ALT" {{ modifiers = Mod5; map[Mod5] = Level2; }};
    type "CONSOLE" {{ modifiers = Mod1 + Mod5; map[Mod1+Mod5] = Level2; }};
}};
"""


def _key_characters() -> dict[int, tuple[str, str]]:
    """Return what each key writes, and with Shift."""
    written = {code: (key, key) for code, key in _OTHERS.items()} | _SIGNS
    for first, plain, shifted in _ROWS:
        written |= dict(zip(count(first), zip(plain, shifted.split(), strict=True), strict=False))
    return written


def _acts(levels: int) -> str:
    return f"[ {', '.join(['NoAction()'] * levels)} ]"


def _keys() -> Iterator[str]:
    written = _key_characters()
    for code in CODES:
        if code in written:
            means = f'type = "WRITES", [ {", ".join(written[code])}, {NOTHING} ], {_acts(3)}'
        elif code in SHIFT:
            means = 'type = "ONE_LEVEL", [ Shift_L ]'
        elif code in CTRL:  # whichever of Ctrl and Alt comes first; neither is anything by itself
            acts = "SetMods(modifiers=Mod5), SetMods(modifiers=Mod1+Mod5)"
            means = f'type = "CTRL", [ {NOTHING}, {NOTHING} ], [ {acts} ]'
        elif code in ALT:
            acts = "SetMods(modifiers=Mod3), SetMods(modifiers=Mod1)"
            means = f'type = "ALT", [ {NOTHING}, {NOTHING} ], [ {acts} ]'
        elif code in FUNCTION:
            means = f'type = "CONSOLE", [ {NOTHING}, XF86Switch_VT_{FUNCTION.index(code) + 1} ], {_acts(2)}'
        else:
            means = f'type = "ONE_LEVEL", [ {NOTHING} ], {_acts(1)}'
        yield f"key <{code}> {{ {means} }};"


def _files() -> Iterator[tuple[str, str]]:
    yield "rules", RULES
    yield "types", TYPES
    numbers = "".join(f"<{code}> = {code};\n" for code in CODES)
    ends = f"minimum = {CODES[0]}; maximum = {CODES[-1]};\n"
    yield "keycodes", f'default xkb_keycodes "{NAME}" {{\n{ends}{numbers}}};\n'
    shift = "".join(f"modifier_map Shift {{ <{code}> }};\n" for code in SHIFT)
    yield "symbols", "\n".join((f'default xkb_symbols "{NAME}" {{', *_keys(), f"{shift}}};\n"))


def write_keyboard(home: Path) -> Mapping[str, str]:
    """Write the keys into a folder of the user; return what tells the compositor. Raises OSError."""
    folder = home / FOLDER
    for part, text in _files():
        (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / part / NAME).write_text(text, encoding="utf-8")
    chosen = {"RULES": NAME, "MODEL": NAME, "LAYOUT": NAME, "VARIANT": "", "OPTIONS": ""}
    return {
        "XKB_CONFIG_EXTRA_PATH": str(folder),
        **{f"XKB_DEFAULT_{name}": value for name, value in chosen.items()},
    }
