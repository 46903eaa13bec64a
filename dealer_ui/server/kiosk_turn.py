"""A screen that hangs upside down or on its side: its picture is turned, and touches with it.

The compositor turns both. Debian 12's cage has an option for it (-r); a later cage is told by `wlr-randr`, once it
runs. Touches follow the output that udev names for them (WL_OUTPUT in systemd/70-feltwatch.rules).
"""

import logging
import subprocess
import tomllib
from pathlib import Path
from typing import Final

log = logging.getLogger("kiosk")

TURNS: Final = (0, 90, 180, 270)
"""Degrees; `[screen] turned_deg`."""
# -d: no frame around the page; -s: Ctrl-Alt-F2 still reaches a console, for a technician with a keyboard.
COMPOSITOR: Final = ("cage", "-d", "-s")
# A picture that cannot be turned is better than none.
_TURN_IT: Final = """
wlr-randr | sed -n 's/^\\([^ ]\\{1,\\}\\) .*/\\1/p' | while read -r output; do
    wlr-randr --output "$output" --transform "$0"
done
exec "$@"
"""


def turned_deg(config: Path | None) -> int:
    """Return how many degrees clockwise the screen hangs, by the house's configuration; 0 where it does not say."""
    if config is None:
        return 0
    try:
        turned = tomllib.loads(config.read_text(encoding="utf-8")).get("screen", {}).get("turned_deg", 0)
    except (OSError, ValueError, AttributeError) as error:
        log.warning("The picture is not turned: %s cannot be read: %s.", config, error)
        return 0
    if turned not in TURNS:
        log.warning("The picture is not turned: turned_deg is one of %s.", ", ".join(map(str, TURNS)))
        return 0
    return int(turned)


def compositor(turned: int) -> tuple[str, ...]:
    """Return the command line that goes before the browser's, for a screen turned so. Raises OSError: no compositor."""
    if not turned:
        return (*COMPOSITOR, "--")
    usage = subprocess.run([COMPOSITOR[0], "-h"], capture_output=True, text=True, check=False)
    if "\n -r" in usage.stdout + usage.stderr:
        return (*COMPOSITOR, *["-r"] * TURNS.index(turned), "--")
    return (*COMPOSITOR, "--", "sh", "-c", _TURN_IT, str(turned))
