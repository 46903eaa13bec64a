"""Where the record lies. Apart from all else: every command names the folder in its help, and must start at once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

DATA: Final = Path("/var/lib/feltwatch")
"""The folder of the record on a box."""
SOCKET: Final = "table.sock"
"""The table process's socket, in the folder of the record."""
