"""Trains the card reader's network: `python -m models.training train`. It may be stopped at any time and started again.

Separate processes make the scenes from the seed. A scene that is shown again is turned by 90°, 180° or 270°. The
checkpoint holds all that is needed to go on.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import queue
import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from torch.nn import functional

from models.training.export import export
from models.training.loss import loss, targets
from models.training.net import IndexNet
from models.training.photographs import BOXED, TRAINED_ON, has
from models.training.pseudo import label_photographs
from models.training.samples import SIZE_PX, Sample, real_crops, turn
from models.training.scene import SceneMaker

BATCH = 32
REAL_CROPS = 6  # of each batch, once pseudo-labelled crops exist
PEAK_RATE, WEIGHT_DECAY = 3e-3, 2e-3
PAUSES = (0.25, 0.5, 0.75)  # shares of the training after which the photographs are labelled again
_BUFFER = 600  # batches kept to be shown again


@dataclass(frozen=True)
class Job:
    """What to train: how many crops in all, from which photographs, into which folder.

    The learning rate falls until `crops`; `until` stops earlier, so that the training can go on later. `makers`: how
    many processes make scenes; one core is left for the training itself.
    """

    folder: Path
    data: Path | None
    crops: int
    seed: int
    makers: int = max(1, (os.cpu_count() or 2) - 1)
    until: int | None = None


def _make(samples: multiprocessing.Queue[list[Sample]], seed: int, data: Path | None) -> None:
    """Make batches of scenes until training ends; most scenes without a clear index, and some with one, are skipped."""
    cv2.setNumThreads(1)
    os.nice(2)
    samples.cancel_join_thread()  # do not wait at the end until the queue is read
    maker = SceneMaker(seed, data)
    parent = os.getppid()
    while os.getppid() == parent:  # ends when the trainer was killed
        batch: list[Sample] = []
        while len(batch) < BATCH:
            picture, corners = maker.scene(SIZE_PX)
            clear = int((corners[:, 7] > 0).sum()) if len(corners) else 0
            if (clear == 0 and maker.rng.random() < 0.85) or (clear == 1 and maker.rng.random() < 0.35):
                continue
            batch.append((picture, corners))
        with contextlib.suppress(queue.Full):  # check now and then whether training was stopped
            samples.put(batch, timeout=60)


def tensor(samples: list[Sample]) -> torch.Tensor:
    """Stack pictures into the network's input."""
    stack = np.stack([picture for picture, _ in samples])
    return torch.from_numpy(stack).permute(0, 3, 1, 2).float().div_(255)


