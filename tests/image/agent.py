"""Runs inside a card that QEMU has booted: carries out what the test asks over a line of its own. Only Debian's Python.

A request and its answer are a line of JSON each: {"run": [...]}, {"put": path, "base64": text}, or {"python": program,
"arguments": [...]}, which is run within the agent: what it imports is there the next time. {"follow": [...]} starts a
program in the background, and each line that it prints is sent on as {"line": text} whenever it comes.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import subprocess
import sys
import threading
from typing import Any

_sending = threading.Lock()


def main(port: str) -> None:
    """Answer until the machine ends."""
    line = os.open(port, os.O_RDWR)
    said = b""
    send(line, {"up": True})
    while True:
        said += os.read(line, 65536)
        *requests, said = said.split(b"\n")
        for request in requests:
            answer(line, json.loads(request))


def answer(line: int, asked: dict[str, Any]) -> None:
    """Carry out one request."""
    if "put" in asked:
        path = str(asked["put"])
        with open(path + ".new", "wb") as file:  # noqa: PTH123
            file.write(base64.b64decode(str(asked["base64"])))
        os.replace(path + ".new", path)  # noqa: PTH105
        send(line, {"rc": 0, "out": "", "err": ""})
    elif "python" in asked:
        said = io.StringIO()
        sys.argv = ["-c", *asked["arguments"]]
        with contextlib.redirect_stdout(said):
            exec(asked["python"], {})
        send(line, {"rc": 0, "out": said.getvalue(), "err": ""})
    elif "follow" in asked:
        threading.Thread(target=follow, args=(line, asked["follow"]), daemon=True).start()
        send(line, {"rc": 0, "out": "", "err": ""})
    else:
        done = subprocess.run(
            asked["run"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        send(line, {"rc": done.returncode, "out": done.stdout, "err": done.stderr})


def follow(line: int, command: list[str]) -> None:
    """Send on what a program prints."""
    begun = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert begun.stdout is not None
    for text in begun.stdout:
        send(line, {"line": text.rstrip("\n")})
    send(line, {"line": f"ended {begun.wait()}"})


def send(line: int, what: object) -> None:
    """Write a line whole."""
    left = json.dumps(what).encode() + b"\n"
    with _sending:
        while left:
            left = left[os.write(line, left) :]


if __name__ == "__main__":
    main(sys.argv[1])
