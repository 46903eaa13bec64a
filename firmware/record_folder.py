"""The path of the record. Imports nothing of the product, as every command names it and must start at once."""

from pathlib import Path
from typing import Final

DATA: Final = Path("/var/lib/feltwatch")
"""The folder of the record on a box."""
SOCKET: Final = "table.sock"
"""The table process's socket, in the folder of the record."""
