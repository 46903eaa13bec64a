"""Runs a `feltwatch` command that ends with whoever started it: `python -m firmware.app.tethered ui ...`.

The starter holds the other end of its standard input. However the starter ends, that end closes.
"""

from __future__ import annotations

import os
import sys
import threading

from firmware.app.main import main


def _end_with_starter() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=_end_with_starter, daemon=True).start()
    main(prog_name="feltwatch")
