"""Runs `feltwatch` as a user that is not root: python -m tests.kiosk.as_user UID COMMAND...

Everything that the kiosk's command needs is imported before: that user may not be able to read this checkout, nor the
interpreter's own folder.
"""

from __future__ import annotations

import encodings.idna
import os
import sys
from typing import Final

from dealer_ui.server import kiosk
from firmware import systemd
from firmware.cli.main import main

NEEDED: Final = (encodings.idna, kiosk, systemd)
"""What a command imports only when it runs."""

if __name__ == "__main__":
    user, *arguments = sys.argv[1:]
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(int(user))
        os.setuid(int(user))
    os.chdir("/")
    main(arguments)
