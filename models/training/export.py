"""Writes the trained network as ONNX with its manifest: `python -m models.training.export`."""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path

import click
import torch
from torch import Tensor, nn

from models.training.net import CHANNELS, STRIDE, IndexNet, parameters
from models.training.samples import PACKAGE, RUN
from vision.reading.cards import RANKS, SUITS

OPSET = 17


class Packaged(nn.Module):
    """The network with its input as a camera gives it: uint8 (1, h, w, 3), BGR.

    Next to its map it gives what its last layer looks at, from which a deck's enrolment refits that layer.
    """

    def __init__(self, net: IndexNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, picture: Tensor) -> tuple[Tensor, Tensor]:
        """Return the network's map and its features."""
        features = self.net.features(picture.permute(0, 3, 1, 2).float() / 255)
        return self.net.head(features), features


def export(checkpoint: Path, folder: Path) -> Path:
    """Write `reader.onnx` and `reader.json` into a folder; return the model's path."""
    state = torch.load(checkpoint, weights_only=True)
    net = IndexNet()
    net.load_state_dict(state["average"])
    net.eval()
    path = folder / "reader.onnx"
    with warnings.catch_warnings():
        # The exporter that torch now prefers needs another package and writes a graph that runs no better.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            Packaged(net).eval(),
            (torch.zeros(1, 320, 640, 3, dtype=torch.uint8),),
            str(path),
            input_names=["picture"],
            output_names=["cells", "features"],
            dynamic_axes={
                "picture": {1: "h", 2: "w"},
                "cells": {2: "h8", 3: "w8"},
                "features": {2: "h8", 3: "w8"},
            },
            opset_version=OPSET,
            dynamo=False,
        )
    manifest = {
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "input": "picture: uint8 (1, h, w, 3), BGR, h and w multiples of 16",
        "output": f"cells: float32 (1, {CHANNELS}, h/{STRIDE}, w/{STRIDE}); channels in models/training/net.py",
        "features": f"float32 (1, {net.head.in_channels}, h/{STRIDE}, w/{STRIDE}): the input of the last layer",
        "classes": {"rank": list(RANKS), "suit": list(SUITS)},
        "parameters": parameters(net),
        "trained": {
            "command": "python -m models.training.train --data DATA",
            "crops": state["done"],
            "torch": torch.__version__,
            "photographs": state["photographs"],
        },
    }
    path.with_suffix(".json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return path


@click.command()
@click.option(
    "--run",
    "folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=RUN,
    help="Folder of the checkpoint.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=PACKAGE,
    help="Folder of the exported model; by default the packaged one is replaced.",
)
def command(folder: Path, out: Path) -> None:
    """Export the checkpoint of a run to ONNX."""
    if not (folder / "checkpoint.pt").exists():
        raise click.UsageError(f"{folder} holds no checkpoint; train first.")
    click.echo(export(folder / "checkpoint.pt", out))


if __name__ == "__main__":
    command()
