"""What main.py on the board does; the antennas' chip is named by the test. Runs under MicroPython."""

import sys

from puck_reader import config

config.CHIP = sys.argv[1]
from puck_reader.main import run  # noqa: E402

run()
