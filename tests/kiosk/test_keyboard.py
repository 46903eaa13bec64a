"""A keyboard that is plugged in at the touchscreen: it writes, and gives neither a browser's shortcut nor a way out."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from flask import Flask, Response, request

from dealer_ui.server import kiosk_keyboard
from dealer_ui.server.kiosk_keyboard import ALT, CODES, CTRL, FUNCTION, SHIFT, write_keyboard
from tests.dealer_ui.served import listening
from tests.kiosk.display import Display, why_not
from tests.kiosk.supervised import supervised
from tests.waiting import until

A, N, ONE, ENTER = 38, 57, 10, 36
SUPER, MENU = 133, 135

# ---- what the compositor is told ----

_LOOK: Final = """
import ctypes, sys
xkb = ctypes.CDLL("libxkbcommon.so.0")
for name in ("xkb_context_new", "xkb_keymap_new_from_names", "xkb_state_new"):
    getattr(xkb, name).restype = ctypes.c_void_p
context = ctypes.c_void_p(xkb.xkb_context_new(0))
keymap = ctypes.c_void_p(xkb.xkb_keymap_new_from_names(context, None, 0))
assert keymap.value, "the keymap is none"
for line in sys.argv[1:]:
    state = ctypes.c_void_p(xkb.xkb_state_new(keymap))
    for key in map(int, line.split()):
        name = ctypes.create_string_buffer(64)
        xkb.xkb_keysym_get_name(xkb.xkb_state_key_get_one_sym(state, key), name, 64)
        xkb.xkb_state_update_key(state, key, 1)
    print(name.value.decode(), xkb.xkb_state_serialize_mods(state, 8))
