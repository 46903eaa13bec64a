"""Compares our network's time with that of another detector: same machine, same threads, alternating."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vision.base.arrays import Image
from vision.base.errors import ModelError
from vision.felt.layout import TableLayout
from vision.reading.network import CardReader
from vision.reading.pips import load_network
from vision.reading.table_reading import read

_ROUNDS = 7


@dataclass(frozen=True)
class Compared:
    """Median milliseconds of our network over all zones of a table and of one pass of the other network."""

    ours_ms: float
    peer_ms: float
    peer: str

    @property
    def share(self) -> float:
        """Our time as a share of the other's."""
        return self.ours_ms / self.peer_ms


def compare(reader: CardReader, graph: Path, frame: Image, layout: TableLayout, *, threads: int) -> Compared:
    """Time both networks alternately, so that a busy machine slows both alike; ours over all zones of a frame.

    `graph` is an ONNX file with one float32 input 1 × 3 × h × w; it is given noise, as only its time counts.

    Raises:
        ModelError: it cannot be loaded or has another input.
        MarkersError: the frame does not show the felt.
    """
    try:
        session = load_network(graph, threads)
    except Exception as error:  # onnxruntime has no root error of its own
        raise ModelError(f"The network {graph} cannot be loaded: {error}") from error
    fed = session.get_inputs()[0]
    if len(fed.shape) != 4 or not all(isinstance(n, int) for n in fed.shape) or fed.type != "tensor(float)":
        raise ModelError(
            f"{graph} must take one picture of a fixed size as float32, not {fed.type} {fed.shape}"
        )
    noise = np.random.default_rng(0).random(fed.shape, np.float32)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(_ROUNDS + 1):
        ours.append(read(frame, layout, reader).ms["network"])
        began = time.perf_counter()
        session.run(None, {fed.name: noise})
        theirs.append(1000 * (time.perf_counter() - began))
    name = f"{graph.stem}, {fed.shape[3]} × {fed.shape[2]}"
    # the first round includes lazy loading
    return Compared(statistics.median(ours[1:]), statistics.median(theirs[1:]), name)