def begin_on_one_core(seed: int) -> None:
    """Seed torch, and keep it and OpenCV on one core. The same seed then trains the same network."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    cv2.setNumThreads(1)


def make_optimiser(net: torch.nn.Module) -> torch.optim.AdamW:
    """Return the optimiser that trains a network."""
    return torch.optim.AdamW(net.parameters(), lr=PEAK_RATE, weight_decay=WEIGHT_DECAY)


def set_rate(optimiser: torch.optim.Optimizer, share: float, warm: float) -> None:
    """Set the learning rate: it rises while `warm` goes to 1, and falls as half a cosine while `share` goes to 1."""
    for group in optimiser.param_groups:
        group["lr"] = PEAK_RATE * min(1.0, warm) * (0.5 + 0.5 * math.cos(math.pi * min(1.0, share))) + 1e-5


def train_on_cuts(
    net: torch.nn.Module,
    batches: Iterable[tuple[NDArray[np.uint8], NDArray[np.int64]]],
    steps: float,
    parts: Sequence[slice],
) -> None:
    """Train a network that gives log-probabilities for cuts. `steps`: how many batches there are.

    A batch is its cuts and their classes, a column for each of the `parts` of the network's output.
    """
    optimiser, console, shares = make_optimiser(net.train()), Console(stderr=True), np.full(len(parts), 0.5)
    for step, (cuts, classes) in enumerate(batches):
        set_rate(optimiser, step / steps, step / 100)
        output, truth = net(torch.from_numpy(cuts)), torch.from_numpy(classes)
        pairs = [(output[:, part], truth[:, k]) for k, part in enumerate(parts)]
        error = sum(functional.nll_loss(*pair) for pair in pairs)
        optimiser.zero_grad(set_to_none=True)
        error.backward()
        optimiser.step()
        right = [float((found.argmax(1) == true).float().mean()) for found, true in pairs]
        shares = 0.98 * shares + 0.02 * np.array(right)
        if step % 50 == 0:
            console.print(f"{step:,} of {steps:,.0f} steps: loss {error.item():.3f}, right {shares.round(3)}")


class Trainer:
    """The network, its running average, the optimiser, and how many crops they have seen."""

    def __init__(self, job: Job) -> None:
        torch.manual_seed(job.seed)
        self.job = job
        self.done = 0
        self.photographs = [name for name in TRAINED_ON if has(job.data, name)]
        self.net = IndexNet().to(memory_format=torch.channels_last)
        self.average = IndexNet().eval()
        self.average.load_state_dict(self.net.state_dict())
        self.optimiser = make_optimiser(self.net)
        self._parts = {"net": self.net, "average": self.average, "optimiser": self.optimiser}
        if self.checkpoint.exists():
            state: dict[str, Any] = torch.load(self.checkpoint, weights_only=True)
            for name, part in self._parts.items():
                part.load_state_dict(state[name])
            self.done = state["done"]

    @property
    def checkpoint(self) -> Path:
        """The checkpoint's path."""
        return self.job.folder / "checkpoint.pt"

    def save(self) -> None:
        """Replace the checkpoint in one step, so that there is always a complete one."""
        state: dict[str, Any] = {name: part.state_dict() for name, part in self._parts.items()}
        new = self.checkpoint.with_suffix(".new")
        torch.save(state | {"done": self.done, "photographs": self.photographs}, new)
        new.replace(self.checkpoint)

    def step(self, samples: list[Sample], seen_before: bool) -> dict[str, float]:
        """Learn from one batch; return the parts of the loss."""
        set_rate(self.optimiser, self.done / self.job.crops, self.done / BATCH / 300)
        x = tensor(samples)
        if seen_before:
            n = len(samples)
            x = (x * (0.9 + 0.2 * torch.rand(n, 3, 1, 1)) + 0.06 * torch.randn(n, 1, 1, 1)).clamp_(0, 1)
        self.net.train()
        output = self.net(x.contiguous(memory_format=torch.channels_last))
        error, parts = loss(output, targets([c for _, c in samples], SIZE_PX))
        self.optimiser.zero_grad(set_to_none=True)
        error.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.optimiser.step()
        self.done += len(samples)
        steps = self.done / BATCH
        decay = min(0.998, (steps + 1) / (steps + 10))
        now = self.net.state_dict()
        for name, mean in self.average.state_dict().items():
            mean.copy_(torch.lerp(mean, now[name], 1 - decay) if mean.is_floating_point() else now[name])
        return parts


def train_until(job: Job) -> Path:
    """Train until `job.crops` crops (or `job.until`) have been shown; return the checkpoint."""
    job.folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    trainer = Trainer(job)
    rng = random.Random(job.seed + trainer.done)
    context = multiprocessing.get_context("spawn")
    samples: multiprocessing.Queue[list[Sample]] = context.Queue(8)
    seeds = (job.seed + 1000 * trainer.done + k for k in range(job.makers))
    makers = [context.Process(target=_make, args=(samples, seed, job.data), daemon=True) for seed in seeds]
    for maker in makers:
        maker.start()
    real = real_crops(job.folder)
    buffer: list[list[Sample]] = []
    smooth: dict[str, float] = {}
    saved = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        with Progress(*columns) as progress, (job.folder / "log.txt").open("a") as log:
            task = progress.add_task("crops", total=job.crops, completed=trainer.done)
            while trainer.done < (job.crops if job.until is None else job.until):
                try:
                    batch = samples.get(timeout=600 if len(buffer) < 8 else 0.004)
                    buffer = [*buffer[-_BUFFER:], batch]
                    seen_before = False
                except queue.Empty:
                    batch = [turn(s, rng.randint(1, 3)) for s in rng.choice(buffer)]
                    seen_before = True
                if real:
                    chosen = [turn(s, rng.randint(0, 3)) for s in rng.sample(real, REAL_CROPS)]
                    batch = batch[: BATCH - REAL_CROPS] + chosen
                parts = trainer.step(batch, seen_before)
                smooth = {k: 0.98 * smooth.get(k, v) + 0.02 * v for k, v in parts.items()}
                progress.update(task, completed=trainer.done)
                if time.monotonic() - saved > 60:
                    trainer.save()
                    log.write(f"{trainer.done} " + " ".join(f"{k} {v:.4f}" for k, v in smooth.items()) + "\n")
                    saved = time.monotonic()
        trainer.save()
    finally:
        for maker in makers:
            maker.kill()
    return trainer.checkpoint


def train(data: Path | None, crops: int, seed: int, run: Path) -> Path:
    """Train, and label the real photographs again at each of the pauses; return the checkpoint."""
    job = Job(run, data, crops, seed)
    if data and has(data, BOXED):
        for share in PAUSES:
            until = int(share * job.crops)
            # a run that went on after this pause is at least a batch beyond it
            if Trainer(job).done < until + BATCH:
                train_until(replace(job, until=until))
                label_photographs(data, export(run, run), run)
    return train_until(job)
