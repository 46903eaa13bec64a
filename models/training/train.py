"""Trains the card reader's network: `python -m models.training train`; stop it at any time and start it again.

Scenes are made by processes of their own, the same ones for the same seed; a scene seen before is turned by a
quarter, a half or three quarters before it is shown again. The checkpoint holds everything to go on from.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import queue
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import cv2
import numpy as np
import torch
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from models.training.loss import loss, targets
from models.training.net import IndexNet
from models.training.options import training
from models.training.samples import SIZE_PX, Sample, real_crops, trained_on, turned
from models.training.scene import SceneMaker

BATCH = 32
REAL_CROPS = 6  # of each batch, once pseudo-labelled crops exist
PEAK_RATE, WEIGHT_DECAY = 3e-3, 2e-3
_BUFFER = 600  # batches kept to be shown again


@dataclass(frozen=True)
class Job:
    """What to train: how many crops in all, from which photographs, into which folder.

    The learning rate falls towards `crops`; `until`, where given, stops earlier, to go on later. With `tune_rate` a
    network that is trained already goes on from where it stands: the rate begins there, at that value.
    """

    folder: Path
    data: Path | None
    crops: int
    seed: int
    makers: int
    until: int | None = None
    tune_rate: float | None = None


def _make(samples: multiprocessing.Queue[list[Sample]], seed: int, data: Path | None) -> None:
    """Make batches of scenes until training ends; scenes without a clear index are mostly passed over."""
    cv2.setNumThreads(1)
    os.nice(2)
    maker = SceneMaker(seed, data)
    parent = os.getppid()
    while os.getppid() == parent:  # a trainer that was killed leaves nobody at work
        batch: list[Sample] = []
        while len(batch) < BATCH:
            picture, corners = maker.scene(SIZE_PX)
            clear = int((corners[:, 7] > 0).sum()) if len(corners) else 0
            if (clear == 0 and maker.rng.random() < 0.85) or (clear == 1 and maker.rng.random() < 0.35):
                continue
            batch.append((picture, corners))
        with contextlib.suppress(queue.Full):  # look now and then whether training was stopped
            samples.put(batch, timeout=60)


def tensor(samples: list[Sample]) -> torch.Tensor:
    """Stack pictures into the network's input."""
    stack = np.stack([picture for picture, _ in samples])
    return torch.from_numpy(stack).permute(0, 3, 1, 2).float().div_(255)


