"""Makes an int8 model of the exported one and holds it against it: `python -m models.training quantise`.

Static, QDQ, weights per channel; ranges are taken from drawn scenes. The first and the last layer stay float32: the
camera's picture and the margins come out of them. Whether it is faster depends on the processor, so both are timed
in turn where this runs; nothing replaces the packaged model by itself.
"""

from __future__ import annotations

import hashlib
import json
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import numpy as np
import onnx
from onnxruntime.quantization import (
    CalibrationDataReader,
    CalibrationMethod,
    QuantFormat,
    QuantType,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process
from rich.console import Console
from rich.table import Table

from models.training.judge import Outcome, Tables, describe_machine, on_all_cores, read_tables, total
from models.training.measure import rendered_table
from models.training.samples import RUN, write_manifest
from models.training.scene import SceneMaker
from models.training.unseen import FOLDER, JUDGING, need_decks
from vision.felt.layout import TableLayout
from vision.reading.network import CardReader, default_model
from vision.reading.table_reading import read
from vision.synthetic.evaluation import ordinary, wilson

_SCENE_PX = 320
_ROUNDS = 9


class Scenes(CalibrationDataReader):  # type: ignore[misc]  # onnxruntime has no types
    """Drawn scenes in the form in which the network takes pictures."""

    def __init__(self, count: int, seed: int) -> None:
        maker = SceneMaker(seed, None)
        self._left: Iterator[np.ndarray] = (maker.scene(_SCENE_PX)[0][None] for _ in range(count))

    def get_next(self) -> dict[str, np.ndarray] | None:
        """Return the next picture, None after the last."""
        picture = next(self._left, None)
        return None if picture is None else {"picture": picture}


def quantise(model: Path, out: Path, pictures: int = 128, seed: int = 11) -> Path:
    """Write the int8 model and its manifest, which keeps the float32 model's calibration; return its path."""
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        quant_pre_process(str(model), str(prepared), skip_symbolic_shape=True)
        convolutions = [node.name for node in onnx.load(prepared).graph.node if node.op_type == "Conv"]
        quantize_static(
            str(prepared),
            str(out),
            Scenes(pictures, seed),
            quant_format=QuantFormat.QDQ,
            nodes_to_exclude=[convolutions[0], convolutions[-1]],
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            calibrate_method=CalibrationMethod.MinMax,
        )
    manifest = json.loads(model.with_suffix(".json").read_text())
    manifest["quantised"] = {"from": hashlib.sha256(model.read_bytes()).hexdigest(), "pictures": pictures}
    write_manifest(out, manifest)
    return out


def times(models: Sequence[Path], threads: int) -> list[float]:
    """Return each model's median milliseconds over the zones of one table, timed in turn."""
    layout = TableLayout.load()
    frame = rendered_table(layout)
    readers = [CardReader(model, threads) for model in models]
    taken: list[list[float]] = [[] for _ in models]
    for _ in range(_ROUNDS + 1):
        for reader, ms in zip(readers, taken, strict=True):
            ms.append(read(frame, layout, reader).ms["network"])
    return [statistics.median(ms[1:]) for ms in taken]  # the first pays for what is loaded lazily


def judge(model: Path, tables: int, seed: int) -> Outcome:
    """Read tables of the judging decks under the ordinary conditions."""
    tasks = [
        Tables(model, FOLDER / name, c, tables, seed, pips=False) for name in JUDGING for c in ordinary()
    ]
    return total(plain for plain, _ in on_all_cores(read_tables, tasks, model.name))


@click.command()
@click.option(
    "--model",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="ONNX model to start from; without it the packaged one.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=RUN / "reader-int8.onnx",
    help="Where to write the int8 model; by default into the run's folder.",
)
@click.option("--pictures", default=128, show_default=True, help="Drawn scenes to take ranges from.")
@click.option("--tables", default=1, show_default=True, help="Tables per deck and condition to compare on.")
@click.option("--seed", default=0, show_default=True)
def command(model: Path | None, out: Path, pictures: int, tables: int, seed: int) -> None:
    """Make an int8 model and compare it with the float32 one, here."""
    need_decks(JUDGING)
    model = model or default_model()
    out.parent.mkdir(parents=True, exist_ok=True)
    pair = (model, quantise(model, out, pictures))
    outcomes = [judge(path, tables, seed) for path in pair]
    two, one = times(pair, 2), times(pair, 1)
    table = Table(
        "model", "bytes", "named rightly", "sure and right", "surely wrong", "whole", "2 thr", "1 thr"
    )
    for k, (path, found) in enumerate(zip(pair, outcomes, strict=True)):
        s = found.score
        low, high = wilson(s.right, s.cards)
        table.add_row(
            path.stem,
            f"{path.stat().st_size:,}",
            f"{s.right / s.cards:.2%} ({low:.1%}-{high:.1%})",
            f"{s.sure / s.cards:.2%}",
            f"{s.wrong} of {s.cards:,}",
            f"{s.whole}/{s.tables}",
            f"{two[k]:.0f} ms",
            f"{one[k]:.0f} ms",
        )
    console = Console()
    console.print(table)
    console.print(f"Network over 12 zones, in turn, on {describe_machine()}. On ARM: UNTESTED.")
