"""What stands in the room of the machine under test: the puck reader at the far end of a pty. Run inside it, as root.

    python3 room.py NAME

NAME is what the reader is called in /dev: the symbolic link that udev makes of the real one.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from firmware.devices.puck.simulated import SimulatedPuck


def main(name: str) -> None:
    """Let the dealer's disk lie at seat 1 until SIGTERM."""
    with SimulatedPuck() as reader:
        Path(reader.port).parent.chmod(0o755)
        Path(reader.port).resolve().chmod(0o666)  # udev gives the real one to the group dialout
        Path(name).unlink(missing_ok=True)
        Path(name).symlink_to(reader.port)
        reader.move_to(1)
        signal.sigwait({signal.SIGTERM, signal.SIGINT})
        os.unlink(name)  # noqa: PTH108


if __name__ == "__main__":
    main(*sys.argv[1:])