class Trainer:
    """The net, its running average, the optimiser and how far they have come."""

    def __init__(self, job: Job) -> None:
        torch.manual_seed(job.seed)
        self.job = job
        self.done = self.tuned_from = 0
        self.photographs = trained_on(job.data)
        self.net = IndexNet().to(memory_format=torch.channels_last)
        self.average = IndexNet().eval()
        self.average.load_state_dict(self.net.state_dict())
        self.optimiser = torch.optim.AdamW(self.net.parameters(), lr=PEAK_RATE, weight_decay=WEIGHT_DECAY)
        if self.checkpoint.exists():
            state: dict[str, Any] = torch.load(self.checkpoint, weights_only=True)
            self.net.load_state_dict(state["net"])
            self.average.load_state_dict(state["average"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.done = state["done"]
            if job.tune_rate:
                self.tuned_from = state.get("tuned_from") or self.done

    @property
    def checkpoint(self) -> Path:
        """Return where the checkpoint lies."""
        return self.job.folder / "checkpoint.pt"

    def save(self) -> None:
        """Write the checkpoint so that a stop at any moment leaves a whole one."""
        state = {
            "net": self.net.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "done": self.done,
            "tuned_from": self.tuned_from,
            "photographs": self.photographs,
        }
        torch.save(state, self.checkpoint.with_suffix(".new"))
        self.checkpoint.with_suffix(".new").replace(self.checkpoint)

    def step(self, samples: list[Sample], seen_before: bool) -> dict[str, float]:
        """Learn from one batch; return the parts of the loss."""
        since, whole = self.done - self.tuned_from, self.job.crops - self.tuned_from
        warm, share = min(1.0, since / BATCH / (100 if self.tuned_from else 300)), min(1.0, since / whole)
        for group in self.optimiser.param_groups:
            group["lr"] = (self.job.tune_rate or PEAK_RATE) * warm * (
                0.5 + 0.5 * math.cos(math.pi * share)
            ) + 1e-5
        x = tensor(samples)
        if seen_before:
            n = len(samples)
            x = (x * (0.9 + 0.2 * torch.rand(n, 3, 1, 1)) + 0.06 * torch.randn(n, 1, 1, 1)).clamp_(0, 1)
        self.net.train()
        error, parts = loss(
            self.net(x.contiguous(memory_format=torch.channels_last)),
            targets([c for _, c in samples], SIZE_PX),
        )
        self.optimiser.zero_grad(set_to_none=True)
        error.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.optimiser.step()
        self.done += len(samples)
        steps = self.done / BATCH
        keep = min(0.998, (steps + 1) / (steps + 10))
        with torch.no_grad():
            for mean, now in zip(
                self.average.state_dict().values(), self.net.state_dict().values(), strict=True
            ):
                if mean.dtype.is_floating_point:
                    mean.lerp_(now, 1 - keep)
                else:
                    mean.copy_(now)
        return parts


def run(job: Job) -> Path:
    """Train until `job.crops` crops (or `job.until`) have been shown; return the checkpoint."""
    job.folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    trainer = Trainer(job)
    rng = random.Random(job.seed + trainer.done)
    context = multiprocessing.get_context("spawn")
    samples: multiprocessing.Queue[list[Sample]] = context.Queue(8)
    makers = [
        context.Process(
            target=_make, args=(samples, job.seed + 1000 * trainer.done + k, job.data), daemon=True
        )
        for k in range(job.makers)
    ]
    for maker in makers:
        maker.start()
    real = real_crops(job.folder)
    buffer: list[list[Sample]] = []
    smooth: dict[str, float] = {}
    saved = logged = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        with Progress(*columns) as progress, (job.folder / "log.txt").open("a") as log:
            task = progress.add_task("crops", total=job.crops, completed=trainer.done)
            while trainer.done < (job.crops if job.until is None else job.until):
                try:
                    batch = samples.get(timeout=600 if len(buffer) < 8 else 0.004)
                    buffer = [*buffer[-_BUFFER:], batch]
                    fresh = True
                except queue.Empty:
                    batch = [turned(s, rng.randint(1, 3)) for s in rng.choice(buffer)]
                    fresh = False
                if real:
                    chosen = [turned(s, rng.randint(0, 3)) for s in rng.sample(real, REAL_CROPS)]
                    batch = batch[: BATCH - REAL_CROPS] + chosen
                parts = trainer.step(batch, seen_before=not fresh)
                smooth = {k: 0.98 * smooth.get(k, v) + 0.02 * v for k, v in parts.items()}
                progress.update(task, completed=trainer.done)
                now = time.monotonic()
                if now - logged > 30:
                    log.write(f"{trainer.done} " + " ".join(f"{k} {v:.4f}" for k, v in smooth.items()) + "\n")
                    log.flush()
                    logged = now
                if now - saved > 60:
                    trainer.save()
                    saved = now
                    real = real_crops(job.folder)  # better ones may have come
        trainer.save()
    finally:
        for maker in makers:
            maker.kill()
    return trainer.checkpoint


@click.command()
@training
@click.option(
    "--tune-rate",
    type=float,
    help="Go on with a network that is trained already, from this learning rate down.",
)
def command(
    data: Path | None, crops: int, seed: int, makers: int, folder: Path, tune_rate: float | None
) -> None:
    """Train the card reader's network."""
    click.echo(run(Job(folder, data, crops, seed, makers, tune_rate=tune_rate)))
