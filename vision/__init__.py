"""From the camera's picture to the cards that lie in it: codes and places, no rules and no seats."""

import os

# From 1.29 on ONNX Runtime tells its maker of every session, and keeps an identifier of the machine, unless it is told
# not to before it is loaded. This package alone loads it, and a box tells nobody anything.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