"""
CONTROL, MOD1 = 4, 8


def meanings(home: Path, held: Sequence[Sequence[int]]) -> list[tuple[str, int]]:
    """Return what the last of some keys means while the others are held, and the modifiers then."""
    try:
        ctypes.CDLL("libxkbcommon.so.0")
    except OSError as error:
        pytest.skip(f"{error} (apt-get install libxkbcommon0)")
    environment = {**os.environ, **write_keyboard(home)}
    lines = [" ".join(map(str, keys)) for keys in held]
    done = subprocess.run(
        [sys.executable, "-c", _LOOK, *lines], env=environment, check=True, capture_output=True, text=True
    )
    return [(name, int(mods)) for name, mods in map(str.split, done.stdout.splitlines())]


def test_keys_write_and_none_is_ctrl_alt_super_or_a_function(tmp_path: Path) -> None:
    assert [
        name for name, _ in meanings(tmp_path, [[A], [SHIFT[0], A], [ONE], [SHIFT[1], ONE], [ENTER]])
    ] == [*("a", "A", "1", "exclam", "Return")]
    alone = meanings(tmp_path, [[key] for key in CODES])
    letters = {name for name, _ in alone if len(name) == 1}
    assert letters == set("abcdefghijklmnopqrstuvwxyz0123456789")
    others = {name for name, _ in alone} - letters
    assert {
        name for name in others if name.startswith(("F", "XF86", "Control", "Alt", "Super", "Meta", "Print"))
    } == set()
    assert "NoSymbol" not in others, "Chromium would go by the key's place"


def test_no_key_is_a_shortcut_whatever_is_held(tmp_path: Path) -> None:
    held = [
        [first, key] for first, key in product((*CTRL, *ALT, SUPER, MENU, *FUNCTION), CODES) if first != key
    ]
    found = dict(zip(map(tuple, held), meanings(tmp_path, held), strict=True))
    both = {*product(CTRL, ALT), *product(ALT, CTRL)}
    wrong = {keys: mods for keys, (_, mods) in found.items() if mods & (CONTROL | MOD1) and keys not in both}
    assert wrong == {}


def test_ctrl_and_alt_together_reach_a_console_and_nothing_else(tmp_path: Path) -> None:
    for first, second in (*product(CTRL, ALT), *product(ALT, CTRL)):
        consoles = meanings(tmp_path, [[first, second, key] for key in FUNCTION])
        assert [name for name, _ in consoles] == [f"XF86Switch_VT_{number}" for number in range(1, 13)]
        assert all(mods & MOD1 for _, mods in consoles), "cage listens while Alt is held"
        others = meanings(tmp_path, [[first, second, key] for key in (A, N, ONE, ENTER)])
        assert {name for name, _ in others} == {kiosk_keyboard.NOTHING}


# ---- what the browser makes of it ----

PAGE: Final = (
    """<!doctype html><title>t</title><body><textarea autofocus></textarea><script src="/own.js"></script>"""
)
SCRIPT: Final = """
const area = document.querySelector("textarea");
const say = (what) => fetch("/said", {method: "POST", body: what});
document.addEventListener("keydown", (e) => say(`key ${e.ctrlKey || e.altKey || e.metaKey ? "held " : ""}${e.key}`));
document.addEventListener("contextmenu", (e) => e.preventDefault());
area.addEventListener("input", () => say(`text ${area.value}`));
setInterval(() => { area.focus(); say(`focus ${document.hasFocus()}`); }, 300);
"""
KEYS: Final = [
    # o n t l p s w q h j d u + - f
    *([CTRL[0], key] for key in (32, N, 28, 46, 33, 39, 25, 24, 43, 44, 40, 30, 21, 20, 41)),
    *([CTRL[0], SHIFT[0], key] for key in (31, N, 24, 44, 25, 119)),  # i n q j w Delete
    *([ALT[0], key] for key in (40, 41, 26, 70, 110, 113, 114, 65)),  # d f e F4 Home Left Right space
    *([key] for key in FUNCTION if key != 78),
    *([key] for key in (SUPER, MENU, 107, 180, 225, 163, 166, 167, 181, 152, 158, 164, 148)),
    [SHIFT[0], 76],
    [SHIFT[0], 9],
]


@contextmanager
def listened() -> Iterator[tuple[int, list[str]]]:
    said: list[str] = []
    app = Flask("t")
    app.add_url_rule("/", view_func=lambda: PAGE, endpoint="page")
    app.add_url_rule(
        "/own.js", view_func=lambda: Response(SCRIPT, mimetype="text/javascript"), endpoint="own"
    )

    @app.post("/said")
    def told() -> str:
        said.append(request.get_data(as_text=True))
        return ""

    with listening(app) as port:
        yield port, said


def forget_modifiers(display: Display) -> None:
    """Let X have no modifier but Shift: nested in X, the compositor would go by X's instead of its own keys."""

    class Map(ctypes.Structure):
        _fields_ = (("each", ctypes.c_int), ("keys", ctypes.POINTER(ctypes.c_ubyte)))

    x11: Any = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    opened = ctypes.c_void_p(x11.XOpenDisplay(display.name.encode()))
    keys = (ctypes.c_ubyte * 16)(*SHIFT)
    assert x11.XSetModifierMapping(opened, ctypes.byref(Map(2, keys))) == 0
    x11.XCloseDisplay(opened)


def written(display: Display, said: list[str], key: int, letter: str) -> bool:
    """Press a key; say whether the page has been written to by it."""
    display.press(key)
    return any(one.startswith("text ") and one.endswith(letter) for one in said)


@pytest.mark.slow
@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_no_shortcut_of_the_browser_is_left_on_a_keyboard_that_is_plugged_in(tmp_path: Path) -> None:
    with Display(tmp_path) as display, listened() as (port, said):
        forget_modifiers(display)
        with supervised(display, f"http://127.0.0.1:{port}/") as kiosk:
            until(lambda: "focus true" in said)
            display.click(200, 200)
            until(lambda: written(display, said, A, "a"))
            for keys in KEYS:
                display.press(*keys)
            del said[:]
            display.click(200, 200)
            until(lambda: written(display, said, N, "n"))
            until(lambda: said.count("focus true") > 3)
            assert "focus false" not in said
            assert kiosk.starts == 1
            assert [one for one in said if one.startswith("key held")] == []
