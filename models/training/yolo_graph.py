"""Writes an ONNX graph of YOLO11n at 1280 px, to be timed next to our network: `make yolo`.

Random weights: only its size and its time count. It runs in an environment of its own, since ultralytics brings
another OpenCV; nothing of ours is imported here. The graph is never committed (AGPL-3.0).
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

SIDE_PX = 1280


def main(out: Path) -> None:
    """Write the graph: one float32 input 1 × 3 × 1280 × 1280."""
    os.environ["YOLO_AUTOINSTALL"] = "false"  # it would install what it thinks is missing
    with tempfile.TemporaryDirectory() as settings:
        os.environ["YOLO_CONFIG_DIR"] = settings
        import torch
        from ultralytics.nn.tasks import DetectionModel

        net = DetectionModel("yolo11n.yaml", verbose=False).eval().fuse(verbose=False)
        for layer in net.modules():
            if hasattr(layer, "export"):
                layer.export, layer.format = True, "onnx"
        out.parent.mkdir(parents=True, exist_ok=True)
        torch.onnx.export(
            net,
            (torch.zeros(1, 3, SIDE_PX, SIDE_PX),),
            str(out),
            input_names=["images"],
            output_names=["found"],
            opset_version=17,
            dynamo=False,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else f"yolo11n-{SIDE_PX}.onnx"))
