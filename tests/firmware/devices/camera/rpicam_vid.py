#!/usr/bin/env python3
"""Stands for rpicam-vid: takes its options, writes frames and their metadata as it does. `FAKE` spoils it, as JSON.

silent: write nothing; stop_after: frames before it hangs; die_after: frames before it ends with a complaint;
half: end in the middle of that frame; behind_s: frames are that old; any other name: what the metadata says instead.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

known = "width height framerate shutter gain awbgains flicker-period codec timeout output autofocus-mode lens-position"
parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--nopreview", action="store_true")
parser.add_argument("--flush", action="store_true")
for option in [*known.split(), "metadata", "metadata-format"]:
    parser.add_argument(f"--{option}")
wanted = parser.parse_args()
fault = json.loads(os.environ.get("FAKE", "{}"))
if "told" in fault:
    Path(fault.pop("told")).write_text(json.dumps(vars(wanted)))
assert (wanted.codec, wanted.timeout, wanted.output, wanted.metadata_format) == ("yuv420", "0", "-", "txt")

silent, stop_after, die_after = (
    fault.pop("silent", 0),
    fault.pop("stop_after", -1),
    fault.pop("die_after", -1),
)
half, behind_s, settle = fault.pop("half", -1), fault.pop("behind_s", 0), fault.pop("settle", 3)
width, height = int(wanted.width), int(wanted.height)
metadata = Path(wanted.metadata).open("w")  # noqa: SIM115
number = 0
while silent:
    time.sleep(60)
while True:
    if number == stop_after:
        time.sleep(3600)
    if number == die_after:
        sys.exit("ERROR: *** Camera frontend has timed out! ***")
    taken = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - int(behind_s * 1e9)
    time.sleep(1 / float(wanted.framerate))
    luma = bytes([number % 256]) * (width * height)
    frame = luma + b"\x80" * (width * height // 2)
    if number == half:
        frame = frame[:100]
    sys.stdout.buffer.write(frame)
    sys.stdout.buffer.flush()
    if number == half:
        sys.exit(1)
    red, blue = wanted.awbgains.split(",")
    said = {
        "SensorTimestamp": taken,
        "ExposureTime": int(wanted.shutter) - 6 if number >= settle else 33000,
        "AnalogueGain": wanted.gain,
        "ColourGains": f"[ {float(red):f}, {float(blue):f} ]",
        "FocusFoM": 1234,
        "LensPosition": wanted.lens_position or 1,
    }
    for name, value in (said | fault).items():
        print(f"{name}={value}", file=metadata, flush=True)
    print(file=metadata, flush=True)
    number += 1
