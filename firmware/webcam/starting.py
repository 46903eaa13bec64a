"""What the page's port answers before the page itself is there: that it starts. Imports next to nothing."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from gettext import GNUTranslations
from html import escape
from pathlib import Path
from typing import Final

import dealer_ui
from firmware.messages import Message
from firmware.threads import start_thread

STARTS: Final = Message("The table is starting. This page goes on by itself.")
AGAIN_S: Final = 1
"""Seconds after which a browser asks again."""
LOOKS_S: Final = 0.1
READS_S: Final = 1.0
PAGE: Final = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Feltwatch</title>
<style>html {{ background: #0a100e; color: #f4f7f2; font: 1.4rem/1.5 sans-serif }}
body {{ display: grid; place-content: center; min-height: 90vh; margin: 0; padding: 1rem; text-align: center }}</style>
<main role="status"><h1>Feltwatch</h1>
{sentences}
</main></html>
"""


@contextmanager
def starting(listening: socket.socket) -> Iterator[None]:
    """Answer whoever asks on this port that the page starts, until the block ends. Nobody is refused in between."""
    over = threading.Event()
    thread = start_thread(_answer, listening, over, name="starting")
    try:
        yield
    finally:
        over.set()
        thread.join()
        listening.settimeout(None)


def _answer(listening: socket.socket, over: threading.Event) -> None:
    body = PAGE.format(sentences="\n".join(_sentences())).encode()
    head = (
        f"HTTP/1.0 503 Starting\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        f"Refresh: {AGAIN_S}\r\nRetry-After: {AGAIN_S}\r\nCache-Control: no-store\r\n\r\n"
    )
    listening.settimeout(LOOKS_S)
    while not over.is_set():
        with suppress(OSError):  # nobody asks, or whoever asked has gone
            line, _address = listening.accept()
            with line:
                line.settimeout(READS_S)
                line.recv(1 << 16)
                line.sendall(head.encode() + body)


def _sentences() -> Iterator[str]:
    """Say it in each language: whose browser asks is not known yet, nor the table's own language."""
    yield f"<p>{escape(str(STARTS))}</p>"
    for path in sorted((Path(dealer_ui.__file__).parent / "translations").glob("*/LC_MESSAGES/messages.mo")):
        with path.open("rb") as catalogue:
            words = GNUTranslations(catalogue).gettext(STARTS.message)
        yield f'<p lang="{path.parents[1].name.replace("_", "-")}">{escape(words)}</p>'
