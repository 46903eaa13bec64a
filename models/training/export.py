"""Writes the trained network as ONNX with its manifest: `python -m models.training export`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from models.training.net import CHANNELS, STRIDE, IndexNet, parameters
from models.training.samples import TrainingError, write_manifest
from vision.reading.cards import RANKS, SUITS


class CameraInput(nn.Module):
    """The network with its input as a camera gives it: uint8 (1, h, w, 3), BGR.

    Besides its map it returns the input of its last layer: enrolling a deck refits that layer from it.
    """

    def __init__(self, net: IndexNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, picture: Tensor) -> tuple[Tensor, Tensor]:
        """Return the network's map and its features."""
        features = self.net.features(picture.permute(0, 3, 1, 2).float() / 255)
        return self.net.head(features), features


def export(run: Path, out: Path) -> Path:
    """Write a run's network as `reader.onnx` and `reader.json` into a folder; return the model's path.

    Raises:
        TrainingError: there is no checkpoint.
    """
    checkpoint = run / "checkpoint.pt"
    if not checkpoint.exists():
        raise TrainingError(f"{run} holds no checkpoint; train first.")
    state = torch.load(checkpoint, weights_only=True)
    net = IndexNet()
    net.load_state_dict(state["average"])
    net.eval()
    out.mkdir(parents=True, exist_ok=True)
    path = out / "reader.onnx"
    map_axes = {2: "h8", 3: "w8"}
    axes = {"picture": {1: "h", 2: "w"}, "cells": map_axes, "features": map_axes}
    manifest = {
        "input": "picture: uint8 (1, h, w, 3), BGR, h and w multiples of 16",
        "output": f"cells: float32 (1, {CHANNELS}, h/{STRIDE}, w/{STRIDE}); channels in models/training/net.py",
        "features": f"float32 (1, {net.head.in_channels}, h/{STRIDE}, w/{STRIDE}): the input of the last layer",
        "classes": {"rank": list(RANKS), "suit": list(SUITS)},
        "parameters": parameters(net),
        "trained": {
            "command": "python -m models.training train --data DATA",
            "crops": state["done"],
            "torch": torch.__version__,
            "photographs": state["photographs"],
        },
    }
    write_graph(CameraInput(net), torch.zeros(1, 320, 640, 3, dtype=torch.uint8), path, axes)
    write_manifest(path, manifest)
    return path


def write_cut_reader(
    net: nn.Module,
    path: Path,
    size: tuple[int, int],
    input_text: str,
    output_text: str,
    command: str,
    photographs: Sequence[str],
) -> Path:
    """Write a network that reads cuts, uint8 (n, *size, 3), with its manifest; return its path.

    `input_text` and `output_text` describe the input and the output, each after its name and a colon. `command` and
    `photographs` say how the network was trained.
    """
    axes = {text.partition(":")[0]: {0: "n"} for text in (input_text, output_text)}
    write_graph(net, torch.zeros(2, *size, 3, dtype=torch.uint8), path, axes)
    trained = {"command": command, "photographs": photographs}
    manifest = {"input": input_text, "output": output_text, "parameters": parameters(net), "trained": trained}
    write_manifest(path, manifest)
    return path


def write_graph(net: nn.Module, example: Tensor, path: Path, axes: Mapping[str, Mapping[int, str]]) -> None:
    """Write a network as ONNX. `axes`: the names of its input and then of its outputs, each with its dynamic axes."""
    input_name, *output_names = axes
    with warnings.catch_warnings():
        # The exporter that torch now prefers needs another package and writes a graph that runs no better.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            net.eval(),
            (example,),
            str(path),
            input_names=[input_name],
            output_names=output_names,
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
